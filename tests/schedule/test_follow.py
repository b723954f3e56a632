"""reverse_compute_at: consumers that follow their producer, sums among them, part by part."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
import pytest
from helpers.kept_values import assert_values_stay
from helpers.refusals import assert_refused
from helpers.steps import after_steps, ramp
from hypothesis import given, settings
from hypothesis import strategies as st

from tvmlab import te
from tvmlab.ir import Expr, Var, parse
from tvmlab.schedule import Schedule
from tvmlab.te import Tensor

ROWS, COLUMNS = 5, 13


def doubled_and_summed(reduce: Callable[..., Expr] = te.sum) -> Tensor:
    """C, the sums of the rows of B, which is what A has doubled."""
    a = te.placeholder((ROWS, COLUMNS), "int64", name="A")
    b = te.compute((ROWS, COLUMNS), lambda i, j: a[i, j] * 2, name="B")
    k = te.reduce_axis(COLUMNS, "k")
    return te.compute((ROWS,), lambda i: reduce(b[i, k], axis=k), name="C")


@pytest.mark.parametrize("reduce", [te.sum, te.max, te.prod], ids=lambda f: f.__name__)
@pytest.mark.parametrize("size", [1, 4, 13, 20])
def test_a_sum_goes_on_with_each_part(reduce: Callable[..., Expr], size: int) -> None:
    def steps(sch: Schedule) -> None:
        outer, inner = sch.split(sch.loops("B")[1], [None, size])
        sch.vectorize(inner)
        sch.reverse_compute_at("C", outer)
        assert [b.name for b in sch.blocks()] == ["B", "C"]
        assert sch.loops("C")[:2] == sch.loops("B")[:2]

    after_steps(doubled_and_summed(reduce), steps, [ramp(ROWS, COLUMNS, dtype="int64") % 3])


def test_before_and_after() -> None:
    sch = Schedule(doubled_and_summed())
    outer, _ = sch.split(sch.loops("B")[1], [None, 4])
    (summed,) = sch.reverse_compute_at("C", outer)
    assert summed.extent == 4
    assert "vk=reduce(13, j_outer * 4 + k)" in str(sch)
    assert "where(j_outer * 4 + k < 13)" in str(sch)


def test_partial_sums_can_be_factored_afterwards() -> None:
    def steps(sch: Schedule) -> None:
        outer, inner = sch.split(sch.loops("B")[1], [None, 4])
        sch.vectorize(inner)
        (summed,) = sch.reverse_compute_at("C", outer)
        partial = sch.rfactor("C", summed)
        sch.vectorize(sch.loops(partial)[-1])
        assert sch.loops(partial)[:2] == sch.loops("B")[:2]

    after_steps(doubled_and_summed(), steps, [ramp(ROWS, COLUMNS, dtype="int64")])


def test_a_product_takes_each_part_of_its_factor() -> None:
    a, w = te.placeholder((6, 12), "int64", name="A"), te.placeholder((12, 7), "int64", name="W")
    b = te.compute((6, 12), lambda i, k: a[i, k] + 1, name="B")
    k = te.reduce_axis(12, "k")
    c = te.compute((6, 7), lambda i, j: te.sum(b[i, k] * w[k, j], axis=k), name="C")

    def steps(sch: Schedule) -> None:
        i, k = sch.loops("B")
        outer, inner = sch.split(k, [None, 5])
        sch.reorder(outer, i, inner)
        sch.reverse_compute_at("C", outer)
        assert [loop.extent for loop in sch.loops("C")] == [3, 6, 7, 5]

    after_steps(c, steps, [ramp(6, 12, dtype="int64"), ramp(12, 7, dtype="int64")])


Followed: TypeAlias = tuple[tuple[int, ...], list[int], list[int | None], list[int], int]


@st.composite
def followed(draw: st.DrawFn) -> Followed:
    """Sizes, the axes that are summed, splits, an order of loops, and the loop to follow at."""
    sizes = draw(st.lists(st.integers(1, 6), min_size=1, max_size=3))
    axes = range(len(sizes))
    summed = draw(st.lists(st.sampled_from(axes), min_size=1, unique=True))
    splits = [draw(st.none() | st.integers(1, 4)) for _ in axes]
    count = len(sizes) + sum(s is not None for s in splits)
    order = draw(st.permutations(range(count)))
    return tuple(sizes), summed, splits, order, draw(st.integers(0, count))


@settings(max_examples=60, deadline=None)
@given(followed())
def test_sums_of_any_axes_at_any_loop(case: Followed) -> None:
    sizes, summed, splits, order, place = case
    a = te.placeholder(sizes, "int64", name="A")

    def tripled(*i: Var) -> Expr:
        return a[i] * 3 + 1

    b = te.compute(sizes, tripled, name="B")
    axes = [te.reduce_axis(sizes[n], f"k{n}") for n in summed]
    kept = [n for n in range(len(sizes)) if n not in summed]

    def total(*i: Var) -> Expr:
        spatial = iter(i)
        by_axis = dict(zip(summed, axes, strict=True))
        places = [by_axis[n] if n in by_axis else next(spatial) for n in range(len(sizes))]
        return te.sum(b[tuple(places)], axis=axes)

    def steps(sch: Schedule) -> None:
        loops = [
            part
            for loop, size in zip(sch.loops("B"), splits, strict=True)
            for part in ([loop] if size is None else sch.split(loop, [None, size]))
        ]
        loops = [loops[n] for n in order]
        if len(loops) > 1:
            sch.reorder(*loops)
        at = loops[min(place, len(loops) - 1)]
        verdict = sch.check("reverse_compute_at", "C", at)
        if verdict:
            sch.reverse_compute_at("C", at)
        else:
            assert verdict.rule == "reverse_compute_at.not-tiles"

    c = te.compute(tuple(sizes[n] for n in kept), total, name="C")
    after_steps(c, steps, [ramp(*sizes, dtype="int64")])


def test_a_sum_that_is_used_stays_behind_its_loop() -> None:
    assert_values_stay(
        """
