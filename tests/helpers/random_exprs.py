"""Expressions at random, and an evaluator that shares nothing with the compiler's own."""

from __future__ import annotations

import itertools
import operator
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any, cast

from hypothesis import settings
from hypothesis import strategies as st

from tvmlab.ir import (
    Binary,
    Broadcast,
    Call,
    Cast,
    Compare,
    Const,
    Expr,
    Load,
    Logic,
    Not,
    Ramp,
    Select,
    Var,
    children,
    compare,
    const,
    logic,
    wrap_int,
)
from tvmlab.support import INDEX, DType

Values = Mapping[Var, Any]


def quick(examples: int) -> settings:
    """Settings of a property test: always the same examples, and no limit on a busy machine."""
    return settings(max_examples=examples, deadline=None, derandomize=True, database=None)


class UndefinedError(Exception):
    """The expression has no value here: division by zero, or a shift by a negative amount."""


def evaluate(e: Expr, values: Values) -> Any:
    """The value of an expression, a list of lanes for a vector."""
    return _RULES[type(e)](e, values)


def _load(e: Load, values: Values) -> Any:
    """A value made up from the index, the same each time."""
    index = sum((n + 3) * evaluate(i, values) for n, i in enumerate(e.indices))
    return _convert(index * 31 % 97 - 40, e.dtype)


def _logic(e: Logic, values: Values) -> Any:
    if e.dtype.lanes > 1:
        return _lanewise(e, _both if e.op == "and" else _either, values)
    # Short-circuit as a machine may: the other side must then not matter.
    left = evaluate(e.a, values)
    return left if left == (e.op == "or") else evaluate(e.b, values)


def _both(a: bool, b: bool) -> bool:
    return a and b


def _either(a: bool, b: bool) -> bool:
    return a or b


def _ramp(e: Ramp, values: Values) -> Any:
    base, stride = evaluate(e.base, values), evaluate(e.stride, values)
    return [wrap_int(base + n * stride, e.dtype.scalar) for n in range(e.lanes)]


def _lanewise(e: Expr, fn: Callable[..., Any], values: Values) -> Any:
    """Apply a function to the operands, lane by lane for vectors."""
    operands = [evaluate(cast(Expr, child), values) for child in children(e)]
    if e.dtype.lanes == 1:
        return fn(*operands)
    return [fn(*lane) for lane in zip(*operands, strict=True)]


def _select(e: Select, values: Values) -> Any:
    cond = evaluate(e.cond, values)
    if not isinstance(cond, list):
        return evaluate(e.then if cond else e.otherwise, values)
    then, otherwise = evaluate(e.then, values), evaluate(e.otherwise, values)
    lanes = zip(cast("list[bool]", cond), then, otherwise, strict=True)
    return [a if c else b for c, a, b in lanes]


def _arithmetic(op: str, dtype: DType, a: Any, b: Any) -> Any:
    if op in ("min", "max"):
        return min(a, b) if op == "min" else max(a, b)
    if op == "div" or dtype.is_float:
        table = {"add": lambda: a + b, "sub": lambda: a - b, "mul": lambda: a * b}
        return table[op]() if op in table else a / b
    return wrap_int(integer_op(op, a, b), dtype.scalar)


def integer_op(op: str, a: int, b: int) -> int:
    """An operation on integers of any size."""
    if op in ("floordiv", "floormod", "truncdiv", "truncmod") and b == 0:
        raise UndefinedError
    if op in ("shl", "shr") and not 0 <= b < 64:
        raise UndefinedError
    return _INTEGER[op](a, b)


def _truncdiv(a: int, b: int) -> int:
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


def _truncmod(a: int, b: int) -> int:
    return abs(a) % abs(b) * (1 if a >= 0 else -1)


_INTEGER: dict[str, Callable[[int, int], int]] = {
    "add": int.__add__, "sub": int.__sub__, "mul": int.__mul__,
    "floordiv": int.__floordiv__, "floormod": int.__mod__,
    "truncdiv": _truncdiv, "truncmod": _truncmod,
    "bitand": int.__and__, "bitor": int.__or__, "bitxor": int.__xor__,
    "shl": int.__lshift__, "shr": int.__rshift__,
}  # fmt: skip


def _comparison(op: str, a: Any, b: Any) -> bool:
    return {"eq": a == b, "ne": a != b, "lt": a < b, "le": a <= b, "gt": a > b, "ge": a >= b}[op]


def _convert(value: Any, dtype: DType) -> Any:
    if dtype.is_bool:
        return bool(value)
    if dtype.is_float:
        return float(value)
    return wrap_int(int(value), dtype.scalar)


