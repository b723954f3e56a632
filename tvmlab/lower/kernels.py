"""Kernels: the outermost loops over threads, wherever they stand in a program."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from tvmlab.ir import GRID_TAGS, GROUP_TAGS, Alloc, For, If, Let, Seq, Stmt, seq


def map_kernels(stmt: Stmt, change: Callable[[For], Stmt]) -> Stmt:
    """Rewrite each outermost loop over threads; what is around them stays."""
    match stmt:
        case For(kind="thread"):
            return change(stmt)
        case For() | Alloc() | Let():
            body = map_kernels(stmt.body, change)
            return stmt if body is stmt.body else replace(stmt, body=body)
        case Seq():
            members = [map_kernels(s, change) for s in stmt.stmts]
            same = all(new is old for new, old in zip(members, stmt.stmts, strict=True))
            return stmt if same else seq(members)
        case If():
            then = map_kernels(stmt.then, change)
            otherwise = stmt.otherwise
            if otherwise is not None:
                otherwise = map_kernels(otherwise, change)
            same = then is stmt.then and otherwise is stmt.otherwise
            return stmt if same else If(stmt.cond, then, otherwise)
        case _:
            return stmt


def thread_loops_on_top(root: For) -> tuple[list[For], list[For], Stmt]:
    """The loops over groups and over threads at the top of a kernel, and what is inside."""
    grid: list[For] = []
    group: list[For] = []
    inner: Stmt = root
    while isinstance(inner, For) and inner.kind == "thread":
        if inner.thread in GRID_TAGS and not group:
            grid.append(inner)
        elif inner.thread in GROUP_TAGS:
            group.append(inner)
        inner = inner.body
    return grid, group, inner


def wrap(loops: list[For], body: Stmt) -> Stmt:
    """Loops, outermost first, around another body."""
    for loop in reversed(loops):
        body = replace(loop, body=body)
    return body
