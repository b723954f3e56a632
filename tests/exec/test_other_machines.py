"""Kernels for other processors, run under qemu: schedules against NumPy, programs bit by bit."""

from __future__ import annotations

import numpy as np
import pytest
from helpers.emulator import MACHINES, Emulated, require, run
from helpers.random_programs import QUICK, arguments_for, programs
from helpers.random_schedules import random_steps
from helpers.workloads import random_workload
from hypothesis import given, settings
from hypothesis import strategies as st

from tvmlab import te
from tvmlab.codegen import EmitOptions, FastMath, interpret
from tvmlab.driver import build
from tvmlab.ir import Program, to_text
from tvmlab.schedule import Schedule
from tvmlab.support import RuntimeFailure
from tvmlab.target import Target
from tvmlab.topi import (
    matmul,
    matmul_bf16,
    matmul_int8,
    schedule_dot_matmul,
    schedule_matmul,
)

EXACT = EmitOptions(FastMath(contract=False))
BY_NAME = {machine.name: machine for machine in MACHINES}


@pytest.fixture(params=BY_NAME)
def machine(request: pytest.FixtureRequest) -> Emulated:
    found = BY_NAME[request.param]
    require(found)
    return found


def check_seed(machine: Emulated, seed: int) -> None:
    rng = np.random.default_rng(seed)
    workload = random_workload(rng)
    schedule = Schedule([*workload.outputs], args=[*workload.inputs, *workload.outputs])
    random_steps(schedule, rng, seed % 12)
    inputs = workload.arrays(seed)
    want = [np.asarray(w) for w in workload.reference(*inputs)]
    kinds = [tensor.dtype.numpy for tensor in workload.outputs]
    outputs = [np.full_like(w, 113, kind) for w, kind in zip(want, kinds, strict=True)]
    run(schedule.program, machine, [*inputs, *outputs])
    for got, wanted in zip(outputs, want, strict=True):
        np.testing.assert_allclose(got, wanted, rtol=1e-5, atol=1e-5, err_msg=f"{seed}\n{schedule}")


def test_schedule(machine: Emulated) -> None:
    check_seed(machine, 11)


def test_matmul_by_its_default_schedule(machine: Emulated) -> None:
    m, n, k = 21, 35, 19
    rng = np.random.default_rng(3)
    a, b = (rng.random(shape, np.float32) for shape in ((m, k), (k, n)))
    c = np.full((m, n), np.nan, np.float32)
    run(schedule_matmul(matmul(m, n, k)[2], machine.target).program, machine, [a, b, c])
    np.testing.assert_allclose(c, a @ b, rtol=1e-5)


@pytest.mark.parametrize("left", ["int8", "uint8", "bfloat16"])
def test_dot_instructions_of_arm(left: str) -> None:
    machine = BY_NAME["neon-bf16"]
    require(machine)
    m, n, k = 13, 21, 30
    tensors = matmul_bf16(m, n, k) if left == "bfloat16" else matmul_int8(m, n, k, left)
    rng = np.random.default_rng(5)
    low = 0 if left == "uint8" else -128
    a = rng.integers(low, low + 256, (m, k)).astype(tensors[0].dtype.numpy)
    b = rng.integers(-128, 128, (k, n)).astype(tensors[1].dtype.numpy)
    if left == "bfloat16":  # sums that are exact however they are rounded
        a, b = (np.clip(x.astype(np.float32), -16, 16).astype(x.dtype) for x in (a, b))
    c = np.full((m, n), 77, tensors[2].dtype.numpy)
    sch = schedule_dot_matmul(tensors[2], machine.target)
    run(sch.program, machine, [a, b, c])
    np.testing.assert_array_equal(c, a.astype(c.dtype) @ b.astype(c.dtype))
    instruction = {"int8": "sdot", "uint8": "usdot", "bfloat16": "bfdot"}[left]
    assert f"\t{instruction}\t" in build(sch, target=machine.target).source("asm")


def test_code_for_another_machine_is_not_called() -> None:
    target = Target.of("llvm -mtriple=riscv64-linux-gnu -mattr=+f,+d")
    if Target.host().arch == "riscv64":
        pytest.skip("this machine is one")
    exe = build(schedule_matmul(matmul(4, 4, 4)[2], target), target=target)
    assert exe.kernel.object_bytes.startswith(b"\x7fELF")
    a = np.ones((4, 4), np.float32)
    for use in (exe, exe.time):
        with pytest.raises(RuntimeFailure, match="run here: it is riscv64 code, and") as e:
            use(a, a, a)
        assert "exe.kernel.object_bytes" in str(e.value)


@pytest.mark.slow
@pytest.mark.parametrize("dtype", ["float32", "float64", "float16"])
def test_functions(machine: Emulated, dtype: str) -> None:
    x = te.placeholder((301,), dtype, name="X")
    y = te.compute(
        x.shape, lambda i: te.exp(x[i]) + te.tanh(x[i]) * te.sqrt(te.abs(x[i])), name="Y"
    )
    sch = Schedule(y)
    _, lanes = sch.split(sch.loops("Y")[0], [None, 16])
    sch.vectorize(lanes)
    values = np.linspace(-9, 9, 301).astype(dtype)
    got, want = (np.full(301, 7, dtype) for _ in range(2))
    run(sch.program, machine, [values, got])
    interpret(sch.program, [values, want])
    np.testing.assert_allclose(got, want, rtol=2e-3 if dtype == "float16" else 1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(40))
def test_schedules(machine: Emulated, seed: int) -> None:
    check_seed(machine, seed)


@pytest.mark.slow
@settings(QUICK, max_examples=25)
@given(program=programs(), seed=st.integers(0, 100), name=st.sampled_from(list(BY_NAME)))
def test_programs_bit_by_bit(program: Program, seed: int, name: str) -> None:
    machine = BY_NAME[name]
    require(machine)
    got, want = arguments_for(program, seed), arguments_for(program, seed)
    run(program, machine, got, EXACT)
    interpret(program, want)
    for a, b in zip(got, want, strict=True):
        np.testing.assert_array_equal(a.astype(float), b.astype(float), err_msg=to_text(program))