_RULES: dict[type, Callable[[Any, Values], Any]] = {
    Const: lambda e, _: e.value,
    Var: lambda e, values: values[e],
    Binary: lambda e, v: _lanewise(e, partial(_arithmetic, e.op, e.dtype), v),
    Compare: lambda e, v: _lanewise(e, partial(_comparison, e.op), v),
    Logic: _logic,
    Not: lambda e, v: _lanewise(e, operator.not_, v),
    Select: _select,
    Cast: lambda e, v: _lanewise(e, partial(_convert, dtype=e.dtype), v),
    Load: _load,
    Call: lambda e, v: _lanewise(e, {"abs": abs}[e.op], v),
    Ramp: _ramp,
    Broadcast: lambda e, v: [evaluate(e.value, v)] * e.lanes,
}


def points(ranges: Mapping[Var, tuple[int, int]]) -> Iterator[dict[Var, int]]:
    """All assignments of values to variables; ranges include both ends."""
    axes = [range(lo, hi + 1) for lo, hi in ranges.values()]
    for combination in itertools.product(*axes):
        yield dict(zip(ranges, combination, strict=True))


_MOSTLY = ("add", "sub", "add", "sub", "mul", "floordiv", "floormod", "floordiv", "floormod")
_ALL = (
    *_MOSTLY, "mul", "min", "max", "truncdiv", "truncmod", "bitand", "bitor", "bitxor", "select",
)  # fmt: skip
_NUMBERS = (-8, -6, -4, -3, -2, -1, 1, 2, 3, 4, 6, 8)
_NEEDS_NUMBER = frozenset({"mul", "floordiv", "floormod"})
_COMPARISONS = ("eq", "ne", "lt", "le", "gt", "ge")


@st.composite
def integers_over(
    draw: st.DrawFn,
    variables: tuple[Var, ...],
    dtype: DType = INDEX,
    *,
    size: int = 6,
    wild: bool = True,
) -> Expr:
    """Integer expressions: mostly sums, quotients and remainders; with `wild` all operations."""
    return _Maker(draw, variables, dtype, wild).integer(draw(st.integers(0, size)))


@st.composite
def conditions_over(
    draw: st.DrawFn,
    variables: tuple[Var, ...],
    dtype: DType = INDEX,
    *,
    size: int = 4,
    wild: bool = True,
) -> Expr:
    """Comparisons of such expressions, joined by and, or, not."""
    return _Maker(draw, variables, dtype, wild).condition(draw(st.integers(1, size)))


class _Maker:
    def __init__(
        self, draw: st.DrawFn, variables: tuple[Var, ...], dtype: DType, wild: bool
    ) -> None:
        self._draw = draw
        self._variables = variables
        self._dtype = dtype
        self._low = -8 if dtype.kind == "int" else 0
        self._ops = _ALL if wild else _MOSTLY

    def _choose(self, options: tuple[Any, ...]) -> Any:
        return options[self._draw(st.integers(0, len(options) - 1))]

    def _number(self, nonzero: bool = False) -> Expr:
        if nonzero:
            return const(self._choose(tuple(n for n in _NUMBERS if n >= self._low)), self._dtype)
        return const(self._draw(st.integers(self._low, 9)), self._dtype)

    def integer(self, size: int) -> Expr:
        """An expression of about `size` operations."""
        if size <= 0:
            is_number = self._draw(st.integers(0, 3)) == 0
            return self._number() if is_number else self._choose(self._variables)
        op = self._choose(self._ops)
        left = self._draw(st.integers(0, size - 1))
        if op == "select":
            cond = self.condition(1)
            return Select(cond, self.integer(left // 2), self.integer((size - left) // 2))
        if op in _NEEDS_NUMBER and self._draw(st.integers(0, 9)):
            return Binary(op, self.integer(size - 1), self._number(nonzero=True))
        return Binary(op, self.integer(left), self.integer(size - 1 - left))

    def condition(self, size: int) -> Expr:
        """A condition over about `size` operations."""
        kind = self._draw(st.integers(0, 9))
        if size > 2 and kind < 4:
            joined = "and" if kind % 2 else "or"
            return logic(joined, self.condition(size // 2), self.condition(size // 2))
        if kind == 9 and size > 0:
            return Not(self.condition(size - 1))
        left = self._draw(st.integers(0, size))
        return compare(
            self._choose(_COMPARISONS), self.integer(left), self.integer((size - left) // 2)
        )
