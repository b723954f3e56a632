"""Vectors joined to one value: every operation, element type and number of lanes."""

from __future__ import annotations

import numpy as np
import pytest
from helpers.kernels import buffer, run_program

from tvmlab.codegen import interpret
from tvmlab.ir import CALLS, Call, Load, Program, Ramp, Store, const
from tvmlab.support import DType

TYPES = ["int8", "uint8", "int32", "int64", "float16", "bfloat16", "float32", "float64"]


@pytest.mark.parametrize("lanes", [2, 3, 4, 5, 7, 16, 48])
@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("op", ["add", "mul", "min", "max"])
def test_lanes_are_joined(op: str, dtype: str, lanes: int) -> None:
    rng, kind = np.random.default_rng(lanes), DType.of(dtype)
    data = rng.integers(-9 if kind.kind != "uint" else 0, 9, lanes).astype(kind.numpy)
    if op == "mul":
        data = np.where(rng.random(lanes) < 0.3, data, kind.numpy.type(1)).astype(kind.numpy)
    got, meant = np.zeros((2, 1), kind.numpy)
    a, b = buffer("A", data.size, data.dtype.name), buffer("B", 1, data.dtype.name)
    vector = Load(a, (Ramp(const(0), const(1), lanes),))
    joined = Call(f"lanes_{op}", (vector,), kind)
    program = Program("f", (a, b), Store(b, (const(0),), joined))
    run_program(program, data, got)
    interpret(program, [data, meant])
    wide = data.astype(np.float64 if kind.is_float else kind.numpy)
    want = CALLS[f"lanes_{op}"].meaning(wide, dtype=wide.dtype).astype(kind.numpy)
    tolerance = 0.0 if kind.is_int else {16: 0.02}.get(kind.bits, 1e-6)
    for found in (got, meant):
        np.testing.assert_allclose(
            found[0].astype(np.float64), want.astype(np.float64), rtol=tolerance
        )


@pytest.mark.parametrize("op", ["min", "max"])
@pytest.mark.parametrize("place", range(5))
def test_a_nan_is_not_lost(op: str, place: int) -> None:
    data, got = np.arange(5, dtype=np.float32), np.zeros(1, np.float32)
    data[place] = np.nan
    a, b = buffer("A", data.size, data.dtype.name), buffer("B", 1, data.dtype.name)
    vector = Load(a, (Ramp(const(0), const(1), 5),))
    joined = Call(f"lanes_{op}", (vector,), DType.of("float32"))
    run_program(Program("f", (a, b), Store(b, (const(0),), joined)), data, got)
    assert np.isnan(got[0])
