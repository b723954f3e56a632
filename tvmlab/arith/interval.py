"""Intervals of integers: what is known about the size of a value.

An end that is None is unbounded. Ends are Python integers, so no operation overflows; whether a
result still fits its machine type is a question for the caller (see `ranges`).

>>> Interval(-7, 5).floordiv(Interval.point(4))
Interval(lo=-2, hi=1)
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import TypeAlias, Union

from tvmlab.support import DType

End: TypeAlias = Union[int, None]
_Extended: TypeAlias = Union[int, float]  # an integer, or plus or minus infinity


@dataclass(frozen=True, slots=True)
class Interval:
    """All integers from `lo` to `hi`, both included; None means unbounded on that side."""

    lo: End
    hi: End

    @staticmethod
    def point(value: int) -> Interval:
        """The interval of one value."""
        return Interval(value, value)

    @staticmethod
    def extent(size: int) -> Interval:
        """The values of a loop of `size` iterations; `[0, 0]` for an empty one (see below).

        Nothing happens inside an empty loop, so any statement about its variable holds; the
        smallest non-empty interval keeps the arithmetic free of a special case.
        """
        return Interval(0, max(size - 1, 0))

    @staticmethod
    def of_dtype(dtype: DType) -> Interval:
        """The values that an integer or bool type can hold; everything for a float."""
        if dtype.is_float:
            return EVERYTHING
        return Interval(int(dtype.min_value), int(dtype.max_value))

    @property
    def is_point(self) -> bool:
        """Whether exactly one value is possible."""
        return self.lo is not None and self.lo == self.hi

    @property
    def is_bounded(self) -> bool:
        """Whether both ends are known."""
        return self.lo is not None and self.hi is not None

    @property
    def size(self) -> int | None:
        """How many values there are, if both ends are known."""
        return None if self.lo is None or self.hi is None else self.hi - self.lo + 1

    def __contains__(self, value: int) -> bool:
        return (self.lo is None or self.lo <= value) and (self.hi is None or value <= self.hi)

    def within(self, other: Interval) -> bool:
        """Whether every value here is also in `other`."""
        low_ok = other.lo is None or (self.lo is not None and self.lo >= other.lo)
        return low_ok and (other.hi is None or (self.hi is not None and self.hi <= other.hi))

    def union(self, other: Interval) -> Interval:
        """The smallest interval that contains both."""
        return _make(min(_low(self), _low(other)), max(_high(self), _high(other)))

    def intersect(self, other: Interval) -> Interval | None:
        """The values in both, None if there are none."""
        lo, hi = max(_low(self), _low(other)), min(_high(self), _high(other))
        return None if lo > hi else _make(lo, hi)

    def add(self, other: Interval) -> Interval:
        return Interval(
            None if self.lo is None or other.lo is None else self.lo + other.lo,
            None if self.hi is None or other.hi is None else self.hi + other.hi,
        )

    def neg(self) -> Interval:
        return Interval(
            None if self.hi is None else -self.hi, None if self.lo is None else -self.lo
        )

    def sub(self, other: Interval) -> Interval:
        return self.add(other.neg())

    def mul(self, other: Interval) -> Interval:
        corners = [
            _times(x, y) for x in (_low(self), _high(self)) for y in (_low(other), _high(other))
        ]
        return _make(min(corners), max(corners))

    def min(self, other: Interval) -> Interval:
        return _make(min(_low(self), _low(other)), min(_high(self), _high(other)))

    def max(self, other: Interval) -> Interval:
        return _make(max(_low(self), _low(other)), max(_high(self), _high(other)))

    def floordiv(self, other: Interval) -> Interval:
        """Quotients rounded down; a divisor of zero has no value and is left out."""
        parts: list[Interval] = []
        positive, negative = other.intersect(_POSITIVE), other.intersect(_NEGATIVE)
        if positive is not None:
            parts.append(_floordiv_positive(self, positive))
        if negative is not None:
            parts.append(_floordiv_positive(self.neg(), negative.neg()))
        return _union_all(parts)

    def floormod(self, other: Interval) -> Interval:
        """Remainders with the sign of the divisor."""
        parts: list[Interval] = []
        positive, negative = other.intersect(_POSITIVE), other.intersect(_NEGATIVE)
        if positive is not None:
            parts.append(_floormod_positive(self, positive))
        if negative is not None:
            parts.append(_floormod_positive(self.neg(), negative.neg()).neg())
        return _union_all(parts)

    def truncdiv(self, other: Interval) -> Interval:
        """Quotients rounded to zero, from the quotients of absolute values."""
        parts: list[Interval] = []
        for a, a_sign in _by_sign(self):
            for b, b_sign in _by_sign(other):
                divisor = b.intersect(_POSITIVE)
                if divisor is not None:
                    quotient = _floordiv_positive(a, divisor)
                    parts.append(quotient if a_sign == b_sign else quotient.neg())
        return _union_all(parts)

    def truncmod(self, other: Interval) -> Interval:
        """Remainders with the sign of the dividend."""
        parts: list[Interval] = []
        for a, a_sign in _by_sign(self):
            for b, _ in _by_sign(other):
                divisor = b.intersect(_POSITIVE)
                if divisor is not None:
                    remainder = _floormod_positive(a, divisor)
                    parts.append(remainder if a_sign > 0 else remainder.neg())
        return _union_all(parts)

    def bitand(self, other: Interval) -> Interval:
        """A non-negative operand bounds the result from both sides."""
        tops = [i.hi for i in (self, other) if i.lo is not None and i.lo >= 0]
        if not tops:
            return EVERYTHING
        known = [hi for hi in tops if hi is not None]
        return Interval(0, min(known) if known else None)

    def bitor_xor(self, other: Interval) -> Interval:
        """Or and xor of non-negative values need no more bits than the operands."""
        if self.lo is None or other.lo is None or self.lo < 0 or other.lo < 0:
            return EVERYTHING
        if self.hi is None or other.hi is None:
            return Interval(0, None)
        return Interval(0, (1 << max(self.hi, other.hi).bit_length()) - 1)

    def shl(self, other: Interval) -> Interval:
        power = _power_of_two(other)
        return EVERYTHING if power is None else self.mul(power)

    def shr(self, other: Interval) -> Interval:
        power = _power_of_two(other)
        return EVERYTHING if power is None else self.floordiv(power)


EVERYTHING = Interval(None, None)
NATURAL = Interval(0, None)
_POSITIVE = Interval(1, None)
_NEGATIVE = Interval(None, -1)
_MAX_SHIFT = 64


def _low(i: Interval) -> _Extended:
    return -inf if i.lo is None else i.lo


def _high(i: Interval) -> _Extended:
    return inf if i.hi is None else i.hi


def _make(lo: _Extended, hi: _Extended) -> Interval:
    return Interval(
        lo if isinstance(lo, int) else None,
        hi if isinstance(hi, int) else None,
    )


def _times(x: _Extended, y: _Extended) -> _Extended:
    if isinstance(x, int) and isinstance(y, int):
        return x * y
    if x == 0 or y == 0:
        return 0
    return inf if (x > 0) == (y > 0) else -inf


def _union_all(parts: list[Interval]) -> Interval:
    if not parts:
        return EVERYTHING
    result = parts[0]
    for part in parts[1:]:
        result = result.union(part)
    return result


def _floordiv_positive(a: Interval, b: Interval) -> Interval:
    """Quotients for divisors of at least one: each end of `a` meets the worse end of `b`."""
    return Interval(_divide_end(a.lo, b, towards_low=True), _divide_end(a.hi, b, towards_low=False))


def _divide_end(end: End, b: Interval, *, towards_low: bool) -> End:
    if end is None or b.lo is None:
        return None
    divisor = b.lo if (end < 0) == towards_low else b.hi
    if divisor is None:
        return 0 if end >= 0 else -1
    return end // divisor


def _floormod_positive(a: Interval, b: Interval) -> Interval:
    if a.lo is not None and a.hi is not None:
        if b.lo is not None and a.lo >= 0 and a.hi < b.lo:
            return a
        if b.is_point and b.lo is not None and a.lo // b.lo == a.hi // b.lo:
            return Interval(a.lo % b.lo, a.hi % b.lo)
    hi = None if b.hi is None else b.hi - 1
    if a.lo is not None and a.lo >= 0 and a.hi is not None:
        hi = a.hi if hi is None else min(hi, a.hi)
    return Interval(0, hi)


def _by_sign(i: Interval) -> list[tuple[Interval, int]]:
    """The absolute values of the non-negative and of the negative part, with the part's sign."""
    parts: list[tuple[Interval, int]] = []
    positive, negative = i.intersect(NATURAL), i.intersect(_NEGATIVE)
    if positive is not None:
        parts.append((positive, 1))
    if negative is not None:
        parts.append((negative.neg(), -1))
    return parts


def _power_of_two(shift: Interval) -> Interval | None:
    if shift.lo is None or shift.hi is None or shift.lo < 0 or shift.hi > _MAX_SHIFT:
        return None
    return Interval(1 << shift.lo, 1 << shift.hi)
