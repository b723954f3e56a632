"""Blocks that write alike, start anew or run for a part of their iterations: what may not move."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from helpers.kept_values import assert_values_stay

import tvmlab as tl
from tvmlab import te
from tvmlab.ir import parse
from tvmlab.schedule import RefusedError, Schedule
from tvmlab.support import UserError

SET_TWICE = """
def f(A: int64[8], C: int64[8]):
    T = alloc(int64[8])
    for i in range(8):
        with block("T", vi=spatial(8, i)):
            T[vi] = A[vi]
    for i in range(8):
        with block("F", vi=spatial(8, i)):
            C[{place}] = 5
    for i in range({last}):
        with block("C", vi=spatial({last}, i)):
            C[vi] = T[vi] + 1
"""
ZEROS_BEFORE = """
def f(A: int64[4, 3], C: int64[4]):
    for i in range(4):
        with block("P", vi=spatial(4, i)):
            C[vi] = 7
        for k in range(3):
            with block("S", vi=spatial(4, i), vk=reduce(3, k)):
                with init():
                    C[vi] = 0
                C[vi] = C[vi] + A[vi, vk]
"""
SET_AND_ADD = """
def f(A: int64[4, 5], C: int64[4]):
    for i in range(4):
        for j in range(5):
            with block("P", vi=spatial(4, i)):
                C[vi] = 0
            with block("S", vi=spatial(4, i), vj=reduce(5, j)):
                C[vi] = C[vi] + A[vi, vj]
"""
ON_AND_ON = """
def f(A: int64[4, 3], S: int64[4], D: int64[3]):
    for r in range(3):
        for i in range(4):
            for k in range(3):
                with block("S", vi=spatial(4, i), vk=reduce(3, k)):
                    S[vi] = S[vi] + A[vi, vk]
        with block("D", vr=spatial(3, r)):
            D[vr] = A[0, vr] + S[vr]
"""
A_PART = """
def f(A: int64[8], C: int64[8]):
    T = alloc(int64[8])
    for i in range({made}):
        with block("T", vi=spatial({made}, i)):
            T[vi] = A[vi]
    for i in range({run}):
        with block("C", vi=spatial(8, i)):
            C[vi] = select(vi < 5, T[vi], 0)
"""
OLD_VALUES = """
def f(A: int64[8], B: int64[8], D: int64[8]):
    T = alloc(int64[8])
    for i in range(8):
        with block("T", vi=spatial(8, i)):
            T[vi] = A[vi]
        with block("D", vi=spatial(8, i)):
            D[vi] = B[vi]
    for i in range(8):
        with block("B", vi=spatial(8, i)):
            B[vi] = T[vi] + 1
"""
TRIANGLE = """
def f(A: int64[7, 7], C: int64[7]):
    for i in range(7):
        for k in range(7 - i):
            with block("C", vi=spatial(7, i), vk=reduce(7, k)):
                with init():
                    C[vi] = 0
                C[vi] = C[vi] + A[vi, vk]
