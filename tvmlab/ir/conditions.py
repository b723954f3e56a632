"""Conditions put together, taken apart and read."""

from __future__ import annotations

from .expr import TRUE, Compare, Expr, ExprLike, Logic, Var, compare, const_int, is_const, logic


def eq(a: ExprLike, b: ExprLike) -> Expr:
    """`a` equals `b`, as a node."""
    return compare("eq", a, b)


def ne(a: ExprLike, b: ExprLike) -> Expr:
    """`a` differs from `b`, as a node."""
    return compare("ne", a, b)


def conjunction(conditions: tuple[Expr, ...] | list[Expr]) -> Expr:
    """All conditions at once; TRUE for none."""
    result: Expr = TRUE
    for condition in conditions:
        result = logic("and", result, condition)
    return result


def conjuncts(condition: Expr) -> list[Expr]:
    """The conditions that an `and` tree joins; none for TRUE."""
    if isinstance(condition, Logic) and condition.op == "and":
        return conjuncts(condition.a) + conjuncts(condition.b)
    return [] if is_const(condition, True) else [condition]


def upper_limit(condition: Expr, var: Var) -> int | None:
    """The n of a condition `var < n` or `var <= n - 1`; None if it says something else."""
    if not isinstance(condition, Compare) or condition.a is not var:
        return None
    limit = const_int(condition.b)
    if limit is None or condition.op not in ("lt", "le"):
        return None
    return limit if condition.op == "lt" else limit + 1
