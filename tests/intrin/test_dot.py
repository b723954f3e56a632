"""Dot intrinsics: values by meaning and by machine code, their code's inner loop, and refusals."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from numpy.typing import NDArray

from tvmlab import te, topi
from tvmlab.codegen import interpret
from tvmlab.driver import build
from tvmlab.intrin import BF16, LANES, S8S8, U8S8, DotKind, dot, dot_tile, interleave
from tvmlab.ir import Expr, Var
from tvmlab.schedule import RefusedError, Schedule
from tvmlab.support import OptionError, TypeMismatch
from tvmlab.target import Target
from tvmlab.te import Tensor

Array = NDArray[Any]
KINDS = (U8S8, S8S8, BF16)
Operands = tuple[Array, Array, Array]


def names(kind: DotKind) -> str:
    return kind.name


def require(kind: DotKind) -> None:
    if missing := kind.missing():
        pytest.skip(f"the processor lacks {', '.join(missing)}")


def product(kind: DotKind, m: int, n: int, k: int) -> Tensor:
    if kind is BF16:
        return topi.matmul_bf16(m, n, k)[2]
    return topi.matmul_int8(m, n, k, kind.left)[2]


def whole_range(kind: DotKind, m: int, n: int, k: int) -> Operands:
    """Operands over all of their types' range (integers: the ends often), and the product."""
    rng = np.random.default_rng(m * 10007 + n * 101 + k)
    if kind is BF16:
        a = rng.integers(-64, 65, (m, k)).astype(ml_dtypes.bfloat16)
        b = rng.integers(-64, 65, (k, n)).astype(ml_dtypes.bfloat16)
        return a, b, a.astype(np.float32) @ b.astype(np.float32)
    low, high = np.iinfo(kind.left).min, np.iinfo(kind.left).max
    a = rng.choice([low, low, high, high, *range(low, high)], (m, k)).astype(kind.left)
    b = rng.choice([-128, -128, 127, *range(-128, 128)], (k, n)).astype(np.int8)
    return a, b, a.astype(np.int32) @ b.astype(np.int32)


def assert_exact(sch: Schedule, operands: Operands, *, compiled: bool = True) -> None:
    a, b, want = operands
    got = np.full_like(want, 77)
    interpret(sch.program, [a, b, got])
    np.testing.assert_array_equal(got, want)
    if compiled:
        got[:] = 77
        build(sch)(a, b, got)
        np.testing.assert_array_equal(got, want)


def in_panels(columns: int, group: int) -> Callable[[Var, Var], tuple[Expr, ...]]:
    def place(p: Var, j: Var) -> tuple[Expr, ...]:
        return j // columns, p // group, j % columns, p % group

    return place


def by_tiles(kind: DotKind, m: int, n: int, k: int, depth: int) -> Schedule:
    """A product by tiles of 6 x 32, with B packed by public primitives."""
    group = kind.group
    sch = Schedule(product(kind, m, n, k))
    packed = sch.cache_read("C", "B", "global")
    sch.transform_layout("C", packed.name, in_panels(32, group))
    i, j, p = sch.loops("C")
    _, ii = sch.split(i, [None, 6])
    jo, ji = sch.split(j, [None, 32])
    po, pi = sch.split(p, [None, depth])
    sch.reorder(jo, po, sch.loops("C")[0], ii, ji, pi)
    sch.tensorize(ii, dot_tile(kind, 6, 2, depth))
    return sch


@pytest.mark.parametrize("kind", KINDS, ids=names)
@pytest.mark.parametrize("depth", [48, 24], ids=["whole sum", "in parts"])
def test_a_tile_means_and_does_the_product(kind: DotKind, depth: int) -> None:
    sch = by_tiles(kind, 12, 64, 48, depth)
    part = "body" if depth == 48 else "update"
    assert f"symbol:{kind.name}_6x32x{depth}_{part}" in str(sch)
    assert_exact(sch, whole_range(kind, 12, 64, 48), compiled=False)
    require(kind)
    assert_exact(sch, whole_range(kind, 12, 64, 48))