"""

Step = Callable[[Schedule], Any]


def _reordered_rounds(sch: Schedule) -> None:
    outer, inner = sch.split(sch.loops("S")[1], [None, 4])
    sch.reorder(inner, outer)


def _factored_triangle(sch: Schedule) -> None:
    i, k = sch.loops("C")
    sch.reorder(k, i)
    sch.rfactor("C", k)


def _threads_of_a_triangle(sch: Schedule) -> None:
    i, k = sch.loops("C")
    sch.reorder(k, i)
    sch.bind(k, "threadIdx.x")


REFUSED: dict[str, tuple[str, Step, str, str]] = {
    "a block inlined before another writer": (
        SET_TWICE.format(place="vi", last=8),
        lambda s: s.reverse_compute_inline("C"),
        "reverse_compute_inline.other-writer",
        "cannot reverse_compute_inline C: F writes elements of C too, and which of the two comes "
        "last would change",
    ),
    "a block moved before another writer": (
        SET_TWICE.format(place="vi", last=8),
        lambda s: s.reverse_compute_at("C", s.loops("T")[0]),
        "reverse_compute_at.other-writer",
        "cannot reverse_compute_at C: F writes elements of C too, and which of the two comes last "
        "would change",
    ),
    "a start value set before another writer": (
        ZEROS_BEFORE,
        lambda s: s.decompose_reduction("S", s.loops("S")[0]),
        "decompose_reduction.other-writer",
        "cannot decompose S at i: P writes elements of C too, which the start value would no "
        "longer come after; choose a loop further in",
    ),
    "rounds of which the last stays": (
        SET_AND_ADD,
        _reordered_rounds,
        "reorder.dependence",
        "cannot reorder to j_inner, j_outer: two iterations that use the same element of C would "
        "change places",
    ),
    "a sum that goes on": (
        ON_AND_ON.replace("+ S[vr]", "* 2"),
        lambda s: s.compute_root("S"),
        "compute_root.repeated-sum",
        "cannot move S to the root: each round of r goes on with the sum that the one before "
        "left, and at the root there would be one round",
    ),
    "a reader of a sum that goes on": (
        ON_AND_ON,
        lambda s: s.compute_root("D"),
        "compute_root.changing-values",
        "D reads S before S has written it for the last time",
    ),
    "a consumer of a part": (
        A_PART.format(made=8, run=5),
        lambda s: s.reverse_compute_at("C", s.loops("T")[0]),
        "reverse_compute_at.partial-domain",
        "it runs for some values of its variables alone",
    ),
    "a consumer of a part, inlined": (
        A_PART.format(made=8, run=5),
        lambda s: s.reverse_compute_inline("C"),
        "reverse_compute_inline.partial-domain",
        "cannot inline C into its producer: C may run for some values of its variables alone; use "
        "reverse_compute_at instead",
    ),
    "a producer of a part": (
        A_PART.format(made=5, run=8),
        lambda s: s.reverse_compute_inline("C"),
        "reverse_compute_inline.part",
        "cannot inline C into its producer: T computes only a part of T",
    ),
    "what the caller brought stays": (
        A_PART.format(made=8, run=8).replace("select(vi < 5, T[vi], 0)", "T[vi] + 1").replace(
            "range(8):\n        with block(\"C\", vi=spatial(8, i))",
            "range(5):\n        with block(\"C\", vi=spatial(5, i))",
        ),
        lambda s: s.store_in("T", "C"),
        "store_in.partial",
        "C may leave elements of C as the caller brought them",
    ),
    "what the caller brought is read": (
        OLD_VALUES,
        lambda s: s.store_in("T", "B"),
        "store_in.old-values",
        "D reads what B holds before B writes it",
    ),
    "partial sums of a triangle": (
        TRIANGLE,
        _factored_triangle,
        "rfactor.dependent-extent",
        "cannot factor C by k: i runs more or less often in each iteration of k, so some elements "
        "have no partial result; move k inside i first",
    ),
    "partial sums that are not equally many": (
        TRIANGLE,
        lambda s: s.rfactor("C", s.loops("C")[1]),
        "rfactor.dependent-extent",
        "cannot factor C by k: its extent depends on another loop, so that there would not always "
        "be equally many partial results",
    ),
    "threads of a triangle": (
        TRIANGLE,
        _threads_of_a_triangle,
        "bind.uneven-rounds",
        "threads of k would join their parts of the sums of C in each round of i, which has more "
        "rounds in some threads than in others; reorder k inside i first",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_it_is_refused(name: str) -> None:
    text, step, rule, reason = REFUSED[name]
    schedule = Schedule(parse(text))
    with pytest.raises(RefusedError) as refusal:
        step(schedule)
    assert refusal.value.verdict.rule == rule
    assert reason in refusal.value.verdict.reason


def test_writers_of_other_elements_may_be_passed() -> None:
    text = SET_TWICE.format(place="vi // 4 + 6", last=6)
    text = text.replace("T = alloc(int64[8])", "T = alloc(int64[6])").replace(
        'range(8):\n        with block("T", vi=spatial(8, i))',
        'range(6):\n        with block("T", vi=spatial(6, i))',
    )
    assert_values_stay(text, lambda s: s.reverse_compute_at("C", s.loops("T")[0]))
    assert_values_stay(text, lambda s: s.reverse_compute_inline("C"))


@pytest.mark.parametrize("outer", [False, True])
def test_tails_of_triangles_stay_inside(outer: bool) -> None:
    def split(schedule: Schedule) -> None:
        i, _ = schedule.loops("C")
        io, ii = schedule.split(i, [None, 4])
        if outer:
            schedule.decompose_reduction("C", io)
        else:
            schedule.split(ii, [None, 2])

    assert_values_stay(TRIANGLE, split)


def test_a_note_tells_what_runs_for_a_part() -> None:
    text = str(Schedule(parse(A_PART.format(made=8, run=5))))
    assert text.count("partial_domain") == 1
    assert text.index("partial_domain") > text.index('block("C"')


def test_a_sum_without_its_first_round_is_refused() -> None:
    text = TRIANGLE.replace("range(7 - i)", "range(7)").replace(
        "                with init", "                where(k >= {low})\n                with init"
    )
    with pytest.raises(UserError, match="sets the start value of its sums in round 0") as refusal:
        Schedule(parse(text.format(low=2)))
    assert refusal.value.hint is not None
    assert "let the variables of the sum start at 0" in refusal.value.hint
    assert_values_stay(text.format(low=0), lambda s: s.reorder(*reversed(s.loops("C"))))


def test_assumptions_end_where_a_loop_becomes_another() -> None:
    text = """
