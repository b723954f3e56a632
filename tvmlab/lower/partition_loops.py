"""Cut loops so that their main part needs no conditions; the rest keeps them.

    for i in range(13):                          for i in range(12):
        for j in range(8):                           for j in range(8):
            if i * 8 + j < 100:         ->               B[i * 8 + j] = ...
                B[i * 8 + j] = ...               for j in range(4):
                                                     B[j + 96] = ...

Conditions of `if` and of selections (padding) both count. A parallel loop stays one loop and
chooses between the parts in its body. Iterations that are never run are dropped, all others stay:
wherever a condition is not decided, it is still asked.
"""

from __future__ import annotations

from dataclasses import replace

from tvmlab.arith import Bounds, Interval, prove, simplify, simplify_stmt
from tvmlab.ir import (
    Alloc,
    Expr,
    For,
    If,
    Program,
    Seq,
    Stmt,
    Var,
    const,
    const_int,
    is_noop,
    maximum,
    minimum,
    seq,
    substitute,
    with_body,
)

from .drop_proven import drop_proven
from .fresh_copy import fresh_allocs
from .size_bounds import size_bounds
from .split_points import constant_points, symbolic_points

_LANES = 8
"""A rough count of the lanes of one vector, to tell how much code a vectorized loop becomes."""


def partition_loops(program: Program, max_growth: int) -> Program:
    """Cut serial and parallel loops at the points where conditions become decided.

    Parameters
    ----------
    max_growth
        How many statements all cut-off parts together may add, unrolled copies included.
    """
    return with_body(program, _Partition(max_growth).visit(program.body, size_bounds(program), frozenset()))


class _Partition:
    def __init__(self, budget: int) -> None:
        self._budget = budget

    def visit(self, stmt: Stmt, env: Bounds, around: frozenset[Var]) -> Stmt:
        match stmt:
            case Seq():
                members = [self.visit(s, env, around) for s in stmt.stmts]
                same = all(new is old for new, old in zip(members, stmt.stmts, strict=True))
                return stmt if same else seq(members)
            case For():
                return self._for(stmt, env, around)
            case If():
                then = self.visit(stmt.then, env.assume(stmt.cond), around)
                otherwise = stmt.otherwise
                if otherwise is not None:
                    fails = env.assume(stmt.cond, holds=False)
                    otherwise = self.visit(otherwise, fails, around)
                same = then is stmt.then and otherwise is stmt.otherwise
                return stmt if same else If(stmt.cond, then, otherwise)
            case Alloc():
                body = self.visit(stmt.body, env, around)
                return stmt if body is stmt.body else replace(stmt, body=body)
            case _:
                return stmt

    def _for(self, loop: For, env: Bounds, around: frozenset[Var]) -> Stmt:
        inner = frozenset((*around, loop.var))
        if loop.kind in ("serial", "parallel"):
            parts = self._parts(loop, env, around)
            if parts is not None:
                if loop.kind == "parallel":
                    return self._choices(loop, parts, env, inner)
                return self._loops(loop, parts, env, around)
        body = self.visit(loop.body, env.bind_loop(loop.var, loop.extent), inner)
        return loop if body is loop.body else replace(loop, body=body)

    def _parts(self, loop: For, env: Bounds, around: frozenset[Var]) -> list[Expr] | None:
        """The points that bound the parts, 0 and the extent included; None to leave the loop."""
        extent = const_int(loop.extent)
        if extent is not None:
            points = [0, *constant_points(loop, extent, env), extent]
            low, high = max(zip(points, points[1:], strict=False), key=lambda ends: ends[1] - ends[0])
            ends: list[Expr] = [const(p) for p in sorted({0, low, high, extent})]
        else:
            ends = self._symbolic_parts(loop, env, around)
        if len(ends) <= 2:
            return None
        growth = _weight(loop.body) * (len(ends) - 2)
        if growth > self._budget:
            return None
        self._budget -= growth
        return ends

    def _symbolic_parts(self, loop: For, env: Bounds, around: frozenset[Var]) -> list[Expr]:
        points = symbolic_points(loop, around, env)
        if not points:
            return []
        end = loop.extent
        for point in points:
            end = minimum(end, point)
        end = simplify(maximum(end, 0), env)
        if prove(end >= loop.extent, env) or prove(end <= 0, env):
            return []
        return [const(0), end, loop.extent]

    def _loops(self, loop: For, ends: list[Expr], env: Bounds, around: frozenset[Var]) -> Stmt:
        """One loop after another, each over its part."""
        members: list[Stmt] = []
        for start, end in zip(ends, ends[1:], strict=False):
            body = loop.body
            if const_int(start) != 0:
                body = fresh_allocs(substitute(body, {loop.var: loop.var + start}))
            part = replace(loop, extent=simplify(end - start, env), body=body)
            part = _shorter(part, env, const_int(loop.extent) is None)
            if not is_noop(part):
                members.append(self.visit(part, env, around))
        return seq(members)

    def _choices(self, loop: For, ends: list[Expr], env: Bounds, around: frozenset[Var]) -> Stmt:
        """One loop whose body chooses the part by the variable."""
        inside = env.bind_loop(loop.var, loop.extent)
        result: Stmt | None = None
        for start, end in reversed(list(zip(ends, ends[1:], strict=False))):
            low, high = const_int(start), const_int(end)
            known = inside.assume(loop.var < end).assume(loop.var >= start)
            if low is not None and high is not None:
                known = env.bind(loop.var, Interval(low, high - 1))
            body = loop.body if const_int(start) == 0 else fresh_allocs(loop.body)
            body = self.visit(_shorter(body, known, low is None or high is None), known, around)
            result = body if result is None else If(loop.var < end, body, result)
        assert result is not None
        return replace(loop, body=result)


def _shorter(part: Stmt, env: Bounds, symbolic: bool) -> Stmt:
    """A part without the conditions that are decided in it."""
    part = simplify_stmt(part, env, drop_unit_loops=True)
    return drop_proven(part, env) if symbolic else part


def _weight(stmt: Stmt) -> int:
    """How many statements a statement becomes when its loops are unrolled and vectorized."""
    match stmt:
        case Seq():
            return sum(_weight(s) for s in stmt.stmts)
        case If():
            return _weight(stmt.then) + (_weight(stmt.otherwise) if stmt.otherwise else 0)
        case For():
            extent = const_int(stmt.extent) or 1
            copies = {"unrolled": extent, "vectorized": -(-extent // _LANES)}
            return copies.get(stmt.kind, 1) * _weight(stmt.body)
        case Alloc():
            return _weight(stmt.body)
        case _:
            return 1
