"""Histories written and read again, steps repeated elsewhere, and one step left out."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from helpers.random_schedules import random_steps
from helpers.schedules import matmul_schedule, tiled_schedule

from tvmlab.ir import structural_hash
from tvmlab.schedule import (
    Schedule,
    program_without,
    read_history,
    repeat_steps,
    write_history,
)
from tvmlab.support import ParseError, ScheduleError


def branched() -> Schedule:
    """Two branches from the second state, names, and the first branch's end as the current one."""
    sch = matmul_schedule(16, 16, 16)
    i, j, k = sch.loops("C")
    outer, _ = sch.split(i, [None, 4])
    sch.checkpoint("split")
    sch.vectorize(j)
    sch.goto("split")
    sch.reorder(k, j)
    sch.parallel(outer)
    return sch


def again(schedule: Schedule) -> Schedule:
    return read_history(json.loads(json.dumps(write_history(schedule.history)))).schedule


@pytest.mark.parametrize("make", [branched, tiled_schedule])
def test_a_history_that_is_read_again_has_the_same_states(make: Any) -> None:
    schedule = make()
    copy = again(schedule)
    assert len(copy.history) == len(schedule.history)
    for old, new in zip(schedule.history.nodes.values(), copy.history.nodes.values(), strict=True):
        assert structural_hash(old.program) == structural_hash(new.program)
        assert (old.label, old.parent) == (new.label, new.parent)
    assert copy.history.current == schedule.history.current
    assert write_history(again(copy).history) == write_history(copy.history)


def test_states_whose_step_is_not_known_are_left_out_and_named() -> None:
    data = write_history(branched().history)
    data["nodes"][2]["steps"][-1]["op"] = "my_own_step"
    data["current"] = 2
    read = read_history(data)
    assert len(read.schedule.history) == len(data["nodes"]) - 1
    assert read.schedule.history.current == 0
    (problem,) = read.problems
    assert problem.startswith("state 2 is left out: ")
    assert "my_own_step" in problem


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (7, "not the history"),
        ({"format": "tvmlab-history", "version": 2}, "reads version 1"),
        ({"format": "tvmlab-history", "version": 1}, "no program"),
    ],
)
def test_what_is_no_history_is_refused(data: object, words: str) -> None:
    with pytest.raises(ParseError, match=words):
        read_history(data)


def test_a_state_without_a_parent_is_refused() -> None:
    data = write_history(branched().history)
    data["nodes"][1]["parent"] = None
    with pytest.raises(ParseError, match="no parent"):
        read_history(data)


def test_a_step_is_picked_for_another_branch() -> None:
    sch = branched()
    vectorize = sch.history.nodes[2].step
    assert vectorize is not None
    sch.goto("split")
    repeat_steps(sch, [vectorize])
    assert [r.kind for r in sch.loops("C")] == ["serial", "serial", "vectorized", "serial"]


def test_a_step_about_what_is_not_there_says_so_and_changes_nothing() -> None:
    sch = branched()
    parallel = sch.history.node.step
    assert parallel is not None
    sch.goto(0)
    with pytest.raises(ScheduleError, match="loop i_outer, and here there is no loop of that name"):
        repeat_steps(sch, [parallel])
    assert sch.history.current == 0


def test_a_program_without_one_of_its_steps() -> None:
    sch = branched()
    assert structural_hash(program_without(sch.history, sch.history.current)) == structural_hash(
        sch.history.nodes[3].program
    )
    without_reorder = program_without(sch.history, 3)
    names = [v.name for v in Schedule(without_reorder).history.nodes[0].program.params]
    assert names
    with pytest.raises(ScheduleError, match="i_outer"):
        program_without(sch.history, 1)
    with pytest.raises(ScheduleError, match="not on the way"):
        program_without(sch.history, 2)


@pytest.mark.parametrize("seed", range(12))
def test_random_histories_are_written_read_and_shortened(seed: int) -> None:
    schedule = matmul_schedule(8, 12, 6)
    random_steps(schedule, np.random.default_rng(seed), 6)
    copy = again(schedule)
    assert [structural_hash(n.program) for n in copy.history.path()] == [
        structural_hash(n.program) for n in schedule.history.path()
    ]
    path = schedule.history.path()
    if len(path) > 1:
        program = program_without(schedule.history, path[-1].id)
        assert structural_hash(program) == structural_hash(path[-2].program)
