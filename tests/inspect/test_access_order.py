"""The order of accesses: loops, tails, cut loops, sums, conditions."""

from __future__ import annotations

import numpy as np
import pytest

from tvmlab import te
from tvmlab.inspect import access_order
from tvmlab.schedule import Schedule
from tvmlab.support import UserError


def transposed(rows: int, columns: int) -> Schedule:
    a = te.placeholder((columns, rows), name="A")
    return Schedule(te.compute((rows, columns), lambda i, j: a[j, i], name="B"))


def test_a_nest_runs_row_by_row_and_reads_columns() -> None:
    sch = transposed(2, 3)
    assert access_order(sch, "B").tolist() == [[0, 0], [0, 1], [0, 2], [1, 0], [1, 1], [1, 2]]
    reads = access_order(sch, "A", "read")
    assert reads.tolist() == [[0, 0], [1, 0], [2, 0], [0, 1], [1, 1], [2, 1]]


def test_tiles_with_tails_follow_each_other() -> None:
    sch = transposed(5, 7)
    i, j = sch.loops("B")
    sch.tile(i, j, 2, 4)
    wanted = [
        [row, column]
        for top in (0, 2, 4)
        for left in (0, 4)
        for row in range(top, min(top + 2, 5))
        for column in range(left, min(left + 4, 7))
    ]
    assert access_order(sch, "B").tolist() == wanted


def test_parts_of_a_cut_loop_run_one_after_another() -> None:
    sch = transposed(6, 2)
    i, j = sch.loops("B")
    sch.reorder(j, i)
    before = access_order(sch, "B")
    sch.peel(i, 1, 2)
    np.testing.assert_array_equal(access_order(sch, "B"), before)


def test_a_sum_starts_each_element_and_comes_back_to_it() -> None:
    a = te.placeholder((2, 3), name="A")
    over = te.reduce_axis(3, "k")
    sch = Schedule(te.compute((2,), lambda i: te.sum(a[i, over], axis=over), name="B"))
    i, k = sch.loops("B")
    assert access_order(sch, "B")[:, 0].tolist() == [0] * 4 + [1] * 4
    sch.reorder(k, i)
    assert access_order(sch, "B")[:, 0].tolist() == [0, 0, 1, 1, 0, 1, 0, 1]
    assert access_order(sch, "B", "read")[:, 0].tolist() == [0, 1] * 3


def test_only_the_chosen_side_of_a_condition_is_read() -> None:
    a = te.placeholder((3,), name="A")
    padded = te.compute((5,), lambda i: te.if_then_else(te.all(i > 0, i < 4), a[i - 1], 0.0), "P")
    assert access_order(Schedule(padded), "A", "read")[:, 0].tolist() == [0, 1, 2]


def test_a_buffer_of_one_element() -> None:
    a = te.placeholder((2,), name="A")
    k = te.reduce_axis(2, "k")
    sch = Schedule(te.compute((), lambda: te.sum(a[k], axis=k), name="B"))
    assert access_order(sch, "B").shape == (3, 0)


def test_refusals() -> None:
    sch = transposed(2, 2)
    with pytest.raises(UserError, match="no buffer 'X'") as caught:
        access_order(sch, "X")
    assert caught.value.hint == "it has A, B"
    with pytest.raises(UserError, match="too many iterations"):
        access_order(transposed(4000, 4000), "B")
    index = te.placeholder((4,), dtype="int32", name="I")
    data = te.placeholder((9,), name="A")
    gathered = Schedule(te.compute((4,), lambda i: data[index[i]], name="B"))
    with pytest.raises(UserError, match="depends on data"):
        access_order(gathered, "A", "read")
