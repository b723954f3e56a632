"""Arithmetic of every element type against NumPy, scalar and in vectors of odd and wide sizes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from helpers.kernels import buffer, elementwise, run_program
from numpy.typing import NDArray

from tvmlab.ir import (
    Binary,
    BinaryOp,
    Broadcast,
    Compare,
    CompareOp,
    Expr,
    For,
    Load,
    Logic,
    Not,
    Program,
    Ramp,
    Select,
    Stmt,
    Store,
    Var,
    cast,
    const,
    seq,
)
from tvmlab.support import DType, UnsupportedOp
from tvmlab.target import Target

INTS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
FLOATS = ["float16", "bfloat16", "float32", "float64"]
LANES = [1, 16, 48]
SIZE = 48 * 8


def sample(dtype: str, seed: int = 0) -> NDArray[Any]:
    """Random values with the corners of the type among them."""
    rng, kind = np.random.default_rng(seed), DType.of(dtype)
    if kind.is_bool:
        return rng.integers(0, 2, SIZE).astype(bool)
    if kind.is_int:
        low, high = int(kind.min_value), int(kind.max_value)
        values = rng.integers(low, high, SIZE, dtype=kind.numpy, endpoint=True)
        values[:6] = [low, high, 0, 1, low, 5]
        values[6:40] = rng.integers(0, 7, 34)
        rng.shuffle(values)
        return values
    values = rng.normal(size=SIZE) * 100
    values[:8] = [0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, -1.0, 1e-40]
    rng.shuffle(values)
    return values.astype(kind.numpy)


def same(got: NDArray[Any], want: NDArray[Any]) -> None:
    assert got.dtype == want.dtype
    if got.dtype.kind in "fV":
        got, want = got.astype(np.float64), want.astype(np.float64)
    np.testing.assert_array_equal(got, want)


def op(name: BinaryOp) -> Callable[[Expr, Expr], Expr]:
    return lambda a, b: Binary(name, a, b)


@pytest.mark.parametrize("lanes", LANES)
@pytest.mark.parametrize("dtype", INTS)
def test_integer_arithmetic_wraps(dtype: str, lanes: int) -> None:
    a, b = sample(dtype, 1), sample(dtype, 2)
    value = elementwise(
        lambda x, y: Binary("bitxor", (x + y) * x, Binary("min", x - y, Binary("max", x, y))),
        [a, b],
        dtype,
        lanes,
    )
    with np.errstate(over="ignore"):
        want = ((a + b) * a) ^ np.minimum(a - b, np.maximum(a, b))
    same(value, want)


@pytest.mark.parametrize("lanes", [1, 16])
@pytest.mark.parametrize("dtype", INTS)
@pytest.mark.parametrize("name", ["floordiv", "floormod", "truncdiv", "truncmod"])
def test_division_of_any_two_integers(name: BinaryOp, dtype: str, lanes: int) -> None:
    a, b = sample(dtype, 3), sample(dtype, 4)
    if name.startswith("floor"):
        with np.errstate(all="ignore"):
            want = np.floor_divide(a, b) if name == "floordiv" else np.remainder(a, b)
    else:
        bits = a.dtype.itemsize * 8
        exact = [_truncated(int(x), int(y), name) % (1 << bits) for x, y in zip(a, b, strict=True)]
        want = np.array(exact, f"uint{bits}").view(dtype)
    same(elementwise(op(name), [a, b], dtype, lanes), want)


def _truncated(x: int, y: int, name: str) -> int:
    if y == 0:
        return 0
    quotient = abs(x) // abs(y) * (1 if (x < 0) == (y < 0) else -1)
    return quotient if name == "truncdiv" else x - quotient * y


@pytest.mark.parametrize("divisor", [1, 2, 8, 3, 7, 100, -1, -2, -5])
@pytest.mark.parametrize("name", ["floordiv", "floormod"])
@pytest.mark.parametrize("dtype", ["int8", "int32", "int64"])
def test_division_by_a_literal(dtype: str, name: BinaryOp, divisor: int) -> None:
    a = sample(dtype, 5)
    value = elementwise(lambda x: Binary(name, x, const(divisor, dtype)), [a], dtype)
    with np.errstate(over="ignore"):
        function = np.floor_divide if name == "floordiv" else np.remainder
        same(value, function(a, a.dtype.type(divisor)))


@pytest.mark.parametrize("lanes", LANES)
@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("name", ["add", "sub", "mul", "div"])
def test_float_arithmetic_is_rounded_once(name: BinaryOp, dtype: str, lanes: int) -> None:
    a, b = sample(dtype, 6), sample(dtype, 7)
    function = {"add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.divide}[name]
    with np.errstate(all="ignore"):
        want = function(a, b)
    same(elementwise(op(name), [a, b], dtype, lanes), want)


@pytest.mark.parametrize("lanes", [1, 16])
@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("name", ["min", "max"])
def test_extremes_keep_nan(name: BinaryOp, dtype: str, lanes: int) -> None:
    a, b = sample(dtype, 8), sample(dtype, 9)
    function = np.minimum if name == "min" else np.maximum
    with np.errstate(all="ignore"):
        same(elementwise(op(name), [a, b], dtype, lanes), function(a, b))
        limit = a.dtype.type(2.5)
        got = elementwise(lambda x: Binary(name, x, splat(2.5, dtype, lanes)), [a], dtype, lanes)
        same(got, function(a, limit))


def splat(value: float, dtype: str, lanes: int) -> Expr:
    scalar = const(value, dtype)
    return scalar if lanes == 1 else Broadcast(scalar, lanes)


@pytest.mark.parametrize("name", ["floordiv", "floormod"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_float_division_rounds_down(name: BinaryOp, dtype: str) -> None:
    a, b = sample(dtype, 10), sample(dtype, 11)
    a[:6], b[:6] = [7, -7, 7, -7, 5, 5], [2, 2, -2, -2, np.inf, -np.inf]
    with np.errstate(all="ignore"):
        want = np.floor_divide(a, b) if name == "floordiv" else np.remainder(a, b)
    same(elementwise(op(name), [a, b], dtype), want)


@pytest.mark.parametrize("lanes", [16])
@pytest.mark.parametrize("dtype", ["int8", "uint64", *FLOATS, "bool"])
@pytest.mark.parametrize("name", ["eq", "ne", "lt", "le", "gt", "ge"])
def test_comparisons(name: CompareOp, dtype: str, lanes: int) -> None:
    a, b = sample(dtype, 12), sample(dtype, 13)
    b[::3] = a[::3]
    function = {
        "eq": np.equal, "ne": np.not_equal, "lt": np.less,
        "le": np.less_equal, "gt": np.greater, "ge": np.greater_equal,
    }[name]  # fmt: skip
    with np.errstate(invalid="ignore"):
        want = function(a, b)
    same(elementwise(lambda x, y: Compare(name, x, y), [a, b], "bool", lanes), want)


@pytest.mark.parametrize("lanes", [1, 16])
def test_logic(lanes: int) -> None:
    a, b = sample("bool", 14), sample("bool", 15)
    got = elementwise(lambda x, y: Logic("or", Logic("and", x, Not(y)), y), [a, b], "bool", lanes)
    same(got, (a & ~b) | b)


@pytest.mark.parametrize("lanes", [1, 16])
@pytest.mark.parametrize("dtype", ["int8", "uint8", "int32", "uint64"])
@pytest.mark.parametrize("name", ["shl", "shr"])
def test_shifts_by_any_amount(name: BinaryOp, dtype: str, lanes: int) -> None:
    a = sample(dtype, 16)
    b = (np.arange(SIZE) % (a.dtype.itemsize * 8 + 3)).astype(dtype)
    want = np.left_shift(a, b) if name == "shl" else np.right_shift(a, b)
    same(elementwise(op(name), [a, b], dtype, lanes), want)


def _in_range(source: str, dest: str) -> NDArray[Any]:
    """Values whose conversion is defined."""
    values = sample(source, 17)
    kind = DType.of(dest)
    if DType.of(source).is_float and kind.is_int:
        values = np.nan_to_num(values.astype(np.float64), nan=0, posinf=9, neginf=-9)
        low = -100 if kind.kind == "int" else 0
        values = np.clip(values, low, 100).astype(DType.of(source).numpy)
    return values


@pytest.mark.parametrize("lanes", [1, 16])
@pytest.mark.parametrize("source", [*INTS, *FLOATS, "bool"])
def test_casts(source: str, lanes: int) -> None:
    """To every type at once: one kernel with as many outputs."""
    dests = [*INTS, *FLOATS, "bool"]
    i = Var("i")
    index: Expr = i if lanes == 1 else Ramp(i * lanes, const(1), lanes)
    ins = [buffer(f"in_{d}", SIZE, source) for d in dests]
    outs = [buffer(f"out_{d}", SIZE, d) for d in dests]
    stores: list[Stmt] = [
        Store(o, (index,), cast(Load(a, (index,)), o.dtype.with_lanes(lanes)))
        for a, o in zip(ins, outs, strict=True)
    ]
    given = [_in_range(source, d) for d in dests]
    got = [np.zeros(SIZE, o.dtype.numpy) for o in outs]
    body = For(i, const(SIZE // lanes), seq(stores))
    run_program(Program("casts", (*ins, *outs), body), *given, *got)
    for array, result in zip(given, got, strict=True):
        with np.errstate(all="ignore"):
            same(result, array.astype(result.dtype))


def test_float_to_narrow_integer_wraps() -> None:
    a = np.array([-1.0, 255.0, 256.5, 300.0], np.float32)
    got = elementwise(lambda x: cast(x, "uint8"), [a], "uint8")
    same(got, np.array([255, 255, 0, 44], np.uint8))


def test_double_to_half_is_rounded_once() -> None:
    # Between two halves, a hair above the tie: rounding through float32 would lose the hair.
    a = np.array([1 + 2.0**-11 + 2.0**-40, 1 + 2.0**-11, -(1 + 2.0**-11 + 2.0**-40)])
    got = elementwise(lambda x: cast(x, "float16"), [a], "float16")
    same(got, a.astype(np.float16))


def test_bfloat_rounding_of_every_pattern() -> None:
    bits = (np.arange(1 << 18, dtype=np.uint32) << 14) | 0x1FFF
    a = np.concatenate([bits, bits + 1]).view(np.float32)
    got = elementwise(lambda x: cast(x, DType.of("bfloat16x16")), [a], "bfloat16", 16)
    with np.errstate(all="ignore"):
        same(got, a.astype(ml_dtypes.bfloat16))


@pytest.mark.parametrize("lanes", [1, 16])
@pytest.mark.parametrize("dtype", ["float32", "int16", "bool"])
def test_select(dtype: str, lanes: int) -> None:
    c, a, b = sample("bool", 18), sample(dtype, 19), sample(dtype, 20)
    same(elementwise(Select, [c, a, b], dtype, lanes), np.where(c, a, b))


def test_unknown_operation_is_refused() -> None:
    a = sample("bool")
    with pytest.raises(UnsupportedOp, match="sub is not defined for bool"):
        elementwise(op("sub"), [a, a], "bool")


@pytest.mark.parametrize("lanes", [1, 16])
@pytest.mark.parametrize("spec", ["cpu", "llvm -mcpu=x86-64-v2"])
def test_every_half_survives_widening_and_narrowing(spec: str, lanes: int) -> None:
    target = Target.of(spec)
    if not target.arch.startswith("x86_64"):
        pytest.skip("needs an x86-64 host")
    halves = np.arange(1 << 16, dtype=np.uint32).astype(np.uint16).view(np.float16)
    single = DType("float", 32, lanes)
    wide = elementwise(lambda x: cast(x, single), [halves], "float32", lanes, target)
    # All halves, what lies in the middle between two, and the neighbors of both.
    with np.errstate(all="ignore"):
        same(wide, halves.astype(np.float32))
        middle = (wide + np.roll(wide, -1)) / 2
        values = np.concatenate([wide, middle, *(np.nextafter(middle, s) for s in (-9e9, 9e9))])
        want = values.astype(np.float16)
    half = DType("float", 16, lanes)
    same(elementwise(lambda x: cast(x, half), [values], "float16", lanes, target), want)


@pytest.mark.parametrize("spec", ["llvm -mcpu=x86-64-v3", "llvm -mcpu=x86-64-v2"])
def test_narrower_machines_run_wide_vectors(spec: str) -> None:
    target = Target.of(spec)
    if not Target.host().arch.startswith("x86_64"):
        pytest.skip("needs an x86-64 host")
    a, b = sample("float32", 21), sample("float32", 22)
    with np.errstate(all="ignore"):
        want = a * b + a
    got = elementwise(lambda x, y: x * y + x, [a, b], "float32", 16, target)
    np.testing.assert_allclose(got, want, rtol=1e-6)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_literals_are_exact(dtype: str) -> None:
    rng = np.random.default_rng(23)
    numbers = [0.1, -2.5, 1e30, 5e-324, 1e-45, 3.0, 123456789.0, *rng.normal(size=20)]
    numbers += [float("inf"), float("-inf"), -0.0, float("nan")]
    zero = np.zeros(1, np.int32)
    for number in numbers:
        got = elementwise(lambda _, number=number: const(number, dtype), [zero], dtype)
        want = np.array([number]).astype(dtype)
        same(got, want)
        assert np.signbit(got[0]) == np.signbit(want[0]) or np.isnan(number)
