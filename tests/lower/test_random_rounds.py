"""Random schedules of programs whose intermediates keep values from round to round."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from helpers.random_loops import arrays_for
from helpers.random_rounds import random_rounds
from helpers.random_schedules import random_steps
from numpy.typing import NDArray

from tvmlab.codegen import interpret
from tvmlab.driver import build
from tvmlab.ir import For, Program, walk
from tvmlab.lower import LowerOptions, lower
from tvmlab.schedule import Schedule
from tvmlab.target import Target

HOST = Target.host()


def outputs(
    source: Program, run: Callable[[list[NDArray[Any]]], object], seed: int
) -> NDArray[Any]:
    given, result = arrays_for(source, seed)
    result[...] = -77
    run([given, result])
    return result


def check_seed(seed: int, *, device: bool) -> Schedule:
    """Take random steps; the schedule, each pass and the machine code give the same values."""
    rng = np.random.default_rng(seed)
    source = random_rounds(rng)
    schedule = Schedule(source)
    random_steps(schedule, rng, 1 + seed % 9, device=device)

    def interpreted(program: Program) -> NDArray[Any]:
        return outputs(source, lambda arrays: interpret(program, arrays), seed)

    want = interpreted(source)
    lowered = lower(schedule.program, HOST, LowerOptions(verify=True))
    changed = [(step.name, step.after) for step in lowered.record if step.changed]
    for name, program in [("schedule", schedule.program), *changed]:
        text = f"seed {seed}, {name}\n{source}\n{schedule.program}\n{program}"
        np.testing.assert_array_equal(interpreted(program), want, err_msg=text)
    if not any(isinstance(n, For) and n.kind == "thread" for n in walk(schedule.program.body)):
        exe = build(schedule, cache=False)
        got = outputs(source, lambda arrays: exe(*arrays), seed)
        np.testing.assert_array_equal(got, want, err_msg=f"seed {seed}\n{schedule.program}")
    return schedule


@pytest.mark.parametrize("seed", range(16))
def test_random_schedules_of_rounds(seed: int) -> None:
    check_seed(seed, device=seed % 2 == 1)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(1000, 1400))
def test_many_random_schedules_of_rounds(seed: int) -> None:
    check_seed(seed, device=seed % 2 == 1)


def test_the_schedules_do_run_tasks_side_by_side() -> None:
    kinds: set[str] = set()
    for seed in range(100, 180):
        program = check_seed(seed, device=seed % 2 == 1).program
        kinds |= {n.kind for n in walk(program.body) if isinstance(n, For)}
        if {"parallel", "thread", "vectorized"} <= kinds:
            return
    raise AssertionError(f"80 random schedules have loops of these kinds only: {kinds}")
