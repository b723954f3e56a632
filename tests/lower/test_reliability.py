"""Programs that broke schedule compilers, as far as lowering decides; R numbers name the cases."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from tvmlab import te
from tvmlab.codegen import interpret
from tvmlab.ir import Alloc, For, If, Program, const_int, parse, to_text, walk
from tvmlab.lower import LowerOptions, lower
from tvmlab.schedule import Schedule
from tvmlab.target import Target

AVX512 = Target.of("cpu -mtriple=x86_64-linux-gnu -mcpu=x86-64-v4")


def lowered(source: Schedule | Program) -> Program:
    program = source.program if isinstance(source, Schedule) else source
    return lower(program, AVX512, LowerOptions(verify=True)).program


def floats(*shape: int) -> NDArray[Any]:
    return np.random.default_rng(3).integers(-4, 5, shape).astype("float32")


def sizes(program: Program, name: str) -> set[int | None]:
    """The sizes of all allocations of a buffer."""
    return {
        const_int(n.buffer.shape[0])
        for n in walk(program.body)
        if isinstance(n, Alloc) and n.buffer.name == name
    }


def test_r1_both_guards_stay_when_a_producer_is_attached() -> None:
    a = te.placeholder((48,), name="A")
    c = te.compute((48,), lambda i: a[i] * 2.0, name="C")
    d = te.compute((48,), lambda i: c[i] + 1.0, name="D")
    schedule = Schedule(d)
    outer, _ = schedule.split(schedule.loops("D")[0], [None, 32])
    (loop,) = schedule.compute_at("C", outer)
    schedule.split(loop, [None, 10])
    values, result = floats(48), np.zeros(48, "float32")
    interpret(lowered(schedule), [values, result])
    np.testing.assert_array_equal(result, values * 2 + 1)


def test_r2_caches_at_two_levels_of_a_loop_split_twice() -> None:
    program = parse(
        """
def f(A: float32[96], C: float32[96]):
    A_local = alloc(float32[96], scope="local")
    C_local = alloc(float32[96], scope="local")
    for i in range(2):
        for m in range(2):
            for x in range(32):
                with block("A_local", v=spatial(96, i * 48 + m * 32 + x)):
                    where(i * 48 + m * 32 + x < 96)
                    A_local[v] = A[v]
            for j in range(32):
                with block("C", v=spatial(96, i * 48 + m * 32 + j)):
                    where(m * 32 + j < 48)
                    C_local[v] = A_local[v] * 2.0
        for x in range(48):
            with block("C_write", v=spatial(96, i * 48 + x)):
                C[v] = C_local[v]
"""
    )
    result_program = lowered(program)
    values, result = floats(96), np.zeros(96, "float32")
    interpret(result_program, [values, result])
    np.testing.assert_array_equal(result, values * 2)
    assert sizes(result_program, "A_local") == {32}
    assert sizes(result_program, "C_local") == {48}


def test_r5_the_init_of_a_sum_is_guarded_like_its_update() -> None:
    a = te.placeholder((7,), name="A")
    k = te.reduce_axis(7, "k")
    schedule = Schedule(te.compute((), lambda: te.sum(a[k], axis=k), name="S"))
    schedule.split(schedule.loops("S")[0], [20, None])
    values, result = floats(7), np.zeros((), "float32")
    interpret(lowered(schedule), [values, result])
    assert result == values.sum()


def test_r5_a_sum_over_one_fused_loop_is_not_reset() -> None:
    program = parse(
        """