def f(A: int64[4, 6], D: int64[4, 6]):
    B = alloc(int64[4, 6])
    S = alloc(int64[4])
    for i in range(4):
        for j in range(6):
            with block("B", vi=spatial(4, i), vj=spatial(6, j)):
                B[vi, vj] = A[vi, vj] + 1
        for k in range(6):
            with block("S", vi=spatial(4, i), vk=reduce(6, k)):
                with init():
                    S[vi] = 0
                S[vi] = S[vi] + B[vi, vk]
        for j in range(6):
            with block("D", vi=spatial(4, i), vj=spatial(6, j)):
                D[vi, vj] = B[vi, vj] * S[vi]
""",
        lambda sch: sch.reverse_compute_at("S", sch.loops("B")[1]),
    )


USED_BEFORE = """
def f(A: int64[4, 6], S: int64[4], D: int64[4, 6]):
    B = alloc(int64[4, 6])
    for i in range(4):
        for j in range(6):
            with block("B", vi=spatial(4, i), vj=spatial(6, j)):
                B[vi, vj] = A[vi, vj] + 1
            with block("D", vi=spatial(4, i), vj=spatial(6, j)):
                D[vi, vj] = S[vi]
    for i in range(4):
        for k in range(6):
            with block("S", vi=spatial(4, i), vk=reduce(6, k)):
                with init():
                    S[vi] = 0
                S[vi] = S[vi] + B[vi, vk]
"""
SOME_ONLY = """
def f(A: int64[4, 6], S: int64[4]):
    B = alloc(int64[4, 6])
    for i in range(4):
        for j in range(3):
            with block("B", vi=spatial(4, i), vj=spatial(6, j)):
                B[vi, vj] = A[vi, vj] + 1
    for i in range(4):
        for k in range(3):
            with block("S", vi=spatial(4, i), vk=reduce(3, k)):
                with init():
                    S[vi] = 0
                S[vi] = S[vi] + B[vi, vk]
"""


def _in_threads() -> None:
    sch = Schedule(doubled_and_summed())
    _, j = sch.loops("B")
    sch.parallel(j)
    sch.reverse_compute_at("C", j)


def _without_start() -> None:
    sch = Schedule(doubled_and_summed())
    sch.decompose_reduction("C", sch.loops("C")[0])
    sch.reverse_compute_at("C", sch.loops("B")[1])


def _read_before() -> None:
    sch = Schedule(parse(USED_BEFORE))
    sch.reverse_compute_at("S", sch.loops("B")[1])


def _of_some() -> None:
    sch = Schedule(parse(SOME_ONLY))
    sch.reverse_compute_at("S", sch.loops("B")[1])


def _shifted_sum() -> None:
    a = te.placeholder((9,), "int64", name="A")
    b = te.compute((9,), lambda i: a[i] * 2, name="B")
    k = te.reduce_axis(3, "k")
    sch = Schedule(te.compute((7,), lambda i: te.sum(b[i + k], axis=k), name="C"))
    sch.reverse_compute_at("C", sch.loops("B")[0])


REFUSALS = [
    (_in_threads, "reverse_compute_at.together", "each iteration of j would add a part to the"),
    (_without_start, "reverse_compute_at.kind", "and sums with their start value, can follow"),
    (_read_before, "reverse_compute_at.changing-values", "D reads S before S has written it for"),
    (_of_some, "reverse_compute_at.parts-of-sum", "that B computes every element of B"),
    (_shifted_sum, "reverse_compute_at.shifted", "values of two iterations would be needed"),
]


@pytest.mark.parametrize(("run", "rule", "text"), REFUSALS, ids=[r[1] for r in REFUSALS])
def test_refusals(run: Callable[[], None], rule: str, text: str) -> None:
    assert_refused(run, rule, text)


def test_float_sums_stay_near() -> None:
    a = te.placeholder((3, 100), name="A")
    b = te.compute((3, 100), lambda i, j: te.exp(a[i, j]), name="B")
    k = te.reduce_axis(100, "k")
    c = te.compute((3,), lambda i: te.sum(b[i, k], axis=k), name="C")

    def steps(sch: Schedule) -> None:
        outer, inner = sch.split(sch.loops("B")[1], [None, 32])
        sch.vectorize(inner)
        (summed,) = sch.reverse_compute_at("C", outer)
        sch.vectorize(sch.loops(sch.rfactor("C", summed))[-1])

    after_steps(c, steps, [np.random.default_rng(0).random((3, 100), np.float32)])
