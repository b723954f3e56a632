"""Random schedules for devices: no race and the right values at each stage of lowering."""

from __future__ import annotations

import numpy as np
import pytest
from helpers.random_schedules import random_steps
from helpers.workloads import random_workload

from tvmlab.codegen import interpret
from tvmlab.ir import Barrier, Block, For, parse, structural_equal, to_text, walk
from tvmlab.lower import LowerOptions, lower
from tvmlab.schedule import Schedule
from tvmlab.target import Target

TARGET = Target.of("cpu -mtriple=x86_64-linux-gnu -mcpu=x86-64-v3")


def check_seed(seed: int) -> Schedule:
    """Take random steps, and run the program scheduled and after each pass."""
    rng = np.random.default_rng(seed)
    workload = random_workload(rng)
    sch = Schedule([*workload.outputs], args=[*workload.inputs, *workload.outputs])
    random_steps(sch, rng, 3 + seed % 12, device=True)
    assert structural_equal(parse(to_text(sch.program)), sch.program)
    want = [np.asarray(w) for w in workload.reference(*workload.arrays(seed))]
    lowered = lower(sch.program, TARGET, LowerOptions(verify=True))
    changed = [step for step in lowered.record if step.changed]
    for name, program in [("schedule", sch.program), *((s.name, s.after) for s in changed)]:
        outputs = [np.full(w.shape, 113, w.dtype) for w in want]
        interpret(program, [*workload.arrays(seed), *outputs])
        for got, expected in zip(outputs, want, strict=True):
            text = f"seed {seed}, {name}\n{to_text(sch.program)}\n{to_text(program)}"
            np.testing.assert_allclose(got, expected, rtol=1e-5, atol=1e-5, err_msg=text)
    for node in walk(lowered.program.body):
        assert not isinstance(node, Block)
        assert not (isinstance(node, For) and node.kind == "virtual")
    return sch


@pytest.mark.parametrize("seed", range(40))
def test_random_device_schedules(seed: int) -> None:
    check_seed(seed)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(1000, 1600))
def test_many_random_device_schedules(seed: int) -> None:
    check_seed(seed)


def test_the_random_schedules_do_use_threads() -> None:
    kinds: set[str] = set()
    waits = False
    for seed in range(40, 80):
        program = check_seed(seed).program
        kinds |= {n.kind for n in walk(program.body) if isinstance(n, For)}
        waits |= any(isinstance(n, Barrier) for n in walk(lower(program, TARGET).program.body))
        if waits and {"thread", "virtual"} <= kinds:
            return
    pytest.fail("no random schedule lets threads wait for each other")
