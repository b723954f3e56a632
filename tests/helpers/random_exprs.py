"""Expressions at random, and an evaluator that shares nothing with the compiler's own."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from typing import Any, cast

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
    compare,
    const,
    logic,
    wrap_int,
)
from tvmlab.support import INDEX, DType

Values = Mapping[Var, Any]


class UndefinedError(Exception):
    """The expression has no value here: division by zero, or a shift by a negative amount."""


def evaluate(e: Expr, values: Values) -> Any:
    """The value of an expression, a list of lanes for a vector."""
    match e:
        case Const():
            return e.value
        case Var():
            return values[e]
        case Binary():
            return _lanewise(e, lambda a, b: _arithmetic(e.op, a, b, e.dtype), (e.a, e.b), values)
        case Compare():
            return _lanewise(e, lambda a, b: _comparison(e.op, a, b), (e.a, e.b), values)
        case Logic():
            if e.dtype.lanes == 1:
                # Short-circuit as a machine may: the other side must then not matter.
                left = evaluate(e.a, values)
                return left if left == (e.op == "or") else evaluate(e.b, values)
            both = all if e.op == "and" else any
            return _lanewise(e, lambda a, b: both((a, b)), (e.a, e.b), values)
        case Not():
            return _lanewise(e, lambda a: not a, (e.a,), values)
        case Select():
            return _select(e, values)
        case Cast():
            return _lanewise(e, lambda a: _convert(a, e.dtype), (e.value,), values)
        case Load():
            indices = [evaluate(i, values) for i in e.indices]
            return _convert(hash((e.buffer.name, *map(str, indices))) % 97 - 40, e.dtype)
        case Call() if e.op == "abs":
            return _lanewise(e, abs, e.args, values)
        case Ramp():
            base, stride = evaluate(e.base, values), evaluate(e.stride, values)
            return [wrap_int(base + n * stride, e.dtype.scalar) for n in range(e.lanes)]
        case Broadcast():
            return [evaluate(e.value, values)] * e.lanes
        case _:
            raise AssertionError(f"no rule for {type(e).__name__}")


def _lanewise(e: Expr, fn: Any, args: tuple[Expr, ...], values: Values) -> Any:
    operands = [evaluate(a, values) for a in args]
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


def _arithmetic(op: str, a: Any, b: Any, dtype: DType) -> Any:
    if op in ("min", "max"):
        return min(a, b) if op == "min" else max(a, b)
    if op == "div" or dtype.is_float:
        table = {"add": lambda: a + b, "sub": lambda: a - b, "mul": lambda: a * b}
        return table[op]() if op in table else a / b
    return wrap_int(integer_op(op, a, b), dtype.scalar)


def integer_op(op: str, a: int, b: int) -> int:
    if op in ("floordiv", "floormod", "truncdiv", "truncmod") and b == 0:
        raise UndefinedError
    if op in ("shl", "shr") and not 0 <= b < 64:
        raise UndefinedError
    match op:
        case "add":
            return a + b
        case "sub":
            return a - b
        case "mul":
            return a * b
        case "floordiv":
            return a // b
        case "floormod":
            return a % b
        case "truncdiv":
            return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
        case "truncmod":
            return abs(a) % abs(b) * (1 if a >= 0 else -1)
        case "bitand":
            return a & b
        case "bitor":
            return a | b
        case "bitxor":
            return a ^ b
        case "shl":
            return a << b
        case _:
            assert op == "shr"
            return a >> b


def _comparison(op: str, a: Any, b: Any) -> bool:
    return {"eq": a == b, "ne": a != b, "lt": a < b, "le": a <= b, "gt": a > b, "ge": a >= b}[op]


def _convert(value: Any, dtype: DType) -> Any:
    if dtype.is_bool:
        return bool(value)
    if dtype.is_float:
        return float(value)
    return wrap_int(int(value), dtype.scalar)


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
