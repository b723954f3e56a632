"""Where a loop can be cut so that the conditions in its body are decided on one side.

    for i in range(13):
        for j in range(8):
            if i * 8 + j < 100: ...       holds for all j if i < 12, so 12 is a point to cut at

Loops inside are taken with all their values; nothing is assumed about data.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from tvmlab.arith import (
    Bounds,
    Interval,
    LinearForm,
    form_to_expr,
    negative_when_true,
    relax,
    turning_points,
    without,
)
from tvmlab.ir import (
    Compare,
    Expr,
    For,
    If,
    Logic,
    Node,
    Not,
    Select,
    Stmt,
    Var,
    children,
    free_vars,
    uses_var,
    walk,
)

from .accesses import loop_intervals


@dataclass(frozen=True, slots=True)
class _Condition:
    """A comparison somewhere in the body, and the loops between it and the loop to be cut."""

    compare: Compare
    loops: tuple[For, ...]


def constant_points(loop: For, extent: int, env: Bounds) -> list[int]:
    """Values of the loop variable, inside its range, where some condition becomes decided."""
    found: set[int] = set()
    for condition in _conditions(loop):
        inside = env.bind_loop(loop.var, loop.extent)
        for inner in condition.loops:
            inside = inside.bind_loop(inner.var, inner.extent)
        found |= turning_points(condition.compare, loop.var, inside)
    return sorted(p for p in found if 0 < p < extent)


def symbolic_points(loop: For, fixed: frozenset[Var], env: Bounds) -> list[Expr]:
    """Upper ends, in terms of sizes alone, below which a condition surely holds.

    Parameters
    ----------
    fixed
        The loop variables around; a point in terms of these is of no use here.
    """
    found: list[Expr] = []
    for condition in _conditions(loop):
        inside = env.bind_loop(loop.var, loop.extent)
        inner = loop_intervals(condition.loops, inside)
        for form in negative_when_true(condition.compare, inside):
            point = _symbolic_end(form, loop.var, inner, env)
            if point is not None and not set(free_vars(point)) & fixed:
                found.append(point)
    return found


def asks_about(stmt: Stmt, var: Var) -> bool:
    """Whether some condition below a statement depends on a variable."""
    return any(isinstance(n, (If, Select)) and uses_var(n.cond, {var}) for n in walk(stmt))


def _conditions(loop: For) -> Iterator[_Condition]:
    """All comparisons of integers that conditions in the body consist of."""
    stack: list[tuple[Node, tuple[For, ...]]] = [(loop.body, ())]
    while stack:
        node, loops = stack.pop()
        if isinstance(node, (If, Select)):
            for compare in _comparisons(node.cond):
                if uses_var(compare, {loop.var}):
                    yield _Condition(compare, loops)
        around = (*loops, node) if isinstance(node, For) else loops
        stack.extend((child, around) for child in children(node))


def _comparisons(cond: Expr) -> Iterator[Compare]:
    if isinstance(cond, Compare):
        if cond.a.dtype.is_int and cond.dtype.lanes == 1:
            yield cond
    elif isinstance(cond, Logic):
        yield from _comparisons(cond.a)
        yield from _comparisons(cond.b)
    elif isinstance(cond, Not):
        yield from _comparisons(cond.a)


def _symbolic_end(
    form: LinearForm, var: Var, inner: dict[Var, Interval], env: Bounds
) -> Expr | None:
    """The number of iterations from 0 on in which `form < 0` surely holds, as an expression."""
    factor, rest = without(form, var)
    if factor <= 0:
        return None
    span = relax([form_to_expr(rest, var.dtype)], inner, env)
    if span.extent is None:
        return None
    highest = span.min + (span.extent - 1)
    return (-highest + (factor - 1)) // factor
