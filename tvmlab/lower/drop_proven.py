"""Drop conditions that can be proven, with more effort than the simplifier makes.

`i * 16 + j < n` with `i < n // 16` and `j < 16` is such a condition: it takes the meaning of the
quotient to see it. Used where a loop with a symbolic extent has been cut.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from tvmlab.arith import Bounds, prove
from tvmlab.ir import (
    Alloc,
    Expr,
    For,
    If,
    Let,
    Select,
    Seq,
    Stmt,
    Store,
    conjunction,
    conjuncts,
    loads_of,
    map_children,
    seq,
    transform,
)

from .conditions import lasting


def drop_proven(stmt: Stmt, env: Bounds) -> Stmt:
    """The statement without the conditions that surely hold."""
    match stmt:
        case Seq():
            members = [drop_proven(s, env) for s in stmt.stmts]
            same = all(new is old for new, old in zip(members, stmt.stmts, strict=True))
            return stmt if same else seq(members)
        case For():
            body = drop_proven(stmt.body, env.bind_loop(stmt.var, stmt.extent))
            return stmt if body is stmt.body else replace(stmt, body=body)
        case Alloc():
            body = drop_proven(stmt.body, env)
            return stmt if body is stmt.body else replace(stmt, body=body)
        case Let():
            value = transform(stmt.value, lambda n: _select(n, env))
            body = drop_proven(stmt.body, env)
            same = value is stmt.value and body is stmt.body
            return stmt if same else Let(stmt.var, value, body)
        case If():
            return _if(stmt, env)
        case Store():
            return map_children(stmt, lambda e: transform(e, lambda n: _select(n, env)))
        case _:
            return stmt


def _if(stmt: If, env: Bounds) -> Stmt:
    cond = _open_part(stmt.cond, env)
    if cond is None:
        return drop_proven(stmt.then, env)
    then = drop_proven(stmt.then, env.assume(lasting(cond)))
    otherwise = stmt.otherwise
    if otherwise is not None:
        otherwise = drop_proven(otherwise, env)
    if cond is stmt.cond and then is stmt.then and otherwise is stmt.otherwise:
        return stmt
    return If(cond, then, otherwise)


def _select(node: Any, env: Bounds) -> Any:
    if not isinstance(node, Select) or node.cond.dtype.lanes > 1:
        return node
    cond = _open_part(node.cond, env)
    if cond is None:
        return node.then
    return node if cond is node.cond else replace(node, cond=cond)


def _open_part(cond: Expr, env: Bounds) -> Expr | None:
    """What of a condition is not proven; None if all of it is."""
    parts = conjuncts(cond)
    kept = [c for c in parts if loads_of(c) or not prove(c, env)]
    if len(kept) == len(parts):
        return cond
    return conjunction(kept) if kept else None
