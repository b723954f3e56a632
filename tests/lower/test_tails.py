"""Extents that do not divide, with and without masks: values, and what is left of guards."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from tvmlab import te
from tvmlab.codegen import interpret
from tvmlab.ir import For, If, Load, Program, Select, Store, walk
from tvmlab.lower import LowerOptions, lower
from tvmlab.schedule import Schedule
from tvmlab.target import Target

AVX512 = Target.of("cpu -mtriple=x86_64-linux-gnu -mcpu=x86-64-v4")
NEON = Target.of("cpu -mtriple=aarch64-linux-gnu")


def lowered(schedule: Schedule, target: Target = AVX512, **options: Any) -> Program:
    return lower(schedule.program, target, LowerOptions(verify=True, **options)).program


def add_one(n: int) -> Schedule:
    a = te.placeholder((n,), name="A")
    return Schedule(te.compute((n,), lambda i: a[i] + 1.0, name="C"))


def check_add_one(program: Program, n: int) -> None:
    a = np.arange(n, dtype="float32")
    c = np.full(n, -1, "float32")
    interpret(program, [a, c])
    np.testing.assert_array_equal(c, a + 1)


@pytest.mark.parametrize("target", [AVX512, NEON], ids=["avx512", "neon"])
@pytest.mark.parametrize("factor", [16, 64])
@pytest.mark.parametrize("n", [1, 2, 127, 255])
def test_split_and_vectorize(n: int, factor: int, target: Target) -> None:
    schedule = add_one(n)
    _, inner = schedule.split(schedule.loops("C")[0], [None, factor])
    schedule.vectorize(inner)
    program = lowered(schedule, target)
    check_add_one(program, n)
    assert not any(isinstance(s, If) for s in walk(program.body))
    whole = [s for s in walk(program.body) if isinstance(s, Store) and s.mask is None]
    masked = [s for s in walk(program.body) if isinstance(s, Store) and s.mask is not None]
    assert len(masked) == (n in (127, 255) and target is AVX512)
    if n >= 16:
        assert max(s.value.dtype.lanes for s in whole) == target.lanes(32)


@pytest.mark.parametrize("n", [1, 3, 17, 127])
def test_vectorize_without_split(n: int) -> None:
    schedule = add_one(n)
    schedule.vectorize(schedule.loops("C")[0])
    check_add_one(lowered(schedule), n)
    check_add_one(lowered(schedule, max_chunks=2), n)


@pytest.mark.parametrize("partition", [True, False])
@pytest.mark.parametrize("n", [5, 48, 97])
def test_two_splits_of_one_loop(n: int, partition: bool) -> None:
    schedule = add_one(n)
    _, inner = schedule.split(schedule.loops("C")[0], [None, 48])
    _, innermost = schedule.split(inner, [None, 32])
    schedule.vectorize(innermost)
    program = lowered(schedule, partition=partition)
    check_add_one(program, n)


def matmul(m: int, n: int, k: int) -> Schedule:
    a = te.placeholder((m, k), name="A")
    b = te.placeholder((k, n), name="B")
    r = te.reduce_axis(k, "k")
    return Schedule(te.compute((m, n), lambda i, j: te.sum(a[i, r] * b[r, j], axis=r), name="C"))


def tile(schedule: Schedule, rows: int, columns: int) -> None:
    """A register tile of the output, with the write-back vectorized as well."""
    local = schedule.cache_write("C", "local")
    i, j, k = schedule.loops("C")
    io, ii = schedule.split(i, [None, rows])
    jo, ji = schedule.split(j, [None, columns])
    schedule.reorder(io, jo, k, ii, ji)
    ax0, ax1 = schedule.reverse_compute_at(local, jo)
    for loop in (ii, ax0):
        schedule.unroll(loop)
    for loop in (ji, ax1):
        schedule.vectorize(loop)


def check_matmul(program: Program, m: int, n: int, k: int) -> None:
    rng = np.random.default_rng(0)
    a: NDArray[Any] = rng.integers(-3, 4, (m, k)).astype("float32")
    b: NDArray[Any] = rng.integers(-3, 4, (k, n)).astype("float32")
    c = np.full((m, n), -99, "float32")
    interpret(program, [a, b, c])
    np.testing.assert_array_equal(c, a @ b)


def test_a_tile_of_4_by_16_is_four_registers_of_16_lanes() -> None:
    schedule = matmul(8, 32, 5)
    tile(schedule, 4, 16)
    program = lowered(schedule)
    check_matmul(program, 8, 32, 5)
    inner = [s for s in walk(program.body) if isinstance(s, For) and s.var.name == "k"]
    assert len(inner) == 1
    stores = [s for s in walk(inner[0]) if isinstance(s, Store)]
    assert [s.buffer.scope for s in stores] == ["register"] * 4
    assert len({s.buffer for s in stores}) == 4
    assert {s.value.dtype.lanes for s in stores} == {16}
    memory = {n.buffer.name for n in walk(inner[0]) if isinstance(n, Load)} - {
        s.buffer.name for s in stores
    }
    assert memory == {"A", "B"}


@pytest.mark.parametrize("shape", [(2, 2, 2), (3, 15, 2), (5, 33, 3), (9, 47, 2)])
@pytest.mark.parametrize("target", [AVX512, NEON], ids=["avx512", "neon"])
def test_tails_of_a_tile_are_smaller_tiles(shape: tuple[int, int, int], target: Target) -> None:
    schedule = matmul(*shape)
    tile(schedule, 4, 16)
    program = lowered(schedule, target)
    check_matmul(program, *shape)
    assert not any(isinstance(s, If) for s in walk(program.body))
    updates = [
        s
        for loop in walk(program.body)
        if isinstance(loop, For) and loop.var.name == "k"
        for s in walk(loop)
        if isinstance(s, Store)
    ]
    assert all(s.buffer.scope == "register" for s in updates)


def test_padded_convolution_has_an_interior_without_selections() -> None:
    h, w = 12, 40
    a = te.placeholder((h, w), name="A")
    wt = te.placeholder((3, 3), name="W")
    pad = te.compute(
        (h + 2, w + 2),
        lambda y, x: te.if_then_else(
            te.all(y >= 1, y < h + 1, x >= 1, x < w + 1), a[y - 1, x - 1], 0.0
        ),
        name="P",
    )
    ry, rx = te.reduce_axis(3, "ry"), te.reduce_axis(3, "rx")
    out = te.compute(
        (h, w),
        lambda y, x: te.sum(pad[y + ry, x + rx] * wt[ry, rx], axis=[ry, rx]),
        name="C",
    )
    schedule = Schedule(out)
    schedule.compute_inline("P")
    y, x, ry_, rx_ = schedule.loops("C")
    xo, xi = schedule.split(x, [None, 16])
    schedule.reorder(y, xo, ry_, rx_, xi)
    schedule.vectorize(xi)
    schedule.parallel(y)
    program = lowered(schedule)
    rng = np.random.default_rng(1)
    values = rng.integers(-3, 4, (h, w)).astype("float32")
    weight = rng.integers(-3, 4, (3, 3)).astype("float32")
    result = np.zeros((h, w), "float32")
    interpret(program, [values, weight, result])
    windows = np.lib.stride_tricks.sliding_window_view(np.pad(values, 1), (3, 3))
    np.testing.assert_array_equal(result, np.einsum("hwyx,yx->hw", windows, weight))
    plain = [
        s
        for s in walk(program.body)
        if isinstance(s, For) and not any(isinstance(n, (Select, If)) for n in walk(s))
    ]
    assert any(loop.var.name == "ry" for loop in plain)


@pytest.mark.parametrize("n", [0, 1, 15, 16, 33])
def test_a_size_known_at_run_time(n: int) -> None:
    size = te.var("n")
    a = te.placeholder((size,), name="A")
    schedule = Schedule(te.compute((size,), lambda i: a[i] + 1.0, name="C"))
    outer, inner = schedule.split(schedule.loops("C")[0], [None, 16])
    schedule.vectorize(inner)
    schedule.parallel(outer)
    program = lowered(schedule)
    values = np.arange(n, dtype="float32")
    result = np.zeros(n, "float32")
    interpret(program, [n, values, result])
    np.testing.assert_array_equal(result, values + 1)
    stores = [s for s in walk(program.body) if isinstance(s, Store)]
    assert any(s.mask is None for s in stores)
