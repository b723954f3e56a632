"""Random programs, tails and guards: interpreting before and after each pass gives the same."""

from __future__ import annotations

from typing import Any

import numpy as np
from helpers.random_programs import arguments_for, programs
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from tvmlab.codegen import interpret
from tvmlab.ir import Program, to_text
from tvmlab.lower import LowerOptions, lower
from tvmlab.target import Target

TARGETS = (
    Target.of("cpu -mtriple=x86_64-linux-gnu -mcpu=x86-64-v4"),
    Target.of("cpu -mtriple=x86_64-linux-gnu -mcpu=x86-64-v3"),
    Target.of("cpu -mtriple=aarch64-linux-gnu"),
)


def run(program: Program, seed: int) -> list[NDArray[Any]]:
    arrays = arguments_for(program, seed)
    interpret(program, arrays)
    return arrays


@settings(max_examples=100, deadline=None)
@given(programs(), st.sampled_from(TARGETS), st.sampled_from((1, 16)), st.integers(0, 99))
def test_each_pass_keeps_the_meaning(
    program: Program, target: Target, max_chunks: int, seed: int
) -> None:
    want = run(program, seed)
    lowered = lower(program, target, LowerOptions(verify=True, max_chunks=max_chunks))
    for step in lowered.record:
        if step.changed:
            arrays = arguments_for(program, seed)
            interpret(step.after, arrays)
            for got, expected in zip(arrays, want, strict=True):
                text = f"{step.name}\n{to_text(step.before)}\n{to_text(step.after)}"
                np.testing.assert_array_equal(got, expected, err_msg=text)
