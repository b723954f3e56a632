"""Programs that broke other schedule compilers; each names the report it stands for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import tvmlab as tl
from tvmlab import te
from tvmlab.codegen import interpret
from tvmlab.ir import Expr
from tvmlab.schedule import Schedule
from tvmlab.te import Tensor

Array = NDArray[Any]


def check(sch: Schedule, inputs: list[Array], want: Array) -> None:
    """Interpreter and machine code both give the wanted result."""
    interpreted, compiled = np.full_like(want, 113), np.full_like(want, 113)
    interpret(sch.program, [*inputs, interpreted])
    tl.build(sch)(*inputs, compiled)
    for out in (interpreted, compiled):
        np.testing.assert_allclose(out, want, rtol=1e-5, err_msg=str(sch))


def ramp(*shape: int, dtype: str = "float32") -> Array:
    return (np.arange(np.prod(shape)) % 17).reshape(shape).astype(dtype)


def test_unequal_splits_of_producer_and_consumer() -> None:
    """apache/tvm#2898: length 48, producer split by 10 and computed at a consumer split by 32."""
    a = te.placeholder((48,), name="A")
    c = te.compute((48,), lambda i: a[i] * 2.0, name="C")
    sch = Schedule(te.compute((48,), lambda i: c[i] + 1.0, name="D"))
    outer, _ = sch.split(sch.loops("D")[0], [None, 32])
    (inner,) = sch.compute_at("C", outer)
    sch.split(inner, [None, 10])
    check(sch, [ramp(48)], ramp(48) * 2 + 1)


def test_split_of_a_split_with_caches_at_two_levels() -> None:
    """apache/tvm#2805: length 96, caches, split by 48 and the inner by 32."""
    a = te.placeholder((96,), name="A")
    sch = Schedule(te.compute((96,), lambda i: a[i] + 1.0, name="C"))
    write = sch.cache_write("C", "local")
    read = sch.cache_read("C", "A", "local")
    outer, inner = sch.split(sch.loops(write)[0], [None, 48])
    middle, _ = sch.split(inner, [None, 32])
    sch.compute_at("C", middle)
    sch.compute_at(read, outer)
    check(sch, [ramp(96)], ramp(96) + 1)


def test_zero_dimensional_sum_with_a_singleton_split() -> None:
    """apache/tvm PR #2495: the start value of a 0-d sum is guarded like its update."""
    a = te.placeholder((50,), name="A")
    k = te.reduce_axis(50, "k")
    sch = Schedule(te.compute((), lambda: te.sum(a[k], axis=k), name="S"))
    sch.split(sch.loops("S")[0], [20, None])
    check(sch, [ramp(50)], np.asarray(ramp(50).sum(), np.float32))


def test_factor_larger_than_the_extent() -> None:
    """apache/tvm PR #4932: the inner extent is cut down and no guard is left."""
    a = te.placeholder((2, 2), name="A")
    sch = Schedule(te.compute((2, 2), lambda i, j: a[i, j] + 1.0, name="C"))
    for loop in sch.loops("C"):
        _, inner = sch.split(loop, [None, 4])
        assert inner.extent == 2
    assert "where" not in str(sch)
    check(sch, [ramp(2, 2)], ramp(2, 2) + 1)


def times(x: Tensor, y: Tensor, name: str) -> Tensor:
    return te.compute(x.shape, lambda i: x[i] * y[i], name=name)


def test_one_cache_for_each_of_a_chain_of_readers() -> None:
    """apache/tvm#1043: cache_read of one input for four chained readers."""
    a = te.placeholder((20,), name="A")
    last: Tensor = te.compute((20,), lambda i: a[i] + 1.0, name="R0")
    for n in range(1, 4):
        last = times(last, a, f"R{n}")
    sch = Schedule(last)
    for block in [b.name for b in sch.blocks()]:
        sch.cache_read(block, "A", "local")
    check(sch, [ramp(20)], (ramp(20) + 1) * ramp(20) ** 3)


