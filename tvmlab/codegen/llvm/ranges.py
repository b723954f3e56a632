"""Between which values an integer expression lies, as far as loop extents tell.

Enough to know that index arithmetic cannot overflow and that a dividend is not negative, which is
what turns a division into a shift. Cheaper and cruder than `arith`, and never asked to prove more.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import TypeAlias

from tvmlab.ir import Binary, Broadcast, Cast, Const, Expr, Ramp, Select, Var
from tvmlab.support import DType

Range: TypeAlias = tuple[int, int]

UNKNOWN_EXTENT = 1 << 48
"""No loop runs longer and no buffer is larger: addresses have at most 48 bits of user space."""


class Ranges:
    """Ranges of expressions, remembered by node; loop variables are told by `bind`."""

    def __init__(self) -> None:
        self._vars: dict[Var, Range] = {}
        self._known: dict[Expr, Range] = {}

    def bind(self, var: Var, low: int, high: int) -> None:
        """State the values that a variable takes, in the place of what was said before.

        Copies of a loop share its variable, and may have other extents.
        """
        if self._vars.get(var, (low, high)) != (low, high):
            self._known.clear()
        self._vars[var] = (low, high)

    def bind_loop(self, var: Var, extent: Expr) -> None:
        """State that a variable counts from 0 up to an extent."""
        self.bind(var, 0, min(max(self.of(extent)[1] - 1, 0), UNKNOWN_EXTENT))

    def of(self, expr: Expr) -> Range:
        """The range of an integer expression, after any wrapping."""
        known = self._known.get(expr)
        if known is None:
            exact, whole = self.exact(expr), type_range(expr.dtype)
            known = exact if exact is not None and fits(exact, expr.dtype) else whole
            self._known[expr] = known
        return known

    def exact(self, expr: Expr) -> Range | None:
        """The range before wrapping to the type; None if nothing is known."""
        if not expr.dtype.is_int:
            return None
        rule = _RULES.get(type(expr))
        return None if rule is None else rule(self, expr)

    def no_wrap(self, expr: Binary) -> bool:
        """Whether the operation certainly stays inside its (signed) type."""
        exact = self.exact(expr)
        return exact is not None and expr.dtype.kind == "int" and fits(exact, expr.dtype)

    def var(self, var: Var) -> Range | None:
        return self._vars.get(var)


@lru_cache(maxsize=512)
def type_range(dtype: DType) -> Range:
    """All values of an integer type; (0, 1) for anything else, where ranges mean nothing."""
    return (int(dtype.min_value), int(dtype.max_value)) if dtype.is_int else (0, 1)


def fits(value: Range, dtype: DType) -> bool:
    """Whether all values of a range are values of a type."""
    low, high = type_range(dtype)
    return low <= value[0] and value[1] <= high


def _const(ranges: Ranges, expr: Const) -> Range:
    return int(expr.value), int(expr.value)


def _var(ranges: Ranges, expr: Var) -> Range | None:
    return ranges.var(expr)


def _cast(ranges: Ranges, expr: Cast) -> Range | None:
    if expr.value.dtype.is_bool:
        return 0, 1
    return ranges.of(expr.value) if expr.value.dtype.is_int else None


def _select(ranges: Ranges, expr: Select) -> Range:
    a, b = ranges.of(expr.then), ranges.of(expr.otherwise)
    return min(a[0], b[0]), max(a[1], b[1])


def _broadcast(ranges: Ranges, expr: Broadcast) -> Range:
    return ranges.of(expr.value)


def _ramp(ranges: Ranges, expr: Ramp) -> Range:
    base, stride = ranges.of(expr.base), ranges.of(expr.stride)
    steps = [s * n for s in stride for n in (0, expr.lanes - 1)]
    return base[0] + min(steps), base[1] + max(steps)


def _binary(ranges: Ranges, expr: Binary) -> Range | None:
    a, b = ranges.of(expr.a), ranges.of(expr.b)
    rule = _ARITHMETIC.get(expr.op)
    return None if rule is None else rule(a, b)


def _mul(a: Range, b: Range) -> Range:
    products = [x * y for x in a for y in b]
    return min(products), max(products)


def _floordiv(a: Range, b: Range) -> Range | None:
    if b[0] < 1:
        return None
    quotients = [x // y for x in a for y in b]
    return min(quotients), max(quotients)


def _floormod(a: Range, b: Range) -> Range | None:
    if b[0] < 1:
        return None
    if a[0] >= 0 and a[1] < b[0]:
        return a
    return 0, min(b[1] - 1, a[1]) if a[0] >= 0 else b[1] - 1


def _bitand(a: Range, b: Range) -> Range | None:
    non_negative = [high for low, high in (a, b) if low >= 0]
    return (0, min(non_negative)) if non_negative else None


def _shl(a: Range, b: Range) -> Range | None:
    return _mul(a, (1 << b[0], 1 << b[1])) if b[0] >= 0 and b[1] < 64 else None


def _shr(a: Range, b: Range) -> Range | None:
    return _floordiv(a, (1 << b[0], 1 << b[1])) if b[0] >= 0 and b[1] < 64 else None


_ARITHMETIC: dict[str, Callable[[Range, Range], Range | None]] = {
    "add": lambda a, b: (a[0] + b[0], a[1] + b[1]),
    "sub": lambda a, b: (a[0] - b[1], a[1] - b[0]),
    "mul": _mul,
    "floordiv": _floordiv,
    "floormod": _floormod,
    "truncdiv": lambda a, b: _floordiv(a, b) if a[0] >= 0 else None,
    "truncmod": lambda a, b: _floormod(a, b) if a[0] >= 0 else None,
    "min": lambda a, b: (min(a[0], b[0]), min(a[1], b[1])),
    "max": lambda a, b: (max(a[0], b[0]), max(a[1], b[1])),
    "bitand": _bitand,
    "shl": _shl,
    "shr": _shr,
}

_RULES: dict[type, Callable[[Ranges, object], Range | None]] = {
    Const: _const,
    Var: _var,
    Cast: _cast,
    Select: _select,
    Broadcast: _broadcast,
    Ramp: _ramp,
    Binary: _binary,
}  # pyright: ignore[reportAssignmentType]
