"""A computation at other sizes, against the same one made anew, and what its steps do there."""

from __future__ import annotations

import pytest
from helpers.schedules import matmul_schedule

import tvmlab as tl
from tvmlab import te, topi
from tvmlab.inspect import Resizer, what_if_report
from tvmlab.ir import Program, structural_hash
from tvmlab.schedule import Schedule
from tvmlab.support import UserError
from tvmlab.target import Target


def softmax(rows: int, columns: int) -> Program:
    return tl.Schedule(topi.softmax(te.placeholder((rows, columns), name="x"))).program


def conv(size: int, channels: int, padding: int = 0) -> Program:
    data = te.placeholder((1, channels, size, size), name="data")
    weight = te.placeholder((8, channels, 3, 3), name="weight")
    return tl.Schedule(topi.conv2d(data, weight, 2, padding, 1, "NCHW")).program


@pytest.mark.parametrize("sizes", [(20, 9, 10), (8, 1, 64), (3, 9, 7)])
def test_a_product_is_that_of_the_other_sizes(sizes: tuple[int, int, int]) -> None:
    resizer = Resizer(matmul_schedule(8, 9, 10).program)
    assert [s.value for s in resizer.sizes] == [8, 9, 10]
    names = [s.name for s in resizer.sizes]
    resized = resizer.program(dict(zip(names, sizes, strict=True)))
    assert structural_hash(resized) == structural_hash(matmul_schedule(*sizes).program)


def test_sizes_are_followed_through_all_blocks() -> None:
    resizer = Resizer(softmax(8, 100))
    assert [(s.name, s.value) for s in resizer.sizes] == [("i", 8), ("j", 100)]
    assert structural_hash(resizer.program({"i": 5, "j": 64})) == structural_hash(softmax(5, 64))


def test_data_grow_with_the_windows_that_slide_over_them() -> None:
    resized = Resizer(conv(13, 4)).program({"k": 4, "l": 4, "rc": 6})
    assert structural_hash(resized) == structural_hash(conv(9, 6))


def test_a_formula_that_holds_a_size_says_so() -> None:
    resizer = Resizer(conv(13, 4, padding=1))
    with pytest.raises(UserError, match="compares an index with a fixed number"):
        resizer.program({"vk": 9})
    # Channels are padded by nothing.
    resized = resizer.program({"rc": 3})
    assert structural_hash(resized) == structural_hash(conv(13, 3, padding=1))


def test_sizes_that_are_not_there() -> None:
    resizer = Resizer(matmul_schedule(8, 8, 8).program)
    with pytest.raises(UserError, match="there is no size 'q'"):
        resizer.program({"q": 3})
    with pytest.raises(UserError, match="must be at least 1"):
        resizer.program({"i": 0})
    n = te.var("n")
    x = te.placeholder((n,), name="x")
    with pytest.raises(UserError, match="known only at run time already"):
        Resizer(tl.Schedule(te.compute((n,), lambda i: x[i] + 1.0, name="y")).program)


def report(schedule: Schedule, **sizes: int) -> dict[str, tuple[str, str]]:
    found = what_if_report(schedule, sizes, Target.host(), lambda _: None)
    facts = {fact.label: (fact.now, fact.then) for fact in found.facts}
    return facts | {"taken": (str(found.taken), found.refused)}


def test_the_steps_are_taken_there_and_the_tail_is_told() -> None:
    schedule = matmul_schedule(24, 16, 16)
    i, j, _ = schedule.loops("C")
    _, inner = schedule.split(j, [None, 8])
    schedule.vectorize(inner)
    schedule.split(i, [None, 12])
    facts = report(schedule, i=28)
    assert facts["taken"] == ("3", "")
    assert facts["loops with a remark"] == ("none", "i_outer: 28 / 12, last one 4")
    assert facts["operations"] == (f"{2 * 24 * 16 * 16:,}", f"{2 * 36 * 16 * 16:,}")
    assert len(schedule.trace) == 3


def test_a_step_that_does_not_work_there_is_named() -> None:
    schedule = matmul_schedule(8, 8, 8)
    i, j, _ = schedule.loops("C")
    schedule.split(j, [None, 4])
    schedule.peel(i, 5)
    taken, refused = report(schedule, i=3)["taken"]
    assert taken == "1"
    assert refused.startswith("peel i")
