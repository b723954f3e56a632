"""Ask a condition once, outside of the loops that do not change it.

    for j in range(8):                       if i < n:
        if i < n and j < m:        ->            for j in range(8):
            C[i, j] = 0                              if j < m:
                                                         C[i, j] = 0

Neighbors under one condition become one.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from tvmlab.ir import (
    Alloc,
    For,
    If,
    Program,
    Seq,
    Stmt,
    Var,
    conjunction,
    conjuncts,
    is_pure,
    seq,
    structural_key,
    transform_stmts,
    uses_var,
    with_body,
)


def hoist_conditions(program: Program) -> Program:
    """Move the invariant part of conditions out of loops, and merge neighbors with equal ones.

    Only conditions that read no memory and cannot fail move: they give the same value wherever
    their variables are known. A loop with the note `hoist_conditions=False` keeps its conditions.
    """
    return with_body(program, transform_stmts(program.body, _hoist))


def _hoist(node: Any) -> Any:
    if isinstance(node, Seq):
        return _merge_neighbors(node)
    if isinstance(node, If):
        return _merge_nested(node)
    if isinstance(node, For):
        if ("hoist_conditions", False) in node.annotations:
            return node
        return _out_of(node, node.body, frozenset((node.var,)))
    if isinstance(node, Alloc):
        return _out_of(node, node.body, frozenset())
    return node


def _out_of(outer: For | Alloc, body: Stmt, variables: frozenset[Var]) -> Stmt:
    """`outer: if c and d: ...` as `if c: outer: if d: ...`, for a c without the variables."""
    if not isinstance(body, If) or body.otherwise is not None:
        return outer
    parts = conjuncts(body.cond)
    free = [c for c in parts if is_pure(c) and not uses_var(c, variables)]
    if not free:
        return outer
    kept = [c for c in parts if c not in free]
    inner = If(conjunction(kept), body.then) if kept else body.then
    return If(conjunction(free), replace(outer, body=inner))


def _merge_nested(stmt: If) -> Stmt:
    """`if a: if b: ...` as one condition."""
    inner = stmt.then
    if stmt.otherwise is None and isinstance(inner, If) and inner.otherwise is None:
        pure = is_pure(inner.cond)
        return If(conjunction([stmt.cond, inner.cond]), inner.then) if pure else stmt
    return stmt


def _merge_neighbors(stmt: Seq) -> Stmt:
    members: list[Stmt] = []
    for member in stmt.stmts:
        merged = _join(members[-1], member) if members else None
        if merged is None:
            members.append(member)
        else:
            members[-1] = merged
    return stmt if len(members) == len(stmt.stmts) else seq(members)


def _join(first: Stmt, second: Stmt) -> Stmt | None:
    """Two statements under the conditions that both have; None if they share none."""
    if not isinstance(first, If) or not isinstance(second, If):
        return None
    if first.otherwise is not None or second.otherwise is not None:
        return None
    keys = {structural_key(c) for c in conjuncts(second.cond) if is_pure(c)}
    shared = [c for c in conjuncts(first.cond) if structural_key(c) in keys]
    if not shared:
        return None
    common = {structural_key(c) for c in shared}
    return If(conjunction(shared), seq([_under_rest(first, common), _under_rest(second, common)]))


def _under_rest(stmt: If, common: Iterable[tuple[str, ...]]) -> Stmt:
    rest = [c for c in conjuncts(stmt.cond) if structural_key(c) not in common]
    return If(conjunction(rest), stmt.then) if rest else stmt.then
