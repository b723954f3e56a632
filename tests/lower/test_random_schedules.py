"""Random schedules of random programs: each pass must keep what the program computes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from helpers.random_schedules import random_steps
from helpers.workloads import Workload, random_workload
from numpy.typing import NDArray

from tvmlab.codegen import interpret
from tvmlab.ir import Block, For, Program, to_text, walk
from tvmlab.lower import LowerOptions, lower
from tvmlab.schedule import Schedule
from tvmlab.target import Target

TARGETS = {
    512: Target.of("cpu -mtriple=x86_64-linux-gnu -mcpu=x86-64-v4"),
    128: Target.of("cpu -mtriple=aarch64-linux-gnu"),
}


def outputs_of(program: Program, workload: Workload, seed: int) -> list[NDArray[Any]]:
    """What a program writes, into arrays full of a value that no computation leaves by luck."""
    outputs: list[NDArray[Any]] = []
    for tensor in workload.outputs:
        shape = tensor.const_shape
        assert shape is not None
        outputs.append(np.full(shape, 113, tensor.dtype.numpy))
    interpret(program, [*workload.arrays(seed), *outputs])
    return outputs


def check_seed(seed: int) -> None:
    rng = np.random.default_rng(seed)
    workload = random_workload(rng)
    schedule = Schedule([*workload.outputs], args=[*workload.inputs, *workload.outputs])
    random_steps(schedule, rng, seed % 14)
    want = [np.asarray(w) for w in workload.reference(*workload.arrays(seed))]
    bits = int(rng.choice([128, 512]))
    options = LowerOptions(verify=True, max_chunks=int(rng.choice([1, 16])))
    lowered = lower(schedule.program, TARGETS[bits], options)
    for step in lowered.record:
        if not step.changed:
            continue
        for got, expected in zip(outputs_of(step.after, workload, seed), want, strict=True):
            text = f"seed {seed}, {step.name}\n{to_text(step.before)}\n{to_text(step.after)}"
            np.testing.assert_allclose(got, expected, rtol=1e-5, atol=1e-5, err_msg=text)
    for node in walk(lowered.program.body):
        assert not isinstance(node, Block)
        assert not (isinstance(node, For) and node.kind in ("vectorized", "unrolled"))


@pytest.mark.parametrize("seed", range(60))
def test_each_pass_keeps_the_results(seed: int) -> None:
    check_seed(seed)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(1000, 1600))
def test_each_pass_keeps_the_results_of_many(seed: int) -> None:
    check_seed(seed)
