"""Generic spaces pack operands, sum in parts, use dot instructions: right, and seen by features."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from helpers.outlines import assert_features_of_schedules
from helpers.tune_programs import matmul
from numpy.typing import NDArray

from tvmlab import te, topi
from tvmlab.driver import build
from tvmlab.intrin import U8S8
from tvmlab.schedule import Schedule
from tvmlab.target import Target
from tvmlab.te import Tensor
from tvmlab.tune import Space, generic_space

_MACHINE = Target.of(
    "llvm -mtriple=x86_64-unknown-linux-gnu -mcpu=znver4 -num-threads=2 "
    "-mattr=+avx512f,+avx512bw,+avx512vl,+avx512vnni,+avx512bf16"
)


def dense(n: int) -> Tensor:
    """A product whose right operand lies by columns."""
    a, b = te.placeholder((n, n), name="A"), te.placeholder((n, n), name="B")
    r = te.reduce_axis(n, "k")
    return te.compute((n, n), lambda i, j: te.sum(a[i, r] * b[j, r], axis=r), name="C")


def channels_last() -> Tensor:
    data = te.placeholder((1, 6, 6, 16), name="A")
    weight = te.placeholder((3, 3, 16, 128), name="W")
    return topi.conv2d(data, weight, 1, 1, layout="NHWC", kernel_layout="HWIO")


OUTPUTS: dict[str, Callable[[], Tensor]] = {
    "matmul": lambda: matmul(128),
    "dense": lambda: dense(128),
    "channels last": channels_last,
    "bytes": lambda: topi.matmul_int8(96, 64, 128)[2],
    "bytes with padding": lambda: topi.matmul_int8(50, 37, 101)[2],
    "bfloat16": lambda: topi.matmul_bf16(64, 64, 128)[2],
}


@pytest.mark.parametrize("name", OUTPUTS)
def test_features_at_once_equal_those_of_each_schedule(name: str) -> None:
    space = generic_space(OUTPUTS[name](), _MACHINE)
    points = space.sample(16, np.random.default_rng(5))
    assert_features_of_schedules(space, points)


def steps_of(space: Space, **wanted: str) -> list[str]:
    """The steps at a random point where some knobs have values that begin so."""
    rng = np.random.default_rng(0)
    for point in space.sample(4000, rng):
        values = space.values(point)
        if all(str(values[name]).startswith(value) for name, value in wanted.items()):
            return [step.primitive for step in space.schedule(point).trace.steps]
    raise AssertionError(f"no point has {wanted}")


def test_operands_are_packed_and_sums_split() -> None:
    space = generic_space(matmul(256), _MACHINE)
    places = {option.split(",")[0] for option in map(str, space.knobs["B.copy"].options)}
    assert places == {"none", "sum", "tile", "whole"}
    assert {"cache_read", "transform_layout"} <= set(steps_of(space, **{"B.copy": "whole, panels"}))
    assert "compute_at" in steps_of(space, **{"B.copy": "tile, panels"})
    assert "rfactor" in steps_of(space, depth="64")
    assert "panels" not in str(space.knobs["A.copy"].options)  # its rows are no vectors


def test_what_operators_do_is_a_point() -> None:
    """Rows that leave a tail, sums in parts, as topi does for large products."""
    space = generic_space(matmul(512), _MACHINE)
    values: dict[str, Any] = {
        "depth": 128, "accumulator": True, "order": "S0 S1 R0 R1 S2", "unroll": "tile",
        "A.copy": "none", "B.copy": "none", "vk": [4, 128], "vi": [1, 43, 12], "vj": [2, 8, 32],
        "middle_backwards": False, "parallel": 2,
    }  # fmt: skip
    found = space.schedule(values)
    assert "where(i_1 * 12 + i < 512)" in str(found)
    assert "C_rf" in str(found)


def random_arrays(outputs: str, rng: np.random.Generator) -> tuple[list[Any], NDArray[Any]]:
    """Inputs of a product, and its result."""
    if outputs in ("matmul", "dense"):
        a, b = rng.integers(-4, 5, (2, 128, 128)).astype(np.float32)
        return [a, b], a @ (b if outputs == "matmul" else b.T)
    if outputs == "bfloat16":
        a, b = rng.integers(-4, 5, (64, 128)), rng.integers(-4, 5, (128, 64))
        return [a.astype(ml_dtypes.bfloat16), b.astype(ml_dtypes.bfloat16)], (a @ b).astype("f4")
    m, n, k = (96, 64, 128) if outputs == "bytes" else (50, 37, 101)
    a, b = rng.integers(0, 255, (m, k), np.uint8), rng.integers(-128, 127, (k, n), np.int8)
    return [a, b], a.astype(np.int32) @ b.astype(np.int32)


@pytest.mark.parametrize("name", [n for n in OUTPUTS if n != "channels last"])
def test_points_compute_the_product(name: str) -> None:
    rng = np.random.default_rng(1)
    space = generic_space(OUTPUTS[name]())
    arrays, expected = random_arrays(name, rng)
    for _ in range(3):
        out = np.zeros_like(expected)
        build(space.random_schedule(rng), cache=False)(*arrays, out)
        np.testing.assert_array_equal(out, expected)


def test_dot_instructions_are_used_where_there_are_any() -> None:
    out = topi.matmul_int8(96, 64, 128)[2]
    assert U8S8.runs_on(_MACHINE)
    assert "tensorize" in steps_of(generic_space(out, _MACHINE), order="S0")
    older = Target.of("llvm -mtriple=x86_64-unknown-linux-gnu -mcpu=haswell")
    assert "vi" in generic_space(out, older).knobs
    assert "vi" in generic_space(matmul(64), _MACHINE).knobs


def test_a_point_with_dot_instructions_is_replayed_elsewhere() -> None:
    """Another process knows only the trace."""
    space = generic_space(topi.matmul_int8(96, 64, 128)[2], _MACHINE)
    schedule = space.schedule(space.sample(1, np.random.default_rng(0))[0])
    code = (
        "import sys; from tvmlab import Schedule, topi\n"
        "c = topi.matmul_int8(96, 64, 128)[2]\n"
        "print(Schedule.replay(c, sys.stdin.read()).program)"
    )
    found = subprocess.run(
        [sys.executable, "-c", code], input=schedule.trace.to_json(), capture_output=True,
        text=True, check=False,
    )  # fmt: skip
    assert found.stdout.strip() == str(schedule.program).strip(), found.stderr
    assert isinstance(schedule, Schedule)
