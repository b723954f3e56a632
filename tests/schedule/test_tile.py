"""Tiling: order and extents of the loops, values, and what is refused."""

from __future__ import annotations

import pytest
from helpers.schedules import matmul_schedule
from helpers.steps import after_steps, ramp

from tvmlab import te
from tvmlab.schedule import RefusedError, Schedule
from tvmlab.support import ScheduleError
from tvmlab.te import Tensor


def product(m: int, n: int, k: int) -> Tensor:
    a = te.placeholder((m, k), name="A")
    b = te.placeholder((k, n), name="B")
    r = te.reduce_axis(k, "k")
    return te.compute((m, n), lambda i, j: te.sum(a[i, r] * b[r, j], axis=r), name="C")


def test_tile_splits_both_loops_and_puts_tiles_outside() -> None:
    sch = matmul_schedule(32, 48, 8)
    i, j, k = sch.loops("C")
    xo, yo, xi, yi = sch.tile(i, j, 8, 16)
    assert [(lp.name, lp.extent) for lp in (xo, yo, xi, yi)] == [
        ("i_outer", 4), ("j_outer", 3), ("i_inner", 8), ("j_inner", 16),
    ]  # fmt: skip
    assert [lp.name for lp in sch.loops("C")] == [lp.name for lp in (xo, yo, xi, yi, k)]
    assert not i.alive


@pytest.mark.parametrize(("fx", "fy"), [(4, 8), (5, 7), (100, 1)])
def test_tile_keeps_values_with_and_without_tails(fx: int, fy: int) -> None:
    after_steps(
        product(13, 18, 6),
        lambda s: s.tile(s.loops("C")[0], s.loops("C")[1], fx, fy),
        [ramp(13, 6), ramp(6, 18)],
    )


def test_tile_of_loops_with_one_between_keeps_that_one_in_its_place() -> None:
    sch = matmul_schedule(8, 8, 8)
    i, j, k = sch.loops("C")
    sch.tile(i, k, 4, 4)
    names = [lp.name for lp in sch.loops("C")]
    assert names == ["i_outer", "k_outer", "j", "i_inner", "k_inner"]
    assert j.alive


def test_tile_refuses_one_loop_twice_and_loops_of_two_nests() -> None:
    sch = matmul_schedule(8, 8, 8)
    i = sch.loops("C")[0]
    with pytest.raises(RefusedError, match="needs two different loops of one nest") as caught:
        sch.tile(i, i, 2, 2)
    assert caught.value.verdict.rule == "tile.same-loop"
    a = te.placeholder((8,), name="A")
    b = te.compute((8,), lambda i: a[i] * 2.0, name="B")
    two = te.compute((8,), lambda i: b[i] + 1.0, name="C")
    chain = Schedule(two)
    assert chain.check("tile", *chain.loops("B"), *chain.loops("C"), 2, 2).rule == "tile.not-nested"


def test_tile_refuses_what_split_refuses() -> None:
    sch = matmul_schedule(8, 8, 8)
    i, j, _ = sch.loops("C")
    assert sch.check("tile", i, j, 0, 2).rule == "split.factors"
    with pytest.raises(ScheduleError, match="fx must be a whole number, not 'four'"):
        sch.apply("tile", i, j, "four", 2)


def test_menu_offers_tiling_with_the_next_loop() -> None:
    sch = matmul_schedule(64, 32, 8)
    i = sch.loops("C")[0]
    action = next(a for a in sch.actions(i) if a.primitive == "tile")
    assert action.title == "tile with j"
    assert action.verdict
    assert (action.args["fx"], action.args["fy"]) == (16, 16)
    assert [p.name for p in action.params] == ["fx", "fy"]
