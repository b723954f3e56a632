"""Cutting a loop into consecutive loops, each with copies of the blocks inside.

A copy of a block runs over its own part of the iterations: where an iteration variable takes a run
of values in the part, it counts that run from 0. Conditions that always hold in a part are dropped,
and loops that a condition would cut short are made that short.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from tvmlab.arith import Bounds, bound_of, linear_form, prove, simplify
from tvmlab.ir import (
    Block,
    BlockSymbol,
    Expr,
    For,
    IterVar,
    Program,
    Seq,
    Stmt,
    Var,
    conjunction,
    conjuncts,
    const,
    const_int,
    is_const,
    is_noop,
    make_block,
    seq,
    substitute,
    upper_limit,
)
from tvmlab.schedule.index import ProgramIndex, blocks_in, index_of
from tvmlab.schedule.legality import vars_of
from tvmlab.schedule.rewrite import fresh_copy, replace_stmts, simplify_predicate
from tvmlab.schedule.verdict import refuse, unsure
from tvmlab.support import Namer


@dataclass(frozen=True, slots=True)
class Part:
    """A run of iterations `start <= i < end`; the `kept` one keeps its loop and blocks."""

    start: int
    end: int
    suffix: str
    kept: bool = False


def cut_loop(
    program: Program, loop: For, parts: Sequence[Part], primitive: str
) -> tuple[Program, tuple[Var, ...]]:
    """The program with one loop for each part in place of a loop, and those loops' variables.

    The parts cover the loop's range in order.
    """
    cut = _Cut(index_of(program), loop, primitive)
    loops = tuple(cut.part(part) for part in parts)
    return replace_stmts(program, {loop: seq(loops)}), tuple(lp.var for lp in loops)


class _Cut:
    def __init__(self, index: ProgramIndex, loop: For, primitive: str) -> None:
        self._index = index
        self._loop = loop
        self._primitive = primitive
        self._env = index.bounds_around(loop)
        self._names = Namer(s.name for s in index.blocks)

    def part(self, part: Part) -> For:
        old, extent = self._loop.var, const(part.end - part.start)
        var = old if part.kept else Var(f"{old.name}_{part.suffix}")
        values = {old: var + part.start if part.start else var}
        body = self._copy(self._loop.body, part, values, self._env.bind_loop(var, extent))
        if is_noop(body):
            raise refuse(
                f"{self._primitive}.empty",
                f"cannot {self._primitive} {old.name}: from iteration {part.start} to "
                f"{part.end - 1} no block runs, because of its condition",
                subject=old,
            )
        loop = replace(self._loop, var=var, extent=extent, body=body)
        trimmed = trim_loops(loop)
        assert isinstance(trimmed, For)
        return trimmed

    def _copy(self, stmt: Stmt, part: Part, values: Mapping[Var, Expr], env: Bounds) -> Stmt:
        if isinstance(stmt, Seq):
            return seq([self._copy(s, part, values, env) for s in stmt.stmts])
        if isinstance(stmt, For):
            var = stmt.var if part.kept else Var(stmt.var.name)
            extent = substitute(stmt.extent, values)
            body = self._copy(
                stmt.body, part, {**values, stmt.var: var}, env.bind_loop(var, extent)
            )
            return body if is_noop(body) else replace(stmt, var=var, extent=extent, body=body)
        assert isinstance(stmt, Block)
        copy = self._block(stmt, part, values, env)
        never = is_const(copy.predicate, False)
        return Seq(()) if never and not part.kept else copy

    def _block(self, block: Block, part: Part, values: Mapping[Var, Expr], env: Bounds) -> Block:
        predicate = simplify_predicate(substitute(block.predicate, values), env)
        inside = env.assume(predicate)
        iters: list[IterVar] = []
        bindings: list[Expr] = []
        places: dict[Var, Expr] = {}
        continues = self._continues(block, part, values, env)
        for it, old in zip(block.iters, block.bindings, strict=True):
            binding = simplify(substitute(old, values), env)
            low, size = self._run(it, old, binding, inside)
            fresh = it if part.kept and size is it.extent else replace(it, extent=size)
            fresh = fresh if part.kept else replace(fresh, var=Var(it.var.name))
            iters.append(fresh)
            bindings.append(simplify(binding - low, env) if low else binding)
            places[it.var] = fresh.var + low if low else fresh.var
            # Its first round here is not that of the sum, which another block begins.
            continues |= it.kind == "reduce" and low > 0
        init = None if continues else block.init
        symbol = block.symbol
        if not part.kept:
            symbol = BlockSymbol(self._names.fresh(f"{block.name}_{part.suffix}"))
        return replace(
            make_block(
                symbol,
                iters,
                bindings,
                self._text(block.body, part, places),
                init=None if init is None else self._text(init, part, places),
                predicate=predicate,
                annotations=block.annotations,
            ),
            combiner=block.combiner,
        )

    def _text(self, stmt: Stmt, part: Part, places: Mapping[Var, Expr]) -> Stmt:
        copied = stmt if part.kept else fresh_copy(stmt)
        return substitute(copied, places)

    def _run(self, it: IterVar, old: Expr, binding: Expr, env: Bounds) -> tuple[int, Expr]:
        """First value and number of values, if a variable takes a run of values in the part."""
        whole = (0, it.extent)
        form = linear_form(old)
        factor = form.terms.get(self._loop.var, 0)
        size = const_int(it.extent)
        if factor <= 0 or size is None:
            return whole
        rest = bound_of(simplify(old - self._loop.var * factor, self._everywhere), self._everywhere)
        span = bound_of(binding, env)
        exact = rest.lo == 0 and rest.hi is not None and rest.hi < factor
        if not exact or span.lo is None or span.hi is None:
            return whole
        return span.lo, const(min(span.hi + 1, size) - span.lo)

    @cached_property
    def _everywhere(self) -> Bounds:
        """The ranges of every loop of the program, the cut one whole."""
        return Bounds.of({v: lp.extent for v, lp in self._index.loops.items()})

    def _continues(
        self,
        block: Block,
        part: Part,
        values: Mapping[Var, Expr],
        env: Bounds,
    ) -> bool:
        """Whether the part goes on with sums that an earlier part has begun."""
        if block.init is None or part.start == 0:
            return False
        reducing = [
            substitute(binding, values)
            for it, binding in zip(block.iters, block.bindings, strict=True)
            if it.kind == "reduce" and self._loop.var in vars_of(binding)
        ]
        if not reducing:
            return False
        if any(prove(first > 0, env) for first in reducing):
            return True
        raise unsure(
            f"{self._primitive}.start-value",
            f"cannot {self._primitive} {self._loop.var.name}: it could not be told whether block "
            f"{block.name} begins its sums again in the iterations from {part.start} on",
            subject=self._loop.var,
        )


def require_blocks_only(loop: For, primitive: str) -> None:
    """Refuse to copy what is not made of loops and blocks."""
    stack: list[Stmt] = [loop.body]
    while stack:
        stmt = stack.pop()
        if isinstance(stmt, For):
            stack.append(stmt.body)
        elif isinstance(stmt, Seq):
            stack.extend(stmt.stmts)
        elif not isinstance(stmt, Block):
            raise refuse(
                f"{primitive}.no-block",
                f"cannot {primitive} {loop.var.name}: it contains a statement that is in no block",
                subject=loop.var,
            )


def trim_loops(stmt: Stmt) -> Stmt:
    """Make loops as short as a condition `i < n` of all their blocks says, and drop the condition.

    Before::

        for i in range(8):
            where(i < 5)

    After::

        for i in range(5):
    """
    if isinstance(stmt, Seq):
        return seq([trim_loops(s) for s in stmt.stmts])
    if not isinstance(stmt, For):
        return stmt
    body = trim_loops(stmt.body)
    limits = [_limit(block, stmt.var) for block in blocks_in(body)]
    known = {limit for limit in limits if limit is not None}
    extent = const_int(stmt.extent)
    if None in limits or len(known) != 1 or extent is None:
        return stmt if body is stmt.body else replace(stmt, body=body)
    (limit,) = known
    return replace(stmt, extent=const(limit), body=_without_limit(body, stmt.var))


def _limit(block: Block, var: Var) -> int | None:
    found = [n for c in conjuncts(block.predicate) if (n := _below(c, var)) is not None]
    return min(found) if found else None


def _below(condition: Expr, var: Var) -> int | None:
    """The number that a condition says the variable is below, if some number is."""
    limit = upper_limit(condition, var)
    return limit if limit is not None and limit > 0 else None


def _without_limit(stmt: Stmt, var: Var) -> Stmt:
    if isinstance(stmt, Seq):
        return seq([_without_limit(s, var) for s in stmt.stmts])
    if isinstance(stmt, For):
        return replace(stmt, body=_without_limit(stmt.body, var))
    assert isinstance(stmt, Block)
    kept = [c for c in conjuncts(stmt.predicate) if _below(c, var) is None]
    return replace(stmt, predicate=conjunction(kept))
