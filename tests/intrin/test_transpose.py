"""Squares transposed in registers: by meaning and by machine code, and copies made of them."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tvmlab import te, topi
from tvmlab.codegen import interpret
from tvmlab.driver import build
from tvmlab.intrin import transpose_tile
from tvmlab.runtime import empty
from tvmlab.schedule import Schedule
from tvmlab.support import OptionError
from tvmlab.target import Target

TWO = Target.host().with_threads(2)


@pytest.mark.parametrize("size", [2, 4, 8, 16])
@pytest.mark.parametrize("dtype", ["int8", "float16", "float32", "float64"])
def test_a_square_among_others(dtype: str, size: int) -> None:
    rows, columns = 2 * size, 3 * size
    x = te.placeholder((rows, columns), dtype, name="x")
    sch = Schedule(topi.transpose(x))
    j, i = sch.loops("transpose")
    jo, ji = sch.split(j, [None, size])
    io, ii = sch.split(i, [None, size])
    sch.reorder(jo, io, ji, ii)
    sch.tensorize(ji, transpose_tile(dtype, size))
    data = np.random.default_rng(size).integers(0, 100, (rows, columns)).astype(dtype)
    meant, made = np.zeros((2, columns, rows), dtype)
    interpret(sch.program, [data, meant])
    build(sch)(data, made)
    np.testing.assert_array_equal(meant, data.T)
    np.testing.assert_array_equal(made, data.T)


@pytest.mark.parametrize("offset", [0, 1, 5])
@pytest.mark.parametrize("apart", [32, 33, 48])
@pytest.mark.parametrize(("dtype", "size"), [("float32", 16), ("float64", 8), ("int8", 16)])
def test_stores_past_the_caches_wherever_columns_lie(
    dtype: str, size: int, apart: int, offset: int
) -> None:
    x = te.placeholder((size, 32), dtype, name="x")
    sch = Schedule(topi.transpose(x))
    j, i = sch.loops("transpose")
    jo, ji = sch.split(j, [None, size])
    sch.reorder(jo, ji, i)
    sch.tensorize(ji, transpose_tile(dtype, size, past_caches=True))
    data = np.random.default_rng(size).integers(0, 100, (size, 32)).astype(dtype)
    room = empty((32 * apart + offset,), dtype)
    room[:] = 7
    made = room[offset:].reshape(32, apart)[:, :size]
    exe = build(sch, strides={"transpose": (None, 1)})
    exe(data, made)
    np.testing.assert_array_equal(made, data.T)
    assert (room[offset:].reshape(32, apart)[:, size:] == 7).all()
    meant = np.zeros((32, size), dtype)
    interpret(sch.program, [data, meant])
    np.testing.assert_array_equal(meant, data.T)


@pytest.mark.skipif(Target.host().arch != "x86_64", reason="looks for instructions of x86")
def test_who_stores_past_the_caches_waits_for_it() -> None:
    x = te.placeholder((4096, 4096), name="x")
    text = build(topi.schedule(topi.transpose(x), TWO), target=TWO).source("asm")
    assert "movnt" in text
    assert text.count("sfence") == 1  # once for all squares of a thread
    small = build(topi.schedule(topi.transpose(te.placeholder((64, 64))), TWO), target=TWO)
    assert "movnt" not in small.source("asm")


@pytest.mark.parametrize("size", [0, 1, 3, 12])
def test_a_size_that_cannot_be_halved(size: int) -> None:
    with pytest.raises(OptionError, match=f"a square of {size} rows cannot be transposed"):
        transpose_tile("float32", size)


@settings(max_examples=15, deadline=None)
@given(
    shape=st.tuples(*[st.sampled_from([1, 3, 4, 8, 16, 24, 40])] * 3),
    order=st.sampled_from(list(permutations(range(3)))),
    dtype=st.sampled_from(["float32", "int8", "float64"]),
)
def test_copies_in_any_order(
    shape: tuple[int, int, int], order: tuple[int, ...], dtype: str
) -> None:
    x = te.placeholder(shape, dtype, name="x")
    output = topi.transpose(x, order)
    data = np.random.default_rng(0).integers(0, 100, shape).astype(dtype)
    made = np.zeros(output.const_shape or (), dtype)
    build(topi.schedule(output, TWO), target=TWO)(data, made)
    np.testing.assert_array_equal(made, data.transpose(order))


def test_large_copies_go_by_squares() -> None:
    x = te.placeholder((512, 1000), name="x")
    sch = topi.schedule(topi.transpose(x), TWO)
    assert "transpose_32_8x8" in str(sch) or "transpose_32_4x4" in str(sch)
    fused = topi.schedule(topi.exp(topi.transpose(x)), TWO)
    assert "tensorize" not in str(fused)
