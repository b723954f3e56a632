"""Boxes contain all values; for affine expressions they are as small as can be."""

from __future__ import annotations

import pytest
from helpers.random_exprs import UndefinedError, evaluate, integers_over, points, quick
from hypothesis import given
from hypothesis import strategies as st

from tvmlab.arith import Bounds, Interval, relax
from tvmlab.ir import Buffer, Cast, Expr, Load, Select, Var, const, maximum, minimum
from tvmlab.support import INT32

O, P, I, J = Var("o"), Var("p"), Var("i"), Var("j")
OUTER = {O: (-3, 4), P: (0, 3)}
INNER = {I: (0, 4), J: (-2, 1)}


def outer_bounds() -> Bounds:
    env = Bounds()
    for var, (lo, hi) in OUTER.items():
        env = env.bind(var, Interval(lo, hi))
    return env


def check_box(exprs: list[Expr], *, bounded_outer: bool = True) -> None:
    inner = {v: Interval(*ends) for v, ends in INNER.items()}
    box = relax(exprs, inner, outer_bounds() if bounded_outer else Bounds())
    if box.extent is None:
        return
    for fixed in points(OUTER):
        low = evaluate(box.min, fixed)
        for running in points(INNER):
            for e in exprs:
                try:
                    value = evaluate(e, {**fixed, **running})
                except UndefinedError:
                    continue
                assert low <= value < low + box.extent


@given(e=integers_over((O, P, I, J)), bounded=st.booleans())
@quick(120)
def test_contains_all_values(e: Expr, bounded: bool) -> None:
    check_box([e], bounded_outer=bounded)


@given(a=integers_over((O, P, I, J), size=4, wild=False), shift=st.integers(-5, 5), b=st.data())
@quick(80)
def test_contains_all_values_of_several(a: Expr, shift: int, b: st.DataObject) -> None:
    other = b.draw(integers_over((O, P, I, J), size=2))
    check_box([a, a + shift])
    check_box([a, other])


@given(
    factors=st.tuples(*[st.integers(-4, 4)] * 4),
    base=st.integers(-9, 9),
    shift=st.integers(-9, 9),
)
@quick(100)
def test_is_tight_for_affine_expressions(
    factors: tuple[int, int, int, int], base: int, shift: int
) -> None:
    a, b, c, d = factors
    e = O * a + P * b + I * c + J * d + base
    box = relax([e, e + shift], {v: Interval(*ends) for v, ends in INNER.items()})
    assert box.extent is not None
    fixed = {O: 2, P: -7}
    values = [evaluate(e, {**fixed, **running}) for running in points(INNER)]
    values += [v + shift for v in values]
    assert evaluate(box.min, fixed) == min(values)
    assert box.extent == max(values) - min(values) + 1


@pytest.mark.parametrize(
    ("e", "extent"),
    [
        (O * 4 + I // 2, 3),
        ((O * 8 + I) // 8, 1),
        ((O * 14 + I) // 4, 2),
        ((O * 8 + I) % 8, 5),
        ((O + I) // 2, 3),
        (minimum(O * 5 + I, P), 5),
        (maximum(O * 5 + I, 0), 5),
        (Select(O < 2, O + I, O + I + 1), 6),
        (O - I, 5),
        ((O + I) % 3, 3),
        (O * P + I, 5),
    ],
)
def test_extent_by_hand(e: Expr, extent: int) -> None:
    box = relax([e], {I: Interval(0, 4)})
    assert box.extent == extent


def test_no_box_of_constant_size() -> None:
    buffer = Buffer("idx", (const(9),), INT32)
    assert relax([I * O], {I: Interval(0, 4)}).extent is None
    assert relax([O + I], {I: Interval(0, None)}).extent is None
    assert relax([O, P], {I: Interval(0, 4)}).extent is None
    # An index that is read from memory may be anything the type can hold.
    loaded = relax([Cast(Load(buffer, (I,)), O.dtype)], {I: Interval(0, 4)})
    assert loaded.extent == 2**32


def test_outer_bounds_join_boxes() -> None:
    env = Bounds.of({O: 3})
    box = relax([P + I, P + O + I], {I: Interval(0, 4)}, env)
    assert box.min is P
    assert box.extent == 7


def test_conditions_cut_the_box() -> None:
    env = Bounds().assume(O * 4 + I < 10).assume(O >= 2)
    assert relax([O * 4 + I], {I: Interval(0, 3)}, env).extent == 2
