"""Functions of integers and saturating conversions, against the op table and the interpreter."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from helpers.kernels import buffer, elementwise, kernel_of
from numpy.typing import NDArray

from tvmlab.codegen.interpreter import interpret
from tvmlab.ir import CALLS, Call, Expr, For, Load, Program, Ramp, Store, Var, const, parse, to_text
from tvmlab.support import DType, UnsupportedOp

Array = NDArray[Any]
INTEGERS = ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"]
LANES = 8


def edges(dtype: str) -> Array:
    """The ends of a type, small numbers, and some at random."""
    low, high = int(DType.of(dtype).min_value), int(DType.of(dtype).max_value)
    near = [low, low + 1, high, high - 1, high // 2, 0, 1, 2, 3, 5, 10]
    near += [-1, -2, -3] if low < 0 else [high - 2, high // 3, 7]
    rng = np.random.default_rng(0)
    some = rng.integers(low, high, 18, dtype=dtype, endpoint=True)
    return np.concatenate([np.array(near, dtype), some])


def call(op: str, *arrays: Array, lanes: int = LANES) -> Array:
    result = CALLS[op].result_type(DType.of(arrays[0].dtype.name)).name

    def function(*x: Any) -> Expr:
        return Call(op, x, CALLS[op].result_type(x[0].dtype))

    got = elementwise(function, list(arrays), result, lanes)
    np.testing.assert_array_equal(got, interpreted(op, lanes, result, *arrays))
    return got


def interpreted(op: str, lanes: int, result: str, *arrays: Array) -> Array:
    """The same program through the interpreter, after a round trip through its text."""
    i = Var("i")
    ins = [buffer(f"a{n}", a.size, a.dtype.name) for n, a in enumerate(arrays)]
    out = buffer("out", arrays[0].size, result)
    index: Expr = i if lanes == 1 else Ramp(i * lanes, const(1), lanes)
    values = tuple(Load(b, (index,)) for b in ins)
    value = Call(op, values, CALLS[op].result_type(values[0].dtype))
    body = For(i, const(arrays[0].size // lanes), Store(out, (index,), value))
    program = parse(to_text(Program("f", (*ins, out), body)))
    output = np.zeros(arrays[0].size, result)
    interpret(program, [*arrays, output])
    return output


@pytest.mark.parametrize("lanes", [1, LANES])
@pytest.mark.parametrize("dtype", INTEGERS)
def test_bit_counts(dtype: str, lanes: int) -> None:
    x = edges(dtype)
    bits = 8 * x.dtype.itemsize
    plain = [int(v) & ((1 << bits) - 1) for v in x]
    np.testing.assert_array_equal(call("popcount", x, lanes=lanes), [v.bit_count() for v in plain])
    np.testing.assert_array_equal(
        call("clz", x, lanes=lanes), [bits - v.bit_length() for v in plain]
    )


@pytest.mark.parametrize("lanes", [1, LANES])
@pytest.mark.parametrize("dtype", INTEGERS)
def test_powers_wrap(dtype: str, lanes: int) -> None:
    x, y = (m.ravel() for m in np.meshgrid(edges(dtype), edges(dtype)))
    got = call("pow", x, y, lanes=lanes)
    width = 8 * x.dtype.itemsize
    for a, b, c in zip(x.tolist(), y.tolist(), got.tolist(), strict=True):
        wanted = pow(a, b, 1 << width) if b >= 0 else (a ** (b % 2) if abs(a) == 1 else 0)
        assert (c - wanted) % (1 << width) == 0, (a, b, c)


@pytest.mark.parametrize("lanes", [1, LANES])
def test_q_multiply_shift(lanes: int) -> None:
    rng = np.random.default_rng(0)
    x, y = (rng.integers(-(2**31), 2**31, 64, dtype=np.int32) for _ in range(2))
    q = np.full(64, 31, np.int32)
    shift = rng.integers(-6, 1, 64, dtype=np.int32)
    got = call("q_multiply_shift", x, y, q, shift, lanes=lanes)
    exact = x.astype(object) * y.astype(object) * 2.0 ** shift.astype(float) / 2.0**31
    wanted = [math.floor(v + 0.5) for v in exact]
    inside = [-(2**31) <= w < 2**31 for w in wanted]
    np.testing.assert_array_equal(got[inside], np.array(wanted)[inside].astype(np.int32))
    shift = rng.integers(0, 5, 64, dtype=np.int32)
    call("q_multiply_shift", x >> 8, y, q, shift, lanes=lanes)


@pytest.mark.parametrize("dest", INTEGERS)
@pytest.mark.parametrize("source", [*INTEGERS, "float16", "bfloat16", "float32", "float64"])
def test_saturating_casts(source: str, dest: str) -> None:
    low, high = int(DType.of(dest).min_value), int(DType.of(dest).max_value)
    if source in INTEGERS:
        x = edges(source)
        wanted = [min(max(int(v), low), high) for v in x]
    else:
        with np.errstate(all="ignore"):
            x = np.array(
                [0.0, -0.0, 1.5, -1.5, 127.0, 128.5, -129.0, 255.0, 256.0, 300.0, 1e4, -1e4,
                 2.0**31, -(2.0**31), 2.0**63, -(2.0**63), 2.0**64, 1e30, -1e30,
                 math.inf, -math.inf, math.nan, 0.99, -0.99],
                DType.of(source).numpy,
            )  # fmt: skip
        wanted = [
            0 if v != v else high if v == math.inf else low if v == -math.inf
            else min(max(int(v), low), high)
            for v in x.astype(float).tolist()
        ]  # fmt: skip
    for lanes in (1, LANES):
        got = call(f"saturate_{dest}", x, lanes=lanes)
        assert got.dtype == np.dtype(dest)
        assert got.tolist() == wanted


def test_what_is_not_defined_says_so() -> None:
    x = edges("int16")
    with pytest.raises(UnsupportedOp, match="fmod is not defined for int16"):
        elementwise(lambda a, b: Call("fmod", (a, b), a.dtype), [x, x], "int16")
    with pytest.raises(UnsupportedOp, match="popcount is not defined for float32"):
        elementwise(lambda a: Call("popcount", (a,), a.dtype), [np.zeros(8, np.float32)], "float32")
    wide = np.zeros(8, np.int64)
    with pytest.raises(UnsupportedOp, match="q_multiply_shift is not defined for int64"):
        call("q_multiply_shift", wide, wide, wide, wide)


def test_small_powers_are_products() -> None:
    x = np.array([0.1, -3.7, 1e20, -0.0, math.inf, math.nan, 5e-20, 7], np.float32)
    i, a, out = Var("i"), buffer("A", 8), buffer("B", 8)
    with np.errstate(all="ignore"):
        wants = {0: np.ones_like(x), 1: x, 2: x * x, 3: x * x * x, 4: (x * x) * (x * x), -1: 1 / x}
    for exponent, wanted in wants.items():
        load = Load(a, (i,))
        value = Call("pow", (load, const(float(exponent), "float32")), load.dtype)
        kernel = kernel_of(Program("f", (a, out), For(i, const(8), Store(out, (i,), value))))
        got = np.zeros(8, np.float32)
        kernel(x, got)
        np.testing.assert_array_equal(got, wanted)
