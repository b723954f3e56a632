"""How the iterations of a vectorized loop are dealt out to vectors.

    40 iterations, 16 lanes  ->  16, 16, 8
    45 iterations, 16 lanes  ->  16, 16, 16 of which 13 are active    (or 8, 4, 1 without masks)

Also what can be told about conditions on the lane from their form alone.
"""

from __future__ import annotations

from tvmlab.arith import Bounds, linear_form
from tvmlab.ir import (
    Compare,
    Expr,
    If,
    Stmt,
    Var,
    conjunction,
    conjuncts,
    const,
    substitute,
    upper_limit,
    uses_var,
)

from .widen import Lanes


def plan_lanes(var: Var, extent: int, width: int, masks: bool) -> tuple[list[Lanes], list[Lanes]]:
    """The full vectors, and the shorter or masked ones for the rest."""
    full = extent // width
    whole = [Lanes(var, const(n * width), width, width) for n in range(full)]
    rest: list[Lanes] = []
    start, left = full * width, extent % width
    if left and masks and left & (left - 1):
        count = 1 << left.bit_length()
        return whole, [Lanes(var, const(start), count, left)]
    while left:
        count = 1 << (left.bit_length() - 1)
        rest.append(Lanes(var, const(start), count, count))
        start, left = start + count, left - count
    return whole, rest


def cut_extent(var: Var, body: Stmt, extent: int) -> tuple[Stmt, int]:
    """Turn conditions `var < 13` on the whole body into a smaller extent."""
    if not isinstance(body, If) or body.otherwise is not None:
        return body, extent
    kept: list[Expr] = []
    for condition in conjuncts(body.cond):
        limit = upper_limit(condition, var)
        if limit is None:
            kept.append(condition)
        else:
            extent = max(min(extent, limit), 0)
    return (If(conjunction(kept), body.then) if kept else body.then), extent


def any_lane_condition(condition: Expr, var: Var, extent: int) -> Expr | None:
    """A scalar condition that holds if and only if the condition holds for some lane.

    None if it is not that simple: the condition must be one comparison, linear in the variable.
    """
    if not isinstance(condition, Compare) or not condition.a.dtype.is_int:
        return None
    if condition.op in ("eq", "ne"):
        return None
    env = Bounds()
    difference = linear_form(condition.a, env).minus(linear_form(condition.b, env))
    if any(atom is not var and uses_var(atom, {var}) for atom in difference.terms):
        return None
    grows = difference.terms.get(var, 0) > 0
    first = grows == (condition.op in ("lt", "le"))
    return substitute(condition, {var: const(0 if first else extent - 1, var.dtype)})