@pytest.mark.parametrize("kind", KINDS, ids=names)
def test_one_instruction(kind: DotKind) -> None:
    """The smallest form: 16 results from one group."""
    group = kind.group
    sch = Schedule(product(kind, 3, 32, 4 * group))
    packed = sch.cache_read("C", "B", "global")
    sch.transform_layout("C", packed.name, in_panels(LANES, group))
    i, j, p = sch.loops("C")
    jo, ji = sch.split(j, [None, LANES])
    po, pi = sch.split(p, [None, group])
    sch.reorder(i, jo, po, ji, pi)
    sch.tensorize(ji, dot(kind))
    assert_exact(sch, whole_range(kind, 3, 32, 4 * group), compiled=kind.runs_on())


@pytest.mark.parametrize("kind", KINDS, ids=names)
def test_interleaved_rows(kind: DotKind) -> None:
    group, columns = kind.group, 32
    b = te.placeholder((4 * group, 70), kind.right, name="B")
    c = te.compute((4, columns, group), lambda p, j, q: b[p * group + q, j + 5], name="P")
    sch = Schedule(c)
    sch.tensorize(sch.loops("P")[1], interleave(kind, columns))
    x = np.arange(4 * group * 70).reshape(4 * group, 70).astype(np.int8)
    x = x if kind is not BF16 else x.astype(ml_dtypes.bfloat16)
    want = x[:, 5:37].reshape(4, group, columns).transpose(0, 2, 1)
    meant, done = np.zeros(want.shape, want.dtype), np.zeros(want.shape, want.dtype)
    interpret(sch.program, [x, meant])
    build(sch)(x, done)
    np.testing.assert_array_equal(meant, want)
    np.testing.assert_array_equal(done, want)


def test_sums_wrap_around_as_int32_does() -> None:
    """The signed variant takes 128 times the sum of B away again, modulo 2**32."""
    require(S8S8)
    k = 140_000
    a = np.full((1, k), -128, np.int8)
    b = np.full((k, 16), -128, np.int8)
    sch = topi.schedule_dot_matmul(product(S8S8, 1, 16, k))
    got = np.zeros((1, 16), np.int32)
    build(sch)(a, b, got)
    assert k * 2**14 >= 2**31
    np.testing.assert_array_equal(got, np.full((1, 16), k * 2**14 - 2**32))


def test_bf16_rounds_each_product_into_float32() -> None:
    """A product is exact; adding it rounds to nearest even; subnormal numbers count as zero."""
    require(BF16)
    sch = topi.schedule_dot_matmul(product(BF16, 1, 16, 4))
    exe = build(sch)

    def dot_of(left: list[float], right: list[float]) -> float:
        a = np.array([left], np.float32).astype(ml_dtypes.bfloat16)
        b = np.repeat(np.array(right, np.float32)[:, None], 16, 1).astype(ml_dtypes.bfloat16)
        got = np.zeros((1, 16), np.float32)
        exe(a, b, got)
        return float(got[0, 3])

    assert dot_of([1.0078125, 0, 0, 0], [1.0078125, 0, 0, 0]) == 1.0078125**2
    assert dot_of([2.0**24, 0, 1, 0], [1, 0, 1, 0]) == 2.0**24
    assert dot_of([2.0**24, 0, 3, 0], [1, 0, 1, 0]) == 2.0**24 + 4
    assert dot_of([2.0**-130, 0, 0, 0], [1, 0, 0, 0]) == 0


