"""Peeling and partitioning: the loops made, values, references, and what is refused."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from helpers.refusals import assert_refused
from helpers.schedules import matmul_schedule
from helpers.steps import after_steps, ramp

from tvmlab import te
from tvmlab.schedule import Schedule
from tvmlab.support import ScheduleError
from tvmlab.te import Tensor


def row_sums(n: int, m: int) -> Tensor:
    a = te.placeholder((n, m), name="A")
    k = te.reduce_axis(m, "k")
    return te.compute((n,), lambda i: te.sum(a[i, k], axis=k), name="C")


def padded(n: int) -> Tensor:
    a = te.placeholder((n,), name="A")
    return te.compute(
        (n + 4,), lambda i: te.if_then_else(te.all(i >= 2, i < n + 2), a[i - 2], 0.0), name="P"
    )


def scaled_sums(n: int, m: int) -> Tensor:
    s = row_sums(n, m)
    return te.compute((n,), lambda i: s[i] * 0.5, name="D")


def test_peel_keeps_the_loop_for_the_middle_and_returns_all_in_order() -> None:
    sch = Schedule(row_sums(8, 10))
    _, k = sch.loops("C")
    loops = sch.peel(k, first=1, last=2)
    assert [(lp.name, lp.extent) for lp in loops] == [("k_first", 1), ("k", 7), ("k_last", 2)]
    assert k.alive
    assert [b.name for b in sch.blocks()] == ["C_first", "C", "C_last"]
    text = str(sch)
    assert text.count("init()") == 1
    assert "A[vi, vk + 1]" in text
    assert "A[vi, vk + 8]" in text


@pytest.mark.parametrize(("first", "last"), [(1, 0), (0, 3), (2, 2)])
@pytest.mark.parametrize("loop", [0, 1])
def test_peel_keeps_values(first: int, last: int, loop: int) -> None:
    after_steps(row_sums(7, 9), lambda s: s.peel(s.loops("C")[loop], first, last), [ramp(7, 9)])


def test_partition_without_points_makes_the_tail_a_loop_without_conditions() -> None:
    def steps(sch: Schedule) -> None:
        outer, inner = sch.split(sch.loops("C")[0], [None, 8])
        main, rest = sch.partition(outer)
        assert (main.extent, rest.extent) == (12, 1)
        assert outer.alive
        assert inner.alive
        assert "where" not in str(sch)
        assert [lp.extent for lp in sch.loops("C_1")] == [1, 4, 5]

    after_steps(row_sums(100, 5), steps, [ramp(100, 5)])


def test_partition_at_the_conditions_of_padding() -> None:
    def steps(sch: Schedule) -> None:
        loops = sch.partition(sch.loops("P")[0])
        assert [lp.extent for lp in loops] == [2, 30, 2]

    after_steps(padded(30), steps, [ramp(30)])


@pytest.mark.parametrize("points", [[1], [3, 4, 9], [5]])
def test_partition_of_an_inner_digit(points: list[int]) -> None:
    """The parts of an inner loop write every eighth element or so, no run of them."""

    def steps(sch: Schedule) -> None:
        _, inner = sch.split(sch.loops("C")[0], [None, 10])
        sch.partition(inner, points)

    after_steps(row_sums(27, 4), steps, [ramp(27, 4)])


def test_parts_can_be_scheduled_apart() -> None:
    def steps(sch: Schedule) -> None:
        i, _ = sch.loops("C")
        main, rest = sch.partition(i, [16])
        sch.vectorize(main)
        sch.parallel(rest)
        sch.decompose_reduction("C_1", sch.loops("C_1")[1])

    after_steps(row_sums(20, 4), steps, [ramp(20, 4)])


def test_every_part_goes_through_one_write_cache() -> None:
    def steps(sch: Schedule) -> None:
        sch.partition(sch.loops("C")[0], [3])
        sch.cache_write("C")

    after_steps(row_sums(8, 4), steps, [ramp(8, 4)])


def test_a_consumer_does_not_follow_one_part_only() -> None:
    sch = Schedule(scaled_sums(8, 4))
    for loop in sch.partition(sch.loops("C")[0], [3]):
        verdict = sch.check("reverse_compute_at", "D", loop)
        assert (verdict.status, verdict.rule) == ("unknown", "reverse_compute_at.parts")
        assert "several blocks write parts of C" in verdict.reason
    sch.undo()
    outer, inner = sch.split(sch.loops("C")[0], [None, 4])
    sch.peel(inner, 1)
    assert sch.check("reverse_compute_at", "D", outer).rule == "reverse_compute_at.parts"


def test_a_consumer_follows_the_part_that_finishes_the_sum() -> None:
    def steps(sch: Schedule) -> None:
        i, k = sch.loops("C")
        sch.peel(k, 1)
        sch.reverse_compute_at("D", i)

    after_steps(scaled_sums(8, 4), steps, [ramp(8, 4)])


def _sum_over_rows_and_columns() -> Schedule:
    sch = Schedule(row_sums(8, 6))
    i, k = sch.loops("C")
    sch.fuse(i, k)
    return sch


def _fused_cut() -> None:
    sch = _sum_over_rows_and_columns()
    sch.partition(sch.loops("C")[0], [8])


def _peel(first: int, last: int) -> Callable[[], None]:
    def run() -> None:
        sch = Schedule(row_sums(8, 6))
        sch.peel(sch.loops("C")[0], first, last)

    return run


def _peel_the_only_one() -> None:
    sch = Schedule(row_sums(1, 6))
    sch.peel(sch.loops("C")[0], 1)


def _partition(points: list[int]) -> Callable[[], None]:
    def run() -> None:
        sch = Schedule(row_sums(8, 6))
        sch.partition(sch.loops("C")[0], points)

    return run


def _partition_nothing() -> None:
    sch = matmul_schedule(8, 8, 8)
    sch.partition(sch.loops("C")[0])


def _peel_symbolic() -> None:
    n = te.var("n")
    a = te.placeholder((n,), name="A")
    sch = Schedule(te.compute((n,), lambda i: a[i] + 1.0, name="C"))
    sch.peel(sch.loops("C")[0], 1)


def _peel_parallel() -> None:
    sch = matmul_schedule(8, 8, 8)
    i = sch.loops("C")[0]
    sch.parallel(i)
    sch.peel(i, 1)


def _past_the_end() -> None:
    """2 x 2 tiles of 3 make 12, so of 9 rows none is left for the last tile."""
    sch = Schedule(row_sums(9, 4))
    outer, middle, _ = sch.split(sch.loops("C")[0], [2, None, 3])
    sch.peel(sch.fuse(outer, middle), 0, 1)


REFUSALS: list[tuple[Callable[[], None], str, str]] = [
    (_past_the_end, "peel.empty", "from iteration 3 to 3 no block runs"),
    (_fused_cut, "partition.start-value",
     "it could not be told whether block C begins its sums again in the iterations from 8 on"),
    (_peel(0, 0), "peel.count", "from 1 to 7, as the loop has 8"),
    (_peel(4, 4), "peel.count", "cannot peel 4 and 4 iterations off the ends of i"),
    (_peel(-1, 2), "peel.count", "cannot peel -1 and 2"),
    (_peel_the_only_one, "peel.count", "the loop has only one, and one must stay"),
    (_partition([]), "partition.points", "the points must rise, from 1 to 7 at most"),
    (_partition([3, 3]), "partition.points", "cannot partition i at [3, 3]"),
    (_partition([8]), "partition.points", "cannot partition i at [8]"),
    (_partition_nothing, "partition.no-condition", "name the points at which to cut"),
    (_peel_symbolic, "peel.symbolic-extent", "its extent is known only at run time"),
    (_peel_parallel, "peel.annotated", "it is already parallel"),
]  # fmt: skip


@pytest.mark.parametrize(("run", "rule", "text"), REFUSALS, ids=[r[2][:30] for r in REFUSALS])
def test_refusals(run: Callable[[], None], rule: str, text: str) -> None:
    assert_refused(run, rule, text)


def test_points_must_be_whole_numbers() -> None:
    sch = matmul_schedule(8, 8, 8)
    with pytest.raises(ScheduleError, match="points must be a list of whole numbers, not '3'"):
        sch.apply("partition", sch.loops("C")[0], "3")


def test_menu_offers_both() -> None:
    sch = matmul_schedule(10, 8, 8)
    outer, _ = sch.split(sch.loops("C")[0], [None, 4])
    found = {a.primitive: a for a in sch.actions(outer)}
    assert found["peel"].verdict
    assert (found["peel"].args["first"], found["peel"].args["last"]) == (1, 0)
    assert found["partition"].verdict
    assert [p.name for p in found["partition"].params] == ["points"]


def test_a_part_that_goes_on_with_sums_of_another_block_does_not_begin_them_again() -> None:
    """Of a skewed sum cut in two, the second part has no first round of any sum."""
    a, k = te.placeholder((7, 9), name="A"), te.reduce_axis(9, "k")

    def steps(sch: Schedule) -> None:
        i, k = sch.loops("C")
        sch.reorder(k, i)
        sch.partition(sch.skew(k, i, 4))
        sch.peel(k, 4, 0)
        assert "vk=reduce(3, k_first - 1)" in str(sch)

    after_steps(te.compute((7,), lambda i: te.sum(a[i, k], axis=k), name="C"), steps, [ramp(7, 9)])
