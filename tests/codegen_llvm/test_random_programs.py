"""Machine code against the interpreter: random programs over all element types, bit by bit."""

from __future__ import annotations

import numpy as np
import pytest
from helpers.random_programs import QUICK, arguments_for, programs
from hypothesis import given
from hypothesis import strategies as st

from tvmlab.codegen import interpret
from tvmlab.codegen.llvm import (
    EmitOptions,
    FastMath,
    compile_module,
    emit_module,
    kernel_signature,
)
from tvmlab.ir import Program, to_text
from tvmlab.lower import lower
from tvmlab.runtime import Kernel
from tvmlab.target import Target

# Without contraction every operation is rounded by itself, as the interpreter does it.
EXACT = EmitOptions(FastMath(contract=False))


def check(program: Program, seed: int, target: Target) -> None:
    lowered = lower(program, target).program
    compiled = compile_module(emit_module(lowered, target, EXACT), target)
    kernel = Kernel(compiled.object_bytes, kernel_signature(lowered, like=program))
    got, want = arguments_for(program, seed), arguments_for(program, seed)
    kernel(*got)
    interpret(program, want)
    text = f"seed {seed}\n{to_text(program)}\n{to_text(lowered)}"
    for a, b in zip(got, want, strict=True):
        np.testing.assert_array_equal(a.astype(float), b.astype(float), err_msg=text)


@QUICK
@given(programs(), st.integers(0, 100))
def test_llvm_agrees_with_the_interpreter(program: Program, seed: int) -> None:
    check(program, seed, Target.host())


@pytest.mark.skipif(Target.host().arch != "x86_64", reason="needs an x86-64 host")
@QUICK
@given(programs(), st.integers(0, 100))
def test_so_does_code_for_an_older_machine(program: Program, seed: int) -> None:
    check(program, seed, Target.of("llvm -mcpu=x86-64-v2"))
