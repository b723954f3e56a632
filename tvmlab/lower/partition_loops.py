"""Cut loops so that their main part needs no conditions; the rest keeps them.

    for i in range(13):                          for i in range(12):
        for j in range(8):                           for j in range(8):
            if i * 8 + j < 100:         ->               B[i * 8 + j] = ...
                B[i * 8 + j] = ...               for j in range(4):
                                                     B[j + 96] = ...

Conditions of `if` and of selections (padding) both count. A parallel loop stays one loop and
chooses between the parts in its body, and so does a loop whose conditions stand in a small part of
its body. Iterations that are never run are dropped, all others stay: wherever a condition is not
decided, it is still asked.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

from tvmlab.arith import Bounds, Interval, prove, simplify, simplify_stmt
from tvmlab.ir import (
    Alloc,
    Expr,
    For,
    If,
    Let,
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
    uses_var,
    walk,
    with_body,
)

from .conditions import lasting
from .drop_proven import drop_proven
from .fresh_copy import fresh_allocs
from .size_bounds import size_bounds
from .split_points import asks_about, constant_points, symbolic_points

_LANES = 8
"""A rough count of the lanes of one vector, to tell how much code a vectorized loop becomes."""


def partition_loops(program: Program, max_growth: int) -> Program:
    """Cut serial and parallel loops at the points where conditions become decided.

    Parameters
    ----------
    max_growth
        How many statements all cut-off parts together may add, unrolled copies included.
    """
    return with_body(
        program, _Partition(max_growth).visit(program.body, size_bounds(program), frozenset())
    )


class _Partition:
    def __init__(self, budget: int) -> None:
        self._budget = budget
        # Loops cut at a size known only at run time: what is left of their conditions may cut the
        # parts again and again, so each is cut there once.
        self._cut: set[Var] = set()

    def visit(self, stmt: Stmt, env: Bounds, around: frozenset[Var]) -> Stmt:
        match stmt:
            case Seq():
                members = [self.visit(s, env, around) for s in stmt.stmts]
                same = all(new is old for new, old in zip(members, stmt.stmts, strict=True))
                return stmt if same else seq(members)
            case For():
                return self._for(stmt, env, around)
            case If():
                then = self.visit(stmt.then, env.assume(lasting(stmt.cond)), around)
                otherwise = stmt.otherwise
                if otherwise is not None:
                    otherwise = self.visit(otherwise, env, around)
                same = then is stmt.then and otherwise is stmt.otherwise
                return stmt if same else If(stmt.cond, then, otherwise)
            case Alloc() | Let():
                body = self.visit(stmt.body, env, around)
                return stmt if body is stmt.body else replace(stmt, body=body)
            case _:
                return stmt

    def _for(self, loop: For, env: Bounds, around: frozenset[Var]) -> Stmt:
        wish = _wish(loop)
        if loop.kind in ("serial", "parallel") and wish is not False:
            ends = self._ends(loop, env, around)
            if len(ends) > 2:
                target = _concerned_part(loop)
                cheaper = wish is None and _is_cheaper(target, loop.body)
                choose = loop.kind == "parallel" or cheaper
                growth = _weight(target if choose else loop.body) * (len(ends) - 2)
                if growth <= self._budget or wish:
                    self._budget -= growth
                    if const_int(loop.extent) is None:
                        self._cut.add(loop.var)
                    if choose:
                        return self._choice(loop, target, ends, env, around)
                    return self._loops(loop, ends, env, around)
        inner = frozenset((*around, loop.var))
        body = self.visit(loop.body, env.bind_loop(loop.var, loop.extent), inner)
        return loop if body is loop.body else replace(loop, body=body)

    def _ends(self, loop: For, env: Bounds, around: frozenset[Var]) -> list[Expr]:
        """The points that bound the parts, 0 and the extent included."""
        extent = const_int(loop.extent)
        if extent is None:
            return self._symbolic_ends(loop, env, around)
        points = [0, *constant_points(loop, extent, env), extent]
        low, high = max(pairwise(points), key=lambda ends: ends[1] - ends[0])
        return [const(p) for p in sorted({0, low, high, extent})]

    def _symbolic_ends(self, loop: For, env: Bounds, around: frozenset[Var]) -> list[Expr]:
        points = symbolic_points(loop, around, env)
        if not points or loop.var in self._cut:
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
        for start, end in pairwise(ends):
            body = loop.body
            if const_int(start) != 0:
                body = fresh_allocs(substitute(body, {loop.var: loop.var + start}))
            part = replace(loop, extent=simplify(end - start, env), body=body)
            part = _shorter(part, env, symbolic=const_int(loop.extent) is None)
            if not is_noop(part):
                members.append(self.visit(part, env, around))
        return seq(members)

    def _choice(
        self, loop: For, target: Stmt, ends: list[Expr], env: Bounds, around: frozenset[Var]
    ) -> Stmt:
        """One loop in whose body the target is replaced by its parts, chosen by the variable."""
        inside = env.bind_loop(loop.var, loop.extent)
        inner = frozenset((*around, loop.var))
        chosen: Stmt | None = None
        for start, end in reversed(list(pairwise(ends))):
            low, high = const_int(start), const_int(end)
            known = inside.assume(loop.var < end).assume(loop.var >= start)
            if low is not None and high is not None:
                known = env.bind(loop.var, Interval(low, high - 1))
            part = target if low == 0 else fresh_allocs(target)
            part = _shorter(part, known, symbolic=low is None or high is None)
            part = self.visit(part, known, inner)
            chosen = part if chosen is None else If(loop.var < end, part, chosen)
        assert chosen is not None
        return replace(loop, body=self._with_part(loop.body, target, chosen, inside, inner))

    def _with_part(
        self, stmt: Stmt, target: Stmt, new: Stmt, env: Bounds, around: frozenset[Var]
    ) -> Stmt:
        """The statement with the target replaced, and what stands beside it visited."""
        if stmt is target:
            return new
        if isinstance(stmt, Seq) and any(_holds(s, target) for s in stmt.stmts):
            return seq([self._with_part(s, target, new, env, around) for s in stmt.stmts])
        if isinstance(stmt, (Alloc, Let)) and _holds(stmt, target):
            return replace(stmt, body=self._with_part(stmt.body, target, new, env, around))
        return self.visit(stmt, env, around)


def _wish(loop: For) -> bool | None:
    """Whether the schedule wants a loop cut, wants it whole, or leaves it to us."""
    notes = dict(loop.annotations)
    tail, hint = notes.get("tail"), notes.get("loop_partition_hint")
    if tail is not None:
        return tail == "peel"
    return hint if isinstance(hint, bool) else None


def _concerned_part(loop: For) -> Stmt:
    """The smallest part of the body in which all conditions on the loop's variable stand."""
    part = loop.body
    while True:
        if isinstance(part, Alloc) or (isinstance(part, Let) and not _value_asks(part, loop.var)):
            part = part.body
            continue
        if isinstance(part, Seq):
            asking = [s for s in part.stmts if asks_about(s, loop.var)]
            if len(asking) == 1:
                part = asking[0]
                continue
        return part


def _value_asks(stmt: Let, var: Var) -> bool:
    return uses_var(stmt.value, {var}) and asks_about(stmt, var)


def _is_cheaper(target: Stmt, body: Stmt) -> bool:
    """Whether to choose between parts in the body: it must save code, and not ask too often."""
    # Vectors and written-out loops are straight code: a question costs as much as a part of them.
    long = any(isinstance(n, For) and n.kind == "serial" for n in walk(target))
    return long and _weight(target) < _weight(body)


def _holds(stmt: Stmt, target: Stmt) -> bool:
    if stmt is target:
        return True
    if isinstance(stmt, (Alloc, Let)):
        return _holds(stmt.body, target)
    return isinstance(stmt, Seq) and any(_holds(s, target) for s in stmt.stmts)


def _shorter(part: Stmt, env: Bounds, *, symbolic: bool) -> Stmt:
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
        case Alloc() | Let():
            return _weight(stmt.body)
        case _:
            return 1
