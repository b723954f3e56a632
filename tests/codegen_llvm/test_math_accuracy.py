"""Every mathematical function against better arithmetic: errors, special values, lanes."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from helpers.kernels import elementwise
from numpy.typing import NDArray

from tvmlab.codegen.llvm.math_functions import ERROR_BOUNDS
from tvmlab.ir import CALLS, Call, Expr
from tvmlab.support import DType
from tvmlab.target import Target

Array = NDArray[Any]
AVX2 = Target.of("cpu -mtriple=x86_64-linux-gnu -mcpu=x86-64-v3")
BINARY = ("atan2", "pow", "hypot", "fmod", "copysign", "nextafter")
SPECIAL = [
    0.0, -0.0, 1, -1, math.inf, -math.inf, math.nan, 0.5, -0.5, 2, -2, 3, -3, 1e-40, -1e-40, 1e-310,
    5e-324, 1e30, -1e30, 1e300, -1e300, 100.5, -100.5, 2.5, -2.5, 1.5, 1e10, 1e22, 0.1, -0.1, 88.8,
    -104,
]  # fmt: skip


def call(
    op: str, *arrays: Array, lanes: int = 16, result: str = "", target: Target | None = None
) -> Array:
    def function(*x: Any) -> Expr:
        return Call(op, x, CALLS[op].result_type(x[0].dtype))

    return elementwise(function, list(arrays), result or arrays[0].dtype.name, lanes, target)


def exact(op: str, *arrays: Array) -> Array:
    """The value in extended precision."""
    with np.errstate(all="ignore"):
        wide = [a.astype(np.longdouble) for a in arrays]
        return CALLS[op].meaning(*wide)


def values(dtype: str, count: int, seed: int) -> Array:
    """Numbers of all magnitudes, and of those where the functions do something."""
    rng = np.random.default_rng(seed)
    bits = np.uint32 if dtype == "float32" else np.uint64
    parts = [rng.integers(0, np.iinfo(bits).max, count, dtype=bits).view(dtype)]
    parts[0][np.isnan(parts[0])] = 1.0  # signalling ones would make NumPy warn
    parts += [rng.uniform(-a, a, count).astype(dtype) for a in (1e-3, 1, 2, 5, 20, 100, 800, 1e4)]
    return rng.permutation(np.concatenate(parts))


def errors(got: Array, wanted: Array) -> float:
    """The largest distance in units in the last place; infinities and NaN must be the same."""
    with np.errstate(all="ignore"):
        near = wanted.astype(got.dtype)
    finite = np.isfinite(near)
    np.testing.assert_array_equal(near[~finite], got[~finite])
    unit = np.spacing(np.abs(near[finite])).astype(np.longdouble)
    return float(np.max(np.abs(got[finite].astype(np.longdouble) - wanted[finite]) / unit))


@pytest.mark.parametrize("target", [None, AVX2], ids=["host", "avx2"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("op", [op for op in ERROR_BOUNDS if op not in ("erf", "ldexp")])
def test_errors_stay_within_the_bounds(op: str, dtype: str, target: Target | None) -> None:
    x = values(dtype, 2000, 1)
    arguments = (x, values(dtype, 2000, 2)) if op in BINARY else (x,)
    found = errors(call(op, *arguments, target=target), exact(op, *arguments))
    assert found <= ERROR_BOUNDS[op][dtype == "float64"]


@pytest.mark.slow
@pytest.mark.parametrize("target", [None, AVX2], ids=["host", "avx2"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("op", [op for op in ERROR_BOUNDS if op not in ("erf", "ldexp", "fmod")])
def test_errors_of_millions_of_values(op: str, dtype: str, target: Target | None) -> None:
    x = values(dtype, 200_000, 3)
    arguments = (x, values(dtype, 200_000, 4)) if op in BINARY else (x,)
    found = errors(call(op, *arguments, target=target), exact(op, *arguments))
    assert found <= ERROR_BOUNDS[op][dtype == "float64"]


@pytest.mark.parametrize("target", [None, AVX2], ids=["host", "avx2"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_errors_of_erf(dtype: str, target: Target | None) -> None:
    rng = np.random.default_rng(0)
    parts = rng.uniform(-6, 6, 3000), rng.uniform(1.0, 1.2, 9000), 10.0 ** rng.uniform(-30, 1, 1008)
    x = np.concatenate(parts).astype(dtype)
    # The C library's value is itself wrong by up to half a unit of float64.
    room = 0.5 if dtype == "float64" else 0.0
    bound = ERROR_BOUNDS["erf"][dtype == "float64"] + room
    assert (
        errors(call("erf", x, target=target), CALLS["erf"].meaning(x.astype(np.float64))) <= bound
    )


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("op", [op for op in ERROR_BOUNDS if op != "ldexp"])
def test_special_values(op: str, dtype: str) -> None:
    with np.errstate(all="ignore"):
        x = np.array(SPECIAL, dtype)
    pairs = np.meshgrid(x, x)
    arguments = tuple(p.ravel() for p in pairs) if op in BINARY else (x,)
    with np.errstate(all="ignore"):
        wanted = CALLS[op].meaning(*arguments).astype(dtype)
    got = call(op, *arguments)
    np.testing.assert_allclose(got, wanted, rtol=1e-5 if dtype == "float32" else 1e-13)
    number = ~np.isnan(wanted)
    np.testing.assert_array_equal(np.signbit(got[number]), np.signbit(wanted[number]))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("op", [op for op in ERROR_BOUNDS if op != "ldexp"])
def test_lanes_do_not_change_results(op: str, dtype: str) -> None:
    x = np.random.default_rng(1).uniform(0.01, 5, 48).astype(dtype)
    x[::7] *= 1e9
    arguments = (x, x[::-1].copy()) if op in BINARY else (x,)
    one = call(op, *arguments, lanes=1)
    for lanes in (3, 16, 24, 48):
        np.testing.assert_array_equal(call(op, *arguments, lanes=lanes), one)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_ldexp_is_exact(dtype: str) -> None:
    rng = np.random.default_rng(0)
    with np.errstate(all="ignore"):
        x = np.concatenate([values(dtype, 300, 5), np.array(SPECIAL, dtype)])
    x = x[: x.size // 16 * 16]
    n = rng.integers(-2300, 2300, x.size).astype(np.int32)
    n[::3] = rng.integers(-160, 160, n[::3].size)
    n[:2] = (2**31 - 1, -(2**31))
    with np.errstate(all="ignore"):
        wanted = np.ldexp(x, n)
    np.testing.assert_array_equal(call("ldexp", x, n), wanted)


@pytest.mark.parametrize("lanes", [1, 16])
@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
@pytest.mark.parametrize("op", ["copysign", "nextafter", "round", "nearbyint", "isinf", "isfinite"])
def test_functions_of_bits_are_exact(op: str, dtype: str, lanes: int) -> None:
    kind = DType.of(dtype).numpy
    with np.errstate(all="ignore"):
        x = np.array([*SPECIAL, 0.49999997, -0.49999997, 8388609, 1.5, -1.5, 3.5, 7, -7] * 2, kind)
    arguments = (x, np.roll(x, 9)) if op in BINARY else (x,)
    result = "bool" if op.startswith("is") else dtype
    got = call(op, *arguments, lanes=lanes, result=result)
    with np.errstate(all="ignore"):
        wanted = CALLS[op].meaning(*arguments)
    np.testing.assert_array_equal(got.astype(float), wanted.astype(float))


def test_round_goes_away_from_zero_and_nearbyint_to_even() -> None:
    x = np.array([0.5, 1.5, 2.5, -0.5, -1.5, -2.5, 0.49999997, -0.49999997], np.float32)
    np.testing.assert_array_equal(call("round", x, lanes=8), [1, 2, 3, -1, -2, -3, 0, 0])
    np.testing.assert_array_equal(call("nearbyint", x, lanes=8), [0, 2, 2, 0, -2, -2, 0, 0])
