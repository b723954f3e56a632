"""Derivatives of a formula by the tensor elements that it reads."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tvmlab.ir import (
    Binary,
    Call,
    Cast,
    Compare,
    Expr,
    Load,
    Logic,
    Not,
    Select,
    children,
    conjunction,
    const,
    is_const,
    structural_key,
    walk,
)
from tvmlab.ir import cast as cast_expr
from tvmlab.support import UnsupportedOp

Wanted = Callable[[Load], bool]
Rule = Callable[[Sequence[Expr], Expr], Sequence[Expr | None]]
"""From the arguments and the value of a function to its derivative by each argument."""


@dataclass(frozen=True, slots=True)
class Partial:
    """How a formula changes with one element that it reads, at the points where `where` holds."""

    read: Load
    value: Expr
    where: Expr


def partials(formula: Expr, wanted: Wanted) -> list[Partial]:
    """The derivatives of a formula by the wanted elements, equal reads taken together.

    Raises
    ------
    UnsupportedOp
        If a function has no derivative that is known.
    """
    found: list[Partial] = []
    _visit(formula, const(1, formula.dtype), (), wanted, found)
    merged: dict[tuple[object, ...], Partial] = {}
    for part in found:
        key = (part.read.buffer, *structural_key(part.read.indices), *structural_key(part.where))
        old = merged.get(key)
        value = part.value if old is None else old.value + part.value
        merged[key] = Partial(part.read, value, part.where)
    return list(merged.values())


def times(a: Expr, b: Expr) -> Expr:
    """A product, left out where one side is 1."""
    if is_const(a, 1):
        return b
    return a if is_const(b, 1) else a * b


def _visit(
    e: Expr, by: Expr, where: tuple[Expr, ...], wanted: Wanted, found: list[Partial]
) -> None:
    """Go down to the reads; `by` is the derivative of the whole formula by `e`."""
    if isinstance(e, Load):
        if wanted(e):
            found.append(Partial(e, by, conjunction(where)))
        return
    if not _reads(e, wanted):
        return
    if isinstance(e, Select):
        for part, holds in ((e.then, e.cond), (e.otherwise, Not(e.cond))):
            _visit(part, by, (*where, holds), wanted, found)
    elif isinstance(e, Cast):
        if e.dtype.is_float and e.value.dtype.is_float:
            _visit(e.value, cast_expr(by, e.value.dtype), where, wanted, found)
    elif isinstance(e, (Binary, Call)):
        parts = (e.a, e.b) if isinstance(e, Binary) else e.args
        factors = _of_binary(e) if isinstance(e, Binary) else _of_call(e)
        for part, factor in zip(parts, factors, strict=True):
            if factor is not None:
                _visit(part, times(by, factor), where, wanted, found)
    elif not isinstance(e, (Compare, Logic, Not)):
        raise UnsupportedOp(f"te.gradient does not know the derivative of {type(e).__name__}")


def _reads(e: Expr, wanted: Wanted) -> bool:
    if not any(isinstance(n, Load) and wanted(n) for n in walk(e)):
        return False
    return any(True for _ in children(e))


def _of_binary(e: Binary) -> Sequence[Expr | None]:
    one = const(1, e.dtype)
    if not e.dtype.is_float:
        return None, None
    match e.op:
        case "add":
            return one, one
        case "sub":
            return one, const(-1, e.dtype)
        case "mul":
            return e.b, e.a
        case "div":
            return one / e.b, -e.a / (e.b * e.b)
        case "min" | "max":
            first = e.a <= e.b if e.op == "min" else e.a >= e.b
            zero = const(0, e.dtype)
            return Select(first, one, zero), Select(first, zero, one)
        case "floormod" | "truncmod":
            return one, None
        case _:
            return None, None


def _of_call(e: Call) -> Sequence[Expr | None]:
    if not e.dtype.is_float or e.op in _FLAT:
        return [None] * len(e.args)
    rule = _RULES.get(e.op)
    if rule is None:
        raise UnsupportedOp(
            f"te.gradient does not know the derivative of te.{e.op}",
            hint="known are " + ", ".join(sorted({*_RULES, *_FLAT})),
        )
    return rule(e.args, e)


def _call(op: str, *args: Expr) -> Expr:
    return Call(op, args, args[0].dtype)


_FLAT = frozenset({"floor", "ceil", "trunc", "round", "nearbyint", "isnan", "isinf", "isfinite"})


def _power(args: Sequence[Expr], y: Expr) -> Sequence[Expr]:
    base, exponent = args
    return exponent * _call("pow", base, exponent - 1.0), y * _call("log", base)


def _atan2(args: Sequence[Expr], _: Expr) -> Sequence[Expr]:
    y, x = args
    square = x * x + y * y
    return x / square, -y / square


_RULES: dict[str, Rule] = {
    "exp": lambda a, y: [y],
    "exp2": lambda a, y: [y * math.log(2)],
    "exp10": lambda a, y: [y * math.log(10)],
    "expm1": lambda a, y: [y + 1.0],
    "log": lambda a, y: [1.0 / a[0]],
    "log2": lambda a, y: [1.0 / (a[0] * math.log(2))],
    "log10": lambda a, y: [1.0 / (a[0] * math.log(10))],
    "log1p": lambda a, y: [1.0 / (a[0] + 1.0)],
    "sqrt": lambda a, y: [0.5 / y],
    "rsqrt": lambda a, y: [y / a[0] * -0.5],
    "sin": lambda a, y: [_call("cos", a[0])],
    "cos": lambda a, y: [-_call("sin", a[0])],
    "tan": lambda a, y: [y * y + 1.0],
    "asin": lambda a, y: [_call("rsqrt", 1.0 - a[0] * a[0])],
    "acos": lambda a, y: [-_call("rsqrt", 1.0 - a[0] * a[0])],
    "atan": lambda a, y: [1.0 / (a[0] * a[0] + 1.0)],
    "sinh": lambda a, y: [_call("cosh", a[0])],
    "cosh": lambda a, y: [_call("sinh", a[0])],
    "tanh": lambda a, y: [1.0 - y * y],
    "asinh": lambda a, y: [_call("rsqrt", a[0] * a[0] + 1.0)],
    "acosh": lambda a, y: [_call("rsqrt", a[0] * a[0] - 1.0)],
    "atanh": lambda a, y: [1.0 / (1.0 - a[0] * a[0])],
    "erf": lambda a, y: [_call("exp", -(a[0] * a[0])) * (2 / math.sqrt(math.pi))],
    "abs": lambda a, y: [_call("copysign", const(1, y.dtype), a[0])],
    "copysign": lambda a, y: [
        Select((a[0] >= 0.0), const(1, y.dtype), const(-1, y.dtype))
        * _call("copysign", const(1, y.dtype), a[1]),
        None,
    ],
    "pow": _power,
    "atan2": _atan2,
    "hypot": lambda a, y: [a[0] / y, a[1] / y],
    "fma": lambda a, y: [a[1], a[0], const(1, y.dtype)],
    "fmod": lambda a, y: [const(1, y.dtype), -_call("trunc", a[0] / a[1])],
}
