"""Transposing a small tile in registers: rows are loaded, shuffled by halves, stored as columns.

a0 a1        a0 b0
b0 b1   ->   a1 b1        for two rows; with 2**s rows in s rounds, each over pairs of rows
"""

from __future__ import annotations

from collections.abc import Sequence

import tvmlab.te as te
from tvmlab.ir import Stmt
from tvmlab.support import DType, OptionError
from tvmlab.te import TensorIntrin, View


def transpose_tile(
    dtype: DType | str, size: int, rows: int | None = None, *, past_caches: bool = False
) -> TensorIntrin:
    """`columns[j, i] = rows[i, j]` for rows of `size` elements, which lie at any distance.

    Parameters
    ----------
    rows
        How many there are, at most `size`; a square by default.
    past_caches
        Whether columns are stored past the caches where their addresses allow it, for a result
        that is larger than these; see `stream`.

    Raises
    ------
    OptionError
        If the size is not a power of two, or there are more rows.
    """
    if size < 2 or size & (size - 1):
        raise OptionError(
            f"a square of {size} rows cannot be transposed by halves",
            hint="the size is a power of two, for example the lanes of a vector",
        )
    count = size if rows is None else rows
    if not 1 <= count <= size:
        raise OptionError(
            f"{count} rows of {size} elements do not fit into a square",
            hint=f"take from 1 to {size} rows at once, or a larger square",
        )
    kind = DType.of(dtype)
    name = f"transpose_{kind.bits}_{count}x{size}" + ("_past_caches" if past_caches else "")
    given = te.placeholder((count, size), kind, name="rows")
    columns = te.compute((size, count), lambda j, i: given[i, j], name="columns")
    source = te.decl_buffer(given.shape, given.dtype, "rows", strides=[None, 1])
    target = te.decl_buffer(columns.shape, columns.dtype, "columns", strides=[None, 1])

    def code(ins: Sequence[View], outs: Sequence[View]) -> Stmt:
        (read,), (made,) = ins, outs
        pointers = made.access_ptr("w"), read.access_ptr("r")
        return te.call_extern("int32", name, *pointers, made.strides[0], read.strides[0])

    binds = {given: source, columns: target}
    text = _code(name, kind, size, count, past_caches=past_caches)
    return te.decl_tensor_intrin(columns, code, name, binds=binds, llvm=text)


def _code(name: str, dtype: DType, size: int, rows: int, *, past_caches: bool) -> str:
    element, align = f"i{dtype.bits}", dtype.itemsize
    vector = f"<{size} x {element}>"
    arguments = "ptr noalias %to, ptr noalias %from, i64 %apart, i64 %stride"
    lines = [f"define void @{name}({arguments}) alwaysinline {{"]
    for r in range(rows):
        lines += [
            f"  %o{r} = mul i64 %stride, {r}",
            f"  %p{r} = getelementptr inbounds {element}, ptr %from, i64 %o{r}",
            f"  %v0_{r} = load {vector}, ptr %p{r}, align {align}",
        ]
    # Lanes of rows that are not there are moved, but never stored.
    lines += [f"  %v0_{r} = freeze {vector} poison" for r in range(rows, size)]
    rounds = size.bit_length() - 1
    for step in range(rounds):
        lines += _round(step, size, vector)
    kept = f"<{rows} x {element}>"
    mask = ", ".join(f"i32 {n}" for n in range(rows))
    for r in range(size):
        lines += [
            f"  %w{r} = shufflevector {vector} %v{rounds}_{r}, {vector} poison, "
            f"<{rows} x i32> <{mask}>",
            f"  %q{r}.o = mul i64 %apart, {r}",
            f"  %q{r} = getelementptr inbounds {element}, ptr %to, i64 %q{r}.o",
        ]
    stores = [f"  store {kept} %w{r}, ptr %q{r}" for r in range(size)]
    usual = [*(f"{store}, align {align}" for store in stores), "  ret void"]
    if not past_caches:
        return "\n".join([*lines, *usual, "}"]) + "\n"
    whole = rows * align
    past = [f"{store}, align {whole}, !nontemporal !0" for store in stores]
    lines += [*_if_aligned(whole, align), "past:", *past, "  ret void", "usual:", *usual, "}"]
    return "\n".join([*lines, "!0 = !{i32 1}"]) + "\n"


def _if_aligned(whole: int, itemsize: int) -> list[str]:
    """Go to `past` if each column begins at a multiple of its size, else to `usual`."""
    return [
        "  %address = ptrtoint ptr %to to i64",
        f"  %step = mul i64 %apart, {itemsize}",
        "  %both = or i64 %address, %step",
        f"  %rest = and i64 %both, {whole - 1}",
        "  %aligned = icmp eq i64 %rest, 0",
        "  br i1 %aligned, label %past, label %usual",
    ]


def _round(step: int, size: int, vector: str) -> list[str]:
    """Rows a distance apart exchange blocks of that many elements."""
    apart = size >> (step + 1)
    lines: list[str] = []
    for r in range(size):
        first, second = r & ~apart, r | apart
        shift = apart if r & apart else 0
        order = [
            lane + shift if not lane & apart else size + lane - apart + shift
            for lane in range(size)
        ]
        mask = ", ".join(f"i32 {n}" for n in order)
        lines.append(
            f"  %v{step + 1}_{r} = shufflevector {vector} %v{step}_{first}, "
            f"{vector} %v{step}_{second}, <{size} x i32> <{mask}>"
        )
    return lines
