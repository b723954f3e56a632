"""Packing for dot instructions: rows are interleaved, so that each lane's group lies together.

b0 b1 b2 b3 ...                                       a row of k
c0 c1 c2 c3 ...      ->   b0 c0 b1 c1 b2 c2 ...       the row of k + 1
"""

from __future__ import annotations

from collections.abc import Sequence

import tvmlab.te as te
from tvmlab.ir import Stmt
from tvmlab.te import TensorIntrin, View

from .kinds import DotKind


def interleave(kind: DotKind, columns: int) -> TensorIntrin:
    """Copy rows to groups: `packed[j, q] = rows[q, j]`, for the right operand of a dot.

    The rows may lie at any distance; the groups follow each other.
    """
    name = f"interleave_{kind.right}_{kind.group}x{columns}"
    rows = te.placeholder((kind.group, columns), kind.right, name="rows")
    packed = te.compute((columns, kind.group), lambda j, q: rows[q, j], name="packed")
    bound = te.decl_buffer(rows.shape, rows.dtype, "rows", strides=[None, 1])

    def code(ins: Sequence[View], outs: Sequence[View]) -> Stmt:
        (source,), (target,) = ins, outs
        pointers = target.access_ptr("w"), source.access_ptr("r")
        return te.call_extern("int32", name, *pointers, source.strides[0])

    llvm = _code(name, kind.group, columns, 32 // kind.group)
    return te.decl_tensor_intrin(packed, code, name, binds={rows: bound}, llvm=llvm)


def _code(name: str, rows: int, columns: int, bits: int) -> str:
    one, two = f"<{columns} x i{bits}>", f"<{2 * columns} x i{bits}>"
    lines = [
        f"define void @{name}(ptr noalias %to, ptr noalias %from, i64 %stride) alwaysinline {{"
    ]
    for r in range(rows):
        lines += [
            f"  %o{r} = mul i64 %stride, {r}",
            f"  %p{r} = getelementptr inbounds i{bits}, ptr %from, i64 %o{r}",
            f"  %r{r} = load {one}, ptr %p{r}, align 1",
        ]
    if rows == 2:
        value, whole = _shuffle("all", ("%r0", "%r1"), one, columns, 2, lines), two
    else:
        first = _shuffle("even", ("%r0", "%r1"), one, columns, 1, lines)
        second = _shuffle("odd", ("%r2", "%r3"), one, columns, 1, lines)
        value = _shuffle("all", (first, second), two, columns, 4, lines)
        whole = f"<{4 * columns} x i{bits}>"
    lines += [f"  store {whole} {value}, ptr %to, align 1", "  ret void", "}"]
    return "\n".join(lines) + "\n"


def _shuffle(
    name: str, pair: tuple[str, str], type_: str, columns: int, group: int, lines: list[str]
) -> str:
    """Write a shuffle of two vectors; `group` 1 joins them end to end, others interleave rows."""
    if group == 1:
        order = list(range(2 * columns))
    else:
        order = [row * columns + column for column in range(columns) for row in range(group)]
    mask = ", ".join(f"i32 {n}" for n in order)
    lines.append(
        f"  %{name} = shufflevector {type_} {pair[0]}, {type_} {pair[1]}, "
        f"<{len(order)} x i32> <{mask}>"
    )
    return f"%{name}"
