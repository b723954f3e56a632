"""Functions of the op table: values, accuracy, and the ends of their ranges."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from helpers.kernels import buffer, elementwise
from numpy.typing import NDArray

from tvmlab.codegen.llvm import compile_module, emit_module
from tvmlab.ir import CALLS, Call, Expr, For, Load, Program, Ramp, Store, Var, const
from tvmlab.support import DType, UnsupportedOp
from tvmlab.target import Target

erf = np.vectorize(math.erf, otypes=[np.float64])
EXACT: dict[str, Any] = {name: info.meaning for name, info in CALLS.items()} | {"erf": erf}
SPECIAL = [
    0.0,
    -0.0,
    1.0,
    -1.0,
    np.inf,
    -np.inf,
    np.nan,
    1e-39,
    -1e-39,
    1e30,
    -1e30,
    200,
    -200,
    0.5,
]


def call(op: str, *arrays: NDArray[Any], lanes: int = 16) -> NDArray[Any]:
    def function(*x: Any) -> Expr:
        return Call(op, x, x[0].dtype)

    return elementwise(function, list(arrays), arrays[0].dtype.name, lanes)


@pytest.mark.parametrize("lanes", [1, 16])
@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
@pytest.mark.parametrize("op", ["sqrt", "floor", "ceil", "trunc", "round", "abs"])
def test_exact_functions(op: str, dtype: str, lanes: int) -> None:
    with np.errstate(all="ignore"):
        x = np.array([*SPECIAL, 2.5, -2.5], DType.of(dtype).numpy)
        want = EXACT[op](x)
    got = call(op, x, lanes=lanes)
    np.testing.assert_array_equal(got.astype(float), want.astype(float))


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("op", ["exp", "tanh", "log"])
def test_half_types_are_computed_in_single(op: str, dtype: str) -> None:
    x = np.linspace(0.1, 4, 32).astype(DType.of(dtype).numpy)
    want = EXACT[op](x.astype(np.float64)).astype(x.dtype)
    got = call(op, x).astype(float)
    np.testing.assert_allclose(
        got, want.astype(float), rtol=2.0**-7 if dtype == "bfloat16" else 1e-3
    )


@pytest.mark.parametrize("lanes", [1, 8])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("op", ["sin", "cos", "tan", "rsqrt"])
def test_other_functions_of_one_argument(op: str, dtype: str, lanes: int) -> None:
    x = np.random.default_rng(2).uniform(0.1, 1000, 64).astype(dtype)
    np.testing.assert_allclose(
        call(op, x, lanes=lanes), EXACT[op](x), rtol=1e-5 if dtype == "float32" else 1e-13
    )


@pytest.mark.parametrize("lanes", [1, 8])
def test_pow_fma_isnan(lanes: int) -> None:
    rng = np.random.default_rng(3)
    x, y, z = (rng.uniform(0.1, 5, 64).astype(np.float32) for _ in range(3))
    np.testing.assert_allclose(call("pow", x, y, lanes=lanes), x**y, rtol=1e-6)
    exact = x.astype(np.float64) * y + z
    np.testing.assert_array_equal(call("fma", x, y, z, lanes=lanes), exact.astype(np.float32))
    x[::5] = np.nan
    got = elementwise(
        lambda a: Call("isnan", (a,), DType("bool", 1, a.dtype.lanes)), [x], "bool", lanes
    )
    np.testing.assert_array_equal(got, np.isnan(x))


@pytest.mark.parametrize("dtype", ["int8", "uint16", "int64"])
def test_integers(dtype: str) -> None:
    low = int(DType.of(dtype).min_value)
    x = np.array([low, low + 1, 5, 0, 1, 2, 3, 4], dtype)
    for op in ("abs", "floor", "round"):
        np.testing.assert_array_equal(call(op, x, lanes=8), np.abs(x) if op == "abs" else x)
    np.testing.assert_array_equal(call("fma", x, x, x, lanes=8), x * x + x)
    with pytest.raises(UnsupportedOp, match=f"exp is not defined for {dtype}"):
        call("exp", x, lanes=1)


def test_vector_functions_stay_vectors() -> None:
    ba, bb, i = buffer("A", 256), buffer("B", 256), Var("i")
    index = Ramp(i * 16, const(1), 16)
    for op in ("exp", "log", "tanh", "erf"):
        value = Call(op, (Load(ba, (index,)),), DType.of("float32x16"))
        program = Program("f", (ba, bb), For(i, const(16), Store(bb, (index,), value)))
        asm = compile_module(emit_module(program, Target.host()), Target.host()).asm
        assert f"{op}f" not in asm
