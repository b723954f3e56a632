"""Choose the loops that `auto_unroll_max_step` asks to write out.

    for i in range(64, auto_unroll_max_step=16):        for i in range(64, ...):
        for j in range(4):                         ->       for j in unrolled(4):
            C[i, j] = ...                                       C[i, j] = ...

A loop is chosen if all loops inside it are written out too and its copies are few enough statements
in all. Done when vectors have been made, so that a statement is about an instruction.
"""

from __future__ import annotations

from dataclasses import replace

from tvmlab.ir import Alloc, Attribute, For, If, Let, Program, Seq, Stmt, const_int, with_body

from .unroll_loops import count_leaves


def auto_unroll(program: Program) -> Program:
    """Make short serial loops unrolled, under loops with the note and those loops themselves."""
    return with_body(program, _visit(program.body, 0)[0])


def _visit(stmt: Stmt, limit: int) -> tuple[Stmt, bool]:
    """The statement, and whether no loop is left in it."""
    match stmt:
        case Seq():
            members = [_visit(s, limit) for s in stmt.stmts]
            flat = all(done for _, done in members)
            if all(new is old for (new, _), old in zip(members, stmt.stmts, strict=True)):
                return stmt, flat
            return Seq(tuple(new for new, _ in members)), flat
        case For():
            return _loop(stmt, _limit(stmt, limit))
        case If():
            then, flat = _visit(stmt.then, limit)
            other = None if stmt.otherwise is None else _visit(stmt.otherwise, limit)
            same = then is stmt.then and (other is None or other[0] is stmt.otherwise)
            result = stmt if same else If(stmt.cond, then, None if other is None else other[0])
            return result, flat and (other is None or other[1])
        case Alloc() | Let():
            body, flat = _visit(stmt.body, limit)
            return (stmt if body is stmt.body else replace(stmt, body=body)), flat
        case _:
            return stmt, True


def _loop(loop: For, limit: int) -> tuple[Stmt, bool]:
    body, flat = _visit(loop.body, limit)
    extent = const_int(loop.extent)
    short = extent is not None and extent * count_leaves(body) <= limit
    if loop.kind == "serial" and flat and short:
        return replace(loop, body=body, kind="unrolled"), True
    return (loop if body is loop.body else replace(loop, body=body)), loop.kind == "unrolled"


def _limit(loop: For, around: int) -> int:
    notes: dict[str, Attribute] = dict(loop.annotations)
    limit = notes.get("auto_unroll_max_step", around)
    return limit if isinstance(limit, int) and notes.get("unroll_explicit", True) else 0
