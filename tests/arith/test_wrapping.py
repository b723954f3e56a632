"""Simplification never ignores that integers wrap: brute force over narrow types and edges."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator

import numpy as np
import pytest

from tvmlab.arith import Bounds, bound_of, prove, simplify
from tvmlab.ir import (
    Binary,
    BinaryOp,
    Buffer,
    Cast,
    Compare,
    CompareOp,
    Const,
    Expr,
    Load,
    Select,
    Var,
    compare,
    const,
    to_text,
    wrap_int,
)
from tvmlab.support import DType

OPS: tuple[BinaryOp, ...] = (
    "add", "sub", "mul", "floordiv", "floormod", "truncdiv", "truncmod", "min", "max",
    "bitand", "shl", "shr",
)  # fmt: skip
COMPARISONS: tuple[CompareOp, ...] = ("eq", "ne", "lt", "le", "gt", "ge")


def edges(dtype: DType) -> list[int]:
    low, high = int(dtype.min_value), int(dtype.max_value)
    found = {low, low + 1, high - 1, high, 0, 1, 2, 3, 7}
    return sorted(found | ({-1, -2, -3} if low < 0 else {high // 2}))


def plain(op: str, a: int, b: int) -> int:
    """The operation over the integers; division by zero and odd shifts must not be asked for."""
    quotient = a // b if "div" in op or "mod" in op else 0
    cut = quotient + 1 if quotient < 0 and quotient * b != a else quotient
    table: dict[str, Callable[[], int]] = {
        "add": lambda: a + b, "sub": lambda: a - b, "mul": lambda: a * b,
        "floordiv": lambda: quotient, "floormod": lambda: a - quotient * b,
        "truncdiv": lambda: cut, "truncmod": lambda: a - cut * b,
        "min": lambda: min(a, b), "max": lambda: max(a, b), "bitand": lambda: a & b,
        "shl": lambda: a << b, "shr": lambda: a >> b,
    }  # fmt: skip
    return table[op]()


def symbol(dtype: str) -> Expr:
    """An unknown of a type; for int64 it is data, since variables of that type are indices.

    Index arithmetic is assumed not to overflow (and calls check sizes and scalars for it).
    """
    if dtype != "int64":
        return Var("x", DType.of(dtype))
    return Load(Buffer("A", (const(1),), DType.of(dtype)), (const(0),))


def value(e: Expr, var: Expr, x: int) -> int | None:
    """The machine's value of an expression; None where it has none."""
    if e is var or isinstance(e, (Var, Load)):
        return x
    match e:
        case Const():
            return int(e.value)
        case Cast():
            inner = value(e.value, var, x)
            return None if inner is None else wrap_int(inner, e.dtype)
        case Binary():
            a, b = value(e.a, var, x), value(e.b, var, x)
            if a is None or b is None:
                return None
            if (b == 0 and ("div" in e.op or "mod" in e.op)) or (
                e.op in ("shl", "shr") and not 0 <= b < e.dtype.bits
            ):
                return None
            return wrap_int(plain(e.op, a, b), e.dtype)
        case Compare():
            a, b = value(e.a, var, x), value(e.b, var, x)
            if a is None or b is None:
                return None
            return int({"eq": a == b, "ne": a != b, "lt": a < b, "le": a <= b, "gt": a > b,
                        "ge": a >= b}[e.op])  # fmt: skip
        case Select():
            chosen = value(e.cond, var, x)
            return None if chosen is None else value(e.then if chosen else e.otherwise, var, x)
        case _:
            raise AssertionError(type(e).__name__)


def trees(var: Expr, outer: BinaryOp) -> Iterator[Expr]:
    """All expressions `(x op c) outer d`, `c op x` within, and their comparisons with d."""
    consts = [Const(v, var.dtype) for v in edges(var.dtype)]
    for inner, c in itertools.product(OPS, consts):
        for first in (Binary(inner, var, c), Binary(inner, c, var)):
            for d in consts:
                yield Binary(outer, first, d)


def check(e: Expr, var: Expr, points: list[int], env: Bounds) -> None:
    short, interval = simplify(e, env), bound_of(e, env)
    proven = e.dtype.is_bool and prove(e, env)
    for x in points:
        wanted = value(e, var, x)
        if wanted is None:
            continue
        got = value(short, var, x)
        assert got == wanted, f"{to_text(e)} -> {to_text(short)} at {x}: {wanted} became {got}"
        assert interval.lo is None or interval.lo <= wanted, to_text(e)
        assert interval.hi is None or wanted <= interval.hi, to_text(e)
        assert not proven or wanted, to_text(e)


RANGES: dict[str, Callable[[int, int], tuple[int, int]]] = {
    "everything": lambda low, high: (low, high),
    "the lowest": lambda low, high: (low, low + 4),
    "the highest": lambda low, high: (high - 4, high),
    "small": lambda low, high: (0, 9),
}


@pytest.mark.parametrize("where", RANGES)
@pytest.mark.parametrize("outer", OPS)
@pytest.mark.parametrize("dtype", ["int8", "uint8", "int64"])
def test_two_operations(dtype: str, outer: BinaryOp, where: str) -> None:
    var = symbol(dtype)
    low, high = RANGES[where](int(var.dtype.min_value), int(var.dtype.max_value))
    near = {*range(low, low + 5), *range(high - 4, high + 1), -1, 0, 1, 2, 3, 100}
    points = sorted(p for p in near if low <= p <= high)
    env = Bounds().assume(compare("ge", var, low)).assume(compare("le", var, high))
    rng = np.random.default_rng(len(outer))
    for e in trees(var, outer):
        if rng.random() < 0.06:
            check(e, var, points, env)


@pytest.mark.parametrize("op", COMPARISONS)
@pytest.mark.parametrize("dtype", ["int8", "uint8", "int32", "int64", "uint64"])
def test_comparisons_of_sums(dtype: str, op: CompareOp) -> None:
    var = symbol(dtype)
    consts = [Const(v, var.dtype) for v in edges(var.dtype)]
    points = edges(var.dtype)
    sums: tuple[BinaryOp, ...] = ("add", "sub", "mul")
    for inner, c, d in itertools.product(sums, consts, consts):
        check(Compare(op, Binary(inner, var, c), d), var, points, Bounds())
        check(Compare(op, Binary(inner, c, var), Binary("add", var, d)), var, points, Bounds())


@pytest.mark.parametrize("to", ["int8", "uint8", "int16", "int64", "uint64"])
@pytest.mark.parametrize("source", ["int8", "uint8", "int16", "int64", "uint64"])
def test_casts(source: str, to: str) -> None:
    var, dest = symbol(source), DType.of(to)
    ops: tuple[BinaryOp, ...] = ("add", "sub", "mul", "floordiv")
    inner = [Binary(op, var, Const(v, var.dtype)) for op in ops for v in (1, 3, 100)]
    for e in (var, *inner):
        for op in (*ops, "floormod"):
            check(Binary(op, Cast(e, dest), Const(3, dest)), var, edges(var.dtype), Bounds())
        check(Compare("lt", Cast(e, dest), Const(100, dest)), var, edges(var.dtype), Bounds())