def f(A: float32[6, 5], C: float32[6]):
    for f_outer in range(8):
        for f_inner in range(4):
            with block("C", vi=spatial(6, (f_outer * 4 + f_inner) // 5),
                       vk=reduce(5, (f_outer * 4 + f_inner) % 5)):
                where(f_outer * 4 + f_inner < 30)
                with init():
                    C[vi] = 0.0
                C[vi] = C[vi] + A[vi, vk]
"""
    )
    values, result = floats(6, 5), np.zeros(6, "float32")
    interpret(lowered(program), [values, result])
    np.testing.assert_array_equal(result, values.sum(1))


def test_r12_a_factor_larger_than_the_extent_leaves_no_guard() -> None:
    a = te.placeholder((2, 2), name="A")
    schedule = Schedule(te.compute((2, 2), lambda i, j: a[i, j] + 1.0, name="C"))
    for loop in schedule.loops("C"):
        schedule.split(loop, [None, 4])
    program = lowered(schedule)
    assert not any(isinstance(n, If) for n in walk(program.body))
    values, result = floats(2, 2), np.zeros((2, 2), "float32")
    interpret(program, [values, result])
    np.testing.assert_array_equal(result, values + 1)


@pytest.mark.parametrize("n", [0, 1, 9, 10, 11, 29])
def test_r23_an_extent_known_at_run_time_loses_no_iteration(n: int) -> None:
    size = te.var("n")
    a = te.placeholder((size,), name="A")
    b = te.compute((size,), lambda i: a[i] * 2.0, name="B")
    schedule = Schedule(te.compute((size,), lambda i: b[i] + 1.0, name="C"))
    outer, inner = schedule.split(schedule.loops("C")[0], [None, 10])
    schedule.split(inner, [None, 4])
    schedule.compute_at("B", outer)
    program = lowered(schedule)
    values, result = floats(n), np.zeros(n, "float32")
    interpret(program, [n, values, result])
    np.testing.assert_array_equal(result, values * 2 + 1)
    assert sizes(program, "B") == {10}


def test_r30_offsets_beyond_32_bits() -> None:
    program = parse(
        """
def f(A: int8[70000, 70000], C: int8[1]):
    C[0] = A[69999, 69999]
"""
    )
    text = to_text(lowered(program))
    assert "A: int8[4900000000]" in text
    assert "C[0] = A[4899999999]" in text


def test_r36_an_allocation_is_as_large_as_the_region_that_is_touched() -> None:
    a = te.placeholder((66,), name="A")
    b = te.compute((66,), lambda i: a[i] * 2.0, name="B")
    schedule = Schedule(te.compute((64,), lambda i: b[i] + b[i + 1] + b[i + 2], name="C"))
    outer, _ = schedule.split(schedule.loops("C")[0], [None, 8])
    schedule.compute_at("B", outer)
    schedule.parallel(outer)
    program = lowered(schedule)
    assert sizes(program, "B") == {10}
    values, result = floats(66), np.zeros(64, "float32")
    interpret(program, [values, result])
    doubled = values * 2
    np.testing.assert_array_equal(result, doubled[:-2] + doubled[1:-1] + doubled[2:])


@pytest.mark.parametrize("parallel", [False, True])
def test_r37_a_padded_read_whose_region_starts_below_zero(parallel: bool) -> None:
    n = 20
    a = te.placeholder((n,), name="A")
    b = te.compute((n,), lambda i: a[i] * 2.0, name="B")
    c = te.compute(
        (n,),
        lambda i: b[i] + te.if_then_else(i >= 1, b[i - 1], 0.0),
        name="C",
    )
    schedule = Schedule(c)
    outer, _ = schedule.split(schedule.loops("C")[0], [None, 8])
    schedule.compute_at("B", outer)
    if parallel:
        schedule.parallel(outer)
    program = lowered(schedule)
    values, result = floats(n), np.zeros(n, "float32")
    interpret(program, [values, result])
    doubled = values * 2
    np.testing.assert_array_equal(result, doubled + np.concatenate([[0], doubled[:-1]]))
    assert sizes(program, "B") <= {8, 9}


def test_a_large_tile_of_a_reduction_is_private_to_its_thread() -> None:
    a = te.placeholder((24, 6), name="A")
    k = te.reduce_axis(6, "k")
    s = te.compute((24,), lambda i: te.sum(a[i, k], axis=k), name="S")
    schedule = Schedule(te.compute((24,), lambda i: s[i] * s[23 - i], name="C"))
    outer, _ = schedule.split(schedule.loops("C")[0], [None, 5])
    schedule.compute_at("S", outer)
    schedule.parallel(outer)
    program = lowered(schedule)
    loop = next(n for n in walk(program.body) if isinstance(n, For) and n.kind == "parallel")
    assert any(isinstance(n, Alloc) and n.buffer.name == "S" for n in walk(loop))
    values, result = floats(24, 6), np.zeros(24, "float32")
    interpret(program, [values, result])
    sums = values.sum(1)
    np.testing.assert_array_equal(result, sums * sums[::-1])
