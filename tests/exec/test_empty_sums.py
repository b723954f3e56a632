"""Reductions over no elements give the identity, whatever the loops; parts of no dimensions."""

# pyright: basic, reportAttributeAccessIssue=false

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tvmlab as tl
from tvmlab import te
from tvmlab.codegen import interpret
from tvmlab.ir import Var, parse, structural_equal, to_text, verify
from tvmlab.lower import lower
from tvmlab.schedule import Schedule
from tvmlab.target import Target


def outside(s: Schedule) -> None:
    i, k = s.loops("B")
    s.reorder(k, i)


def tails(s: Schedule) -> None:
    i, k = s.loops("B")
    s.split(k, [None, 4])
    s.split(i, [None, 3])


def between(s: Schedule) -> None:
    i, k = s.loops("B")
    ko, ki = s.split(k, [None, 4])
    s.reorder(ko, i, ki)


def parts(s: Schedule) -> None:
    i, k = s.loops("B")
    ko, ki = s.split(k, [3, None])
    s.reorder(ko, i, ki)


STEPS = [lambda s: None, outside, tails, between, parts]


@pytest.mark.parametrize("size", [0, 5])
@pytest.mark.parametrize("steps", STEPS, ids=["none", "outside", "tails", "between", "parts"])
def test_a_sum_over_nothing_is_its_start_value(steps: Callable[[Any], None], size: int) -> None:
    n = te.var("n")
    a, k = te.placeholder((4, n), name="A"), te.reduce_axis(n, "k")
    s = Schedule(te.compute((4,), lambda i: te.sum(a[i, k], axis=k), name="B"))
    steps(s)
    lowered = lower(s.program, Target.host()).program

    def run_lowered(*arrays: Any) -> None:
        rest = list(arrays)
        interpret(lowered, [size if isinstance(p, Var) else rest.pop(0) for p in lowered.params])

    for run in (lambda *given: interpret(s.program, given), run_lowered, tl.build(s.program)):
        arrays = [np.ones((4, size), "float32"), np.full(4, 7, "float32")]
        run(*arrays)
        np.testing.assert_array_equal(arrays[1], np.full(4, size, "float32"))


def test_a_part_of_no_dimensions_is_an_array_of_none() -> None:
    seen: list[tuple[int, ...]] = []

    @tl.register_function("test.no_dimensions", override=True)
    def show(source: Any, result: Any) -> None:
        seen.append((*source.shape, *result.shape))
        result[...] = source

    x = te.placeholder((), name="x")
    y = te.extern((), [x], lambda i, o: te.call_packed("test.no_dimensions", i[0], o[0]), name="y")
    program = te.create_program(y)
    lowered = lower(program, Target.host()).program
    verify(lowered)
    assert structural_equal(parse(to_text(lowered)), lowered)
    for run in (
        lambda *given: interpret(program, given),
        lambda *given: interpret(lowered, given),
        tl.build(program),
    ):
        result = np.zeros((), "float32")
        run(np.array(3.0, "float32"), result)
        assert result == 3
    assert seen == [()] * 3


@pytest.mark.parametrize("factor", [None, 3, 4])
@pytest.mark.parametrize("threads", [False, True])
def test_triangular_loops_that_end_before_they_begin(factor: int | None, threads: bool) -> None:
    """Rows past the corner, and rows of a partial tile, have loops with extents below zero."""
    schedule = Schedule(
        parse("""\
def f(A: float32[8, 8], B: float32[8]):
    for i in range(5):
        for k in range(3 - i):
            with block("C", vi=spatial(5, i), vk=reduce(5, k)):
                with init():
                    B[vi] = 7.0
                B[vi] = B[vi] + A[vi, vk]
""")
    )
    rows, _ = schedule.loops("C")
    if factor is not None:
        rows, _ = schedule.split(rows, [None, factor])
    if threads:
        schedule.parallel(rows)
    ones, compiled, read = np.ones((8, 8), "f4"), np.zeros(8, "f4"), np.zeros(8, "f4")
    tl.build(schedule)(ones, compiled)
    interpret(schedule.program, [ones, read])
    assert compiled.tolist() == read.tolist() == [10, 9, 8, 7, 7, 0, 0, 0]
