"""Random expressions, all points of small ranges: values kept, bounds right, proofs never wrong."""

from __future__ import annotations

import pytest
from helpers.random_exprs import (
    UndefinedError,
    conditions_over,
    evaluate,
    integers_over,
    points,
    quick,
)
from hypothesis import given
from hypothesis import strategies as st

from tvmlab.arith import Bounds, Interval, bound_of, modular_of, prove, simplify
from tvmlab.ir import Expr, Var, logic
from tvmlab.support import DType

I, J, K = Var("i"), Var("j"), Var("k")
RANGES = {I: (0, 7), J: (-3, 4), K: (0, 2)}
INT8, UINT8 = DType.of("int8"), DType.of("uint8")


def bounds_of(ranges: dict[Var, tuple[int, int]]) -> Bounds:
    env = Bounds()
    for var, (lo, hi) in ranges.items():
        env = env.bind(var, Interval(lo, hi))
    return env


def check_everywhere(
    e: Expr, ranges: dict[Var, tuple[int, int]], env: Bounds, cond: Expr | None = None
) -> None:
    """The simplified expression, the interval and the remainder against every point."""
    simpler = simplify(e, env)
    interval = bound_of(e, env)
    modular = modular_of(e, env)
    after = bound_of(simpler, env)
    for values in points(ranges):
        try:
            if cond is not None and not evaluate(cond, values):
                continue
            expected = evaluate(e, values)
        except UndefinedError:
            continue
        assert evaluate(simpler, values) == expected
        assert expected in interval
        assert expected in after
        assert expected in modular
    again = env if cond is None else bounds_of(ranges).assume(cond)
    assert simplify(simpler, Bounds(again)) is simpler


@given(e=integers_over((I, J, K), wild=False))
@quick(120)
def test_sums_and_quotients(e: Expr) -> None:
    check_everywhere(e, RANGES, bounds_of(RANGES))


@given(e=integers_over((I, J, K)))
@quick(120)
def test_all_operations(e: Expr) -> None:
    check_everywhere(e, RANGES, bounds_of(RANGES))


@given(e=integers_over((I, J)))
@quick(100)
def test_without_any_bounds(e: Expr) -> None:
    check_everywhere(e, {I: (-9, 9), J: (-5, 5)}, Bounds())


@given(e=integers_over((I, J, K), wild=False), cond=conditions_over((I, J, K), size=3))
@quick(100)
def test_under_an_assumption(e: Expr, cond: Expr) -> None:
    env = bounds_of(RANGES)
    check_everywhere(e, RANGES, env.assume(cond), cond)


@given(cond=conditions_over((I, J, K), size=5))
@quick(120)
def test_conditions_keep_their_value_and_proofs_hold(cond: Expr) -> None:
    env = bounds_of(RANGES)
    simpler, proven = simplify(cond, env), prove(cond, env)
    for values in points(RANGES):
        try:
            expected = evaluate(cond, values)
        except UndefinedError:
            continue
        assert evaluate(simpler, values) == expected
        assert expected or not proven


@given(
    goal=conditions_over((I, J, K), size=5),
    first=conditions_over((I, J, K), size=3, wild=False),
    second=conditions_over((I, J, K), size=3, wild=False),
)
@quick(120)
def test_proofs_from_assumptions_hold(goal: Expr, first: Expr, second: Expr) -> None:
    env = bounds_of(RANGES).assume(first).assume(second, holds=False)
    if not prove(goal, env):
        return
    for values in points(RANGES):
        try:
            if evaluate(first, values) and not evaluate(second, values):
                assert evaluate(goal, values)
        except UndefinedError:
            continue


@pytest.mark.parametrize("dtype", [INT8, UINT8], ids=str)
@given(data=st.data())
@quick(80)
def test_narrow_types_wrap(dtype: DType, data: st.DataObject) -> None:
    x, y = Var("x", dtype), Var("y", dtype)
    lo, hi = int(dtype.min_value), int(dtype.max_value)
    e = data.draw(integers_over((x, y), dtype))
    cond = data.draw(conditions_over((x, y), dtype))
    joined = logic("and", cond, cond)
    env = Bounds()
    simpler, simpler_cond, proven = simplify(e, env), simplify(joined, env), prove(cond, env)
    interval, modular = bound_of(e, env), modular_of(e, env)
    edge = (lo, lo + 1, lo + 7, -1 if lo else 5, 0, 1, 3, hi - 3, hi - 1, hi)
    for a in edge:
        for b in edge:
            values = {x: a, y: b}
            try:
                expected = evaluate(e, values)
                assert evaluate(simpler, values) == expected
                assert expected in interval
                assert expected in modular
            except UndefinedError:
                pass
            try:
                holds = evaluate(cond, values)
                assert evaluate(simpler_cond, values) == holds
                assert holds or not proven
            except UndefinedError:
                pass