@pytest.mark.parametrize("length", [127, 255])
@pytest.mark.parametrize("factor", [16, 64])
def test_vectorized_tail(length: int, factor: int) -> None:
    """apache/tvm#1979 and relatives: full tiles as vectors, the tail right."""
    a = te.placeholder((length,), name="A")
    sch = Schedule(
        te.compute((length,), lambda i: te.if_then_else(i > 3, a[i] * 3.0, 0.5), name="C")
    )
    _, inner = sch.split(sch.loops("C")[0], [None, factor])
    sch.vectorize(inner)
    x = ramp(length)
    check(sch, [x], np.where(np.arange(length) > 3, x * 3, np.float32(0.5)))


def test_padded_read_that_starts_before_the_buffer() -> None:
    """apache/tvm PR #11201: the window of a padded producer stays inside its buffer."""
    a = te.placeholder((30,), name="A")
    b = te.compute((30,), lambda i: a[i] * 2.0, name="B")
    c = te.compute(
        (34,),
        lambda i: te.if_then_else(te.all(i >= 2, i < 32), b[i - 2], 0.0),
        name="C",
    )
    sch = Schedule(c)
    outer, _ = sch.split(sch.loops("C")[0], [None, 8])
    sch.compute_at("B", outer)
    check(sch, [ramp(30)], np.pad(ramp(30) * 2, 2))


def truncated(x: Array, y: Array) -> Array:
    return np.trunc(x / y).astype(x.dtype)


@pytest.mark.parametrize(
    ("divide", "meaning"),
    [
        pytest.param(te.floordiv, np.floor_divide, id="floordiv"),
        pytest.param(te.floormod, np.mod, id="floormod"),
        pytest.param(te.truncdiv, truncated, id="truncdiv"),
        pytest.param(te.truncmod, np.fmod, id="truncmod"),
    ],
)
def test_division_of_negative_numbers(
    divide: Callable[[Expr, Expr], Expr], meaning: Callable[[Array, Array], Array]
) -> None:
    """apache/tvm#2308 and relatives: floor and truncating division over all signs."""
    a = te.placeholder((14, 14), "int32", name="A")
    b = te.placeholder((14, 14), "int32", name="B")
    sch = Schedule(te.compute((14, 14), lambda i, j: divide(a[i, j], b[i, j]), name="C"))
    sch.vectorize(sch.loops("C")[1])
    left = np.arange(-7, 7, dtype=np.int32)
    right = np.array([*range(-7, 0), *range(1, 8)], dtype=np.int32)
    x, y = left[None, :].repeat(14, 0), right[:, None].repeat(14, 1)
    check(sch, [x, y], meaning(x, y))


def test_unsigned_subtraction_wraps() -> None:
    """apache/tvm#12383: below zero, uint32 wraps as two's complement, wherever it is computed."""
    a = te.placeholder((8,), "uint32", name="A")
    b = te.compute((8,), lambda i: a[i] - te.const(5, "uint32"), name="B")
    sch = Schedule(te.compute((8,), lambda i: b[i] + te.const(1, "uint32"), name="C"))
    sch.compute_at("B", sch.loops("C")[0])
    x = np.arange(8, dtype=np.uint32)
    check(sch, [x], x - np.uint32(5) + np.uint32(1))


def test_read_past_the_end_is_reported() -> None:
    """apache/tvm#15205: a stage of length 3 read at index 63 is an error, not a number."""
    a = te.placeholder((3,), name="A")
    with pytest.raises(tl.UserError, match="reads A outside its shape: at i=63"):
        Schedule(te.compute((64,), lambda i: a[i] + 1.0, name="C"))
    guarded = te.compute((64,), lambda i: te.if_then_else(i < 5, a[i], 0.0), name="C")
    with pytest.raises(tl.TvmlabError, match=r"A\[3\]"):
        interpret(Schedule(guarded).program, [ramp(3), ramp(64)])


def test_allocation_is_as_large_as_what_is_touched() -> None:
    """apache/tvm#2564: a producer computed in tiles needs a tile, not the whole."""
    a = te.placeholder((1024,), name="A")
    b = te.compute((1024,), lambda i: a[i] * 2.0, name="B")
    sch = Schedule(te.compute((1022,), lambda i: b[i] + b[i + 2], name="C"))
    outer, _ = sch.split(sch.loops("C")[0], [None, 8])
    sch.compute_at("B", outer)
    assert "alloc(float32[10]" in tl.build(sch).source("lowered")
    check(sch, [ramp(1024)], ramp(1024)[:-2] * 2 + ramp(1024)[2:] * 2)