@pytest.mark.parametrize("kind", KINDS, ids=names)
def test_the_inner_loop_is_loads_and_dots(kind: DotKind) -> None:
    """Of the largest tile: each row's group once, each vector of B once, no spills."""
    require(kind)
    sch = topi.schedule_dot_matmul(product(kind, 48, 64, 1024), Target.host().with_threads(1))
    loop = inner_loop(build(sch).source("asm"))
    mnemonic = "vdpbf16ps" if kind is BF16 else "vpdpbusd"
    count = len(re.findall(mnemonic, loop))
    assert count >= 24
    assert count % 24 == 0
    assert not re.findall("vpxor|vpadd|vpsub", loop)  # no byte is made unsigned in the loop
    steps = count // 24
    assert len(re.findall(r"\(%r", loop)) <= (12 + 2) * steps
    assert "rsp" not in loop


def inner_loop(assembly: str) -> str:
    """The basic block with the most dots that jumps to itself."""
    pieces = re.split(r"^(\.L\w+):", assembly, flags=re.MULTILINE)
    blocks = zip(pieces[1::2], pieces[2::2], strict=True)
    found = [(re.search(rf"\bj\w+\s+{re.escape(label)}\b", text), text) for label, text in blocks]
    loops = [text[: jump.start()] for jump, text in found if jump]
    return max(loops, key=lambda text: len(re.findall("vpdpbusd|vdpbf16ps", text)))


SIZES = [
    (37, 50, 67), (1, 33, 5), (13, 16, 300), (24, 32, 64), (5, 1, 1), (4, 7, 9001),
    (1024, 1024, 8), (1030, 1060, 4),
]  # fmt: skip
"""The last ones have results larger than second-level caches, which are stored past them."""


@pytest.mark.parametrize("kind", KINDS, ids=names)
@pytest.mark.parametrize("sizes", SIZES, ids=lambda s: "x".join(map(str, s)))
def test_products_of_any_size(kind: DotKind, sizes: tuple[int, int, int]) -> None:
    require(kind)
    a, b, want = whole_range(kind, *sizes)
    got = np.full_like(want, 77)
    build(topi.schedule_dot_matmul(product(kind, *sizes)))(a, b, got)
    np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("kind", KINDS, ids=names)
def test_the_default_schedule_means_the_product(kind: DotKind) -> None:
    """By the interpreter, for a machine with the instruction, whatever this one has."""
    host = Target.host()
    features = ",".join([host.features, *(f"+{f}" for f in kind.missing())])
    sch = topi.schedule_dot_matmul(product(kind, 13, 33, 18), replace(host, features=features))
    assert kind.unsigned.name in str(sch)
    assert_exact(sch, whole_range(kind, 13, 33, 18), compiled=False)


@pytest.mark.parametrize("kind", KINDS, ids=names)
def test_without_the_instruction_plain_loops_do_it(kind: DotKind) -> None:
    machine = Target.of("llvm -mcpu=haswell")
    assert kind.missing(machine) == kind.features
    sch = topi.schedule_dot_matmul(product(kind, 9, 40, 11), machine)
    assert "symbol:" not in str(sch)
    assert_exact(sch, whole_range(kind, 9, 40, 11))


def _other_types() -> None:
    topi.schedule_dot_matmul(topi.matmul(8, 16, 8)[2])


def _unpacked() -> None:
    sch = Schedule(product(U8S8, 6, 32, 8))
    sch.tensorize(sch.loops("C")[0], dot_tile(U8S8, 6, 2, 8))


def _odd_depth() -> None:
    dot_tile(U8S8, 6, 2, 10)


REFUSALS: list[tuple[Callable[[], None], type[Exception], str]] = [
    (_other_types, TypeMismatch, r"no dot instruction computes float32 \* float32 -> float32"),
    (_unpacked, RefusedError, "cannot tensorize C by dot_u8s8_6x32x8"),
    (_odd_depth, OptionError, "depth 10 cannot be made"),
]


@pytest.mark.parametrize(("run", "error", "text"), REFUSALS, ids=["types", "unpacked", "depth"])
def test_refusals(run: Callable[[], None], error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        run()
