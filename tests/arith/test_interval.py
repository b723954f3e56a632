"""Interval and remainder arithmetic contains every result, for all signs and for unbounded ends."""

from __future__ import annotations

import operator

import pytest
from helpers.random_exprs import UndefinedError, integer_op, quick
from hypothesis import given
from hypothesis import strategies as st

from tvmlab.arith import Interval, Modular

ENDS = st.one_of(st.none(), st.integers(-12, 12))
OPS = {
    "add": Interval.add, "sub": Interval.sub, "mul": Interval.mul, "floordiv": Interval.floordiv,
    "floormod": Interval.floormod, "truncdiv": Interval.truncdiv, "truncmod": Interval.truncmod,
    "bitand": Interval.bitand, "bitor": Interval.bitor_xor, "bitxor": Interval.bitor_xor,
    "shl": Interval.shl, "shr": Interval.shr,
}  # fmt: skip


@st.composite
def interval_and_value(draw: st.DrawFn) -> tuple[Interval, int]:
    value = draw(st.integers(-20, 20))
    lo = draw(st.one_of(st.none(), st.integers(value - 6, value)))
    hi = draw(st.one_of(st.none(), st.integers(value, value + 6)))
    return Interval(lo, hi), value


@pytest.mark.parametrize("name", OPS)
@given(a=interval_and_value(), b=interval_and_value())
@quick(100)
def test_contains_every_result(name: str, a: tuple[Interval, int], b: tuple[Interval, int]) -> None:
    try:
        expected = integer_op(name, a[1], b[1])
    except UndefinedError:
        return
    assert expected in OPS[name](a[0], b[0])


@pytest.mark.parametrize("name", ["add", "sub", "mul", "floordiv", "truncdiv"])
@given(
    a=st.tuples(st.integers(-9, 9), st.integers(0, 5)),
    b=st.tuples(st.integers(1, 5), st.integers(0, 4)),
    sign=st.sampled_from([1, -1]),
)
@quick(100)
def test_is_tight_for_bounded_operands(
    name: str, a: tuple[int, int], b: tuple[int, int], sign: int
) -> None:
    left, right = Interval(a[0], a[0] + a[1]), Interval(b[0], b[0] + b[1])
    right = right if sign > 0 else right.neg()
    values = [
        integer_op(name, x, y)
        for x in range(a[0], a[0] + a[1] + 1)
        for y in range(right.lo or 0, (right.hi or 0) + 1)
    ]
    assert OPS[name](left, right) == Interval(min(values), max(values))


@given(a=interval_and_value(), b=interval_and_value())
@quick(100)
def test_min_max_union_intersect(a: tuple[Interval, int], b: tuple[Interval, int]) -> None:
    assert min(a[1], b[1]) in a[0].min(b[0])
    assert max(a[1], b[1]) in a[0].max(b[0])
    assert a[1] in a[0].union(b[0])
    assert b[1] in a[0].union(b[0])
    common = a[0].intersect(b[0])
    if a[1] in b[0]:
        assert common is not None
        assert a[1] in common
    else:
        assert common is None or a[1] not in common


def test_no_overflow_for_huge_ends() -> None:
    huge = Interval(10**400, None)
    assert huge.mul(huge) == Interval(10**800, None)
    assert huge.mul(Interval(-1, 2)) == Interval(None, None)
    assert Interval(-(2**63), 2**63).mul(Interval.point(2**63)) == Interval(-(2**126), 2**126)
    assert huge.floordiv(Interval.point(10**399)) == Interval(10, None)


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        ((-7, -7), (2, 2), (-4, -4)),
        ((7, 7), (-2, -2), (-4, -4)),
        ((-8, 7), (4, 4), (-2, 1)),
        ((None, -1), (2, None), (None, -1)),
        ((0, None), (3, None), (0, None)),
    ],
)
def test_floordiv_by_hand(
    left: tuple[int, int], right: tuple[int, int], expected: tuple[int, int]
) -> None:
    assert Interval(*left).floordiv(Interval(*right)) == Interval(*expected)


@given(
    c=st.integers(0, 8), b=st.integers(-5, 5), n=st.integers(-5, 5),
    d=st.integers(0, 8), e=st.integers(-5, 5), m=st.integers(-5, 5), k=st.integers(1, 12),
)  # fmt: skip
@quick(100)
def test_remainders_contain_every_result(
    c: int, b: int, n: int, d: int, e: int, m: int, k: int
) -> None:
    x, y = c * n + b, d * m + e
    mx, my = Modular.of(c, b), Modular.of(d, e)
    assert x in mx
    for combine, result in ((operator.add, mx.add(my)), (operator.mul, mx.mul(my))):
        assert combine(x, y) in result
    assert x in mx.union(my)
    assert y in mx.union(my)
    assert x * k in mx.times(k)
    assert x // k in mx.floordiv(k)
    assert x % k in mx.floormod(k)
    known = mx.remainder(k)
    assert known is None or known == x % k
