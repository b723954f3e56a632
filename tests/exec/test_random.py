"""Random programs under random schedules: the interpreter, machine code and NumPy must agree."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from helpers.random_schedules import random_steps
from helpers.workloads import Workload, random_workload
from numpy.typing import NDArray

from tvmlab.codegen import interpret
from tvmlab.driver import build
from tvmlab.ir import Program, parse, structural_equal, to_text, verify
from tvmlab.lower import lower
from tvmlab.schedule import Schedule
from tvmlab.target import Target

QUICK_SEEDS = range(40)
SLOW_SEEDS = range(1000, 1600)


def results(workload: Workload) -> list[NDArray[Any]]:
    """Fresh output arrays, full of a value that no computation leaves behind by luck."""
    made: list[NDArray[Any]] = []
    for tensor in workload.outputs:
        shape = tensor.const_shape
        assert shape is not None
        made.append(np.full(shape, 113, tensor.dtype.numpy))
    return made


def run_interpreted(program: Program, workload: Workload, seed: int) -> list[NDArray[Any]]:
    outputs = results(workload)
    interpret(program, [*workload.arrays(seed), *outputs])
    return outputs


def assert_equal(got: list[NDArray[Any]], want: list[NDArray[Any]], what: str) -> None:
    for a, b in zip(got, want, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-5, err_msg=what)


def check_seed(seed: int, steps: int) -> None:
    rng = np.random.default_rng(seed)
    workload = random_workload(rng)
    schedule = Schedule([*workload.outputs], args=[*workload.inputs, *workload.outputs])
    random_steps(schedule, rng, steps)
    text = f"seed {seed}\n{schedule.trace.to_python()}\n{schedule}"

    verify(schedule.program)
    assert structural_equal(parse(to_text(schedule.program)), schedule.program), text
    again = Schedule.replay(
        [*workload.outputs],
        schedule.trace.to_json(),
        args=[*workload.inputs, *workload.outputs],
    )
    assert structural_equal(again.program, schedule.program), text
    fresh = Schedule([*workload.outputs], args=[*workload.inputs, *workload.outputs])
    exec(schedule.trace.to_python(), {"sch": fresh})
    assert structural_equal(fresh.program, schedule.program), text

    inputs = workload.arrays(seed)
    want = [np.asarray(w) for w in workload.reference(*inputs)]
    assert_equal(run_interpreted(schedule.program, workload, seed), want, text)

    lowered = lower(schedule.program, Target.host()).program
    outputs = results(workload)
    interpret(lowered, [*inputs, *outputs])
    assert_equal(outputs, want, f"lowered\n{text}\n{to_text(lowered)}")

    outputs = results(workload)
    build(schedule)(*inputs, *outputs)
    assert_equal(outputs, want, f"compiled\n{text}\n{to_text(lowered)}")


@pytest.mark.parametrize("seed", QUICK_SEEDS)
def test_random_schedule(seed: int) -> None:
    check_seed(seed, steps=seed % 12)


@pytest.mark.slow
@pytest.mark.parametrize("seed", SLOW_SEEDS)
def test_many_random_schedules(seed: int) -> None:
    check_seed(seed, steps=seed % 16)
