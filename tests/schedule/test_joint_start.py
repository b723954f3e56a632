"""Sums shared out to threads: it must be plain in which round of the loops around they begin."""

from __future__ import annotations

from helpers.refusals import assert_refused
from helpers.schedules import matmul_schedule

from tvmlab.schedule import LoopRef, Schedule


def _skewed() -> tuple[Schedule, LoopRef]:
    """Rounds of the outer part are first ones for threads that depend on the element."""
    sch = matmul_schedule(5, 1, 6)
    i, j, k = sch.loops("C")
    sch.reorder(j, i, k)
    skewed = sch.skew(i, k, 3)
    outer, inner = sch.split(skewed, [None, 2])
    sch.reorder(outer, inner, i)
    return sch, inner


def _linked() -> tuple[Schedule, LoopRef]:
    """One iteration of the sum in each round, as a condition says."""
    sch = matmul_schedule(5, 1, 6)
    outer, inner = sch.split(sch.loops("C")[2], [None, 1])
    skewed = sch.skew(outer, inner, 1)
    sch.reorder(skewed, outer)
    return sch, outer


def test_a_sum_that_begins_in_another_round_for_each_element() -> None:
    sch, inner = _skewed()
    assert_refused(
        lambda: sch.bind(inner, "threadIdx.x"),
        "bind.unclear-start",
        "it cannot be told from the loops around it in which of their rounds the sum begins",
    )


def test_a_sum_of_which_each_round_does_a_part_by_a_condition() -> None:
    sch, outer = _linked()
    assert_refused(
        lambda: sch.bind(outer, "threadIdx.x"),
        "bind.shared-sum",
        "each iteration of k_inner_skewed do a part of a sum, so that its threads would join their",
    )


def test_plain_parts_of_a_sum_may_be_done_by_threads() -> None:
    sch = matmul_schedule(5, 1, 13)
    _, inner = sch.split(sch.loops("C")[2], [None, 4])
    assert sch.check("bind", inner, "threadIdx.x")