def f(P: int64[4], A: int64[4, 6], C: int64[4, 7]):
    for i in range(4):
        for j in range(6):
            C[P[i], j + 1] = C[P[i], j] + A[i, j]
"""
    schedule = Schedule(parse(text))
    i, j = schedule.loops("C")
    schedule.assume("independent", i)
    parallel = schedule.copy()
    parallel.parallel(parallel.loops("C")[0])
    fused = schedule.fuse(i, j)
    assert not schedule.check("parallel", fused)
    wave = """
def f(A: int64[7, 7]):
    for i in range(6):
        for j in range(6):
            A[i + 1, j + 1] = A[i, j] + A[i + 1, j + 1]
"""
    schedule = Schedule(parse(wave))
    i, j = schedule.loops("A")
    schedule.assume("independent", j)
    assert schedule.check("vectorize", j)
    schedule.reorder(j, i)
    assert not schedule.check("vectorize", j)


def test_iterations_laid_out_with_a_shift() -> None:
    a_in = te.placeholder((6, 8), dtype="int32", name="A")
    doubled = te.compute((6, 8), lambda i, j: a_in[i, j] * 2, name="B")
    schedule = tl.Schedule(doubled)
    schedule.transform_block_layout("B", "lambda i, j: [i, j + 3]")
    a = np.arange(48, dtype=np.int32).reshape(6, 8)
    b = np.zeros_like(a)
    tl.build(schedule)(a, b)
    np.testing.assert_array_equal(b, a * 2)
    k = te.reduce_axis(8, "k")
    sums = te.compute((6,), lambda i: te.sum(a_in[i, k], axis=k), name="C")
    odd = "lambda i, k: [i, k * 2 + 1]"
    refusal = tl.Schedule(sums).check("transform_block_layout", "C", odd)
    assert refusal.rule == "transform_block_layout.first-round"
    assert "no round of its sum is number 0, in which its start value is set" in refusal.reason


@pytest.mark.parametrize("sizes", [(0, 3), (3, 0), (5, 7)])
def test_sums_of_no_terms_have_their_start_value(sizes: tuple[int, int]) -> None:
    n, m = te.var("n"), te.var("m")
    a_in = te.placeholder((n, m), dtype="int32", name="A")
    k, l = te.reduce_axis(n, "k"), te.reduce_axis(m, "l")
    sums = te.compute(
        (4,), lambda j: te.sum(a_in[k, l] + te.cast(j, "int32"), axis=[k, l]), name="C"
    )
    schedule = tl.Schedule(sums)
    j, k_, _ = schedule.loops("C")
    schedule.tile(j, k_, 1, 1)
    schedule.split(schedule.loops("C")[-1], [4, 5, None], "auto")
    a = np.ones(sizes, np.int32)
    c = np.full(4, 77, np.int32)
    tl.build(schedule)(a, c)
    np.testing.assert_array_equal(c, a.sum() + np.arange(4) * a.size)
