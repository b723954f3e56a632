"""Dividing the iterations of a block between the loops outside a tile and those inside it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import prod

from tvmlab.arith import (
    Bounds,
    LinearForm,
    bound_of,
    form_to_expr,
    linear_form,
    prove,
    simplify,
    simplify_stmt,
)
from tvmlab.ir import (
    Block,
    Compare,
    Expr,
    For,
    If,
    IterVar,
    Stmt,
    Store,
    Var,
    compare,
    conjunction,
    conjuncts,
    const,
    const_int,
    is_const,
    substitute,
    to_text,
)

from .dependence import find_read_of_others, together
from .index import ProgramIndex
from .legality import binding_vars, vars_of
from .regions import block_with_regions
from .repeats import surely_runs_once
from .tile_form import TileAxis, TileForm, form_of_tile
from .verdict import RefusedError, refuse, unsure


def divide(index: ProgramIndex, loop: For, primitive: str) -> Division:
    """Divide the one block under a loop at that loop; `primitive` is named in refusals."""
    return Division(index, loop, _only_block(index, loop, primitive), primitive)


@dataclass(frozen=True, slots=True)
class Tile:
    """An iteration variable divided: `number * size + inner`, `inner` over the loops inside."""

    iter: IterVar | None
    binding: Expr
    size: int
    number: LinearForm
    value: Expr


class Division:
    """Divides the iterations of a block between the loops around a loop and those inside it."""

    def __init__(self, index: ProgramIndex, loop: For, block: Block, primitive: str) -> None:
        self._index = index
        around = index.loops_around(block)
        self._primitive = primitive
        self._loop = loop
        self._block = block
        self._inside = around[around.index(loop) :]
        self._inner = {lp.var for lp in self._inside}
        self._env = index.bounds_around(block)
        self._outer_env = index.bounds_around(loop)
        mixed = binding_vars(block, "spatial") & binding_vars(block, "reduce") & self._inner
        if block.init is not None and mixed:
            raise unsure(
                f"{primitive}.mixed",
                f"cannot {_doing(primitive)} {loop.var.name}: loop {next(iter(mixed)).name} "
                f"runs over elements and over the reduction at once",
                subject=loop.var,
            )
        if block.init is not None and self._read_inside():
            raise unsure(
                f"{primitive}.own-results",
                f"cannot {_doing(primitive)} {loop.var.name}: a sum of {block.name} looks at other "
                f"results of {block.name}, which would have been set to their start values by then",
                subject=loop.var,
            )
        if block.init is not None and not surely_runs_once(index, block, self._inside):
            raise refuse(
                f"{primitive}.repeated-sum",
                f"cannot {_doing(primitive)} {loop.var.name}: inside it the sum of {block.name} is "
                f"computed more than once, and would go on from the value before",
                subject=loop.var,
            )
        for lp in self._inside:
            if vars_of(lp.extent):
                raise refuse(
                    f"{primitive}.extent",
                    f"cannot {_doing(primitive)} {loop.var.name}: the extent of {lp.var.name} "
                    f"is no constant",
                    subject=lp.var,
                )

        pairs = zip(block.iters, block.bindings, strict=True)
        self.tiles = [self._tile(it, b) for it, b in pairs]
        parts = conjuncts(block.predicate)
        self.outside = [c for c in parts if not vars_of(c) & self._inner]
        self.inside = [self._in_terms_of(c) for c in parts if vars_of(c) & self._inner]
        """Conditions inside the tile; where one fails, the iteration does not exist."""

    def _read_inside(self) -> bool:
        """Whether a sum of one tile looks at other results of that tile."""
        outer = [together(self._index.loops_around(self._loop))]
        return find_read_of_others(self._index, self._block, outer) is not None

    def block(self) -> Block:
        """The new block; it keeps the symbol of the old one."""
        old, tiles, inside = self._block, self.tiles, self.inside
        values = {it.var: t.value for it, t in zip(old.iters, tiles, strict=True)}
        passing = [
            b < i.extent
            for t in tiles
            if (i := t.iter) is not None and self._may_pass(b := t.binding, i)
        ]
        iters = [t.iter for t in tiles if t.iter is not None]
        bindings = [t.binding for t in tiles if t.iter is not None]
        ranges = Bounds.of({it.var: it.extent for it in iters})
        for lp in self._inside:
            ranges = ranges.bind_loop(lp.var, lp.extent)
        body = simplify_stmt(substitute(old.body, values), ranges)
        made = Block(
            old.symbol,
            tuple(iters),
            tuple(bindings),
            (),
            (),
            _nest(self._inside, inside, body),
            None if old.init is None else self._init(old.init, values, inside, ranges),
            conjunction([*self.outside, *passing]),
            old.annotations,
            old.combiner,
        )
        return block_with_regions(made)

    def form(self) -> TileForm | None:
        """What a tile computes; None if that is not one formula for each point of a box."""
        axes: list[TileAxis] = []
        values: dict[Var, Expr] = {}
        for it, tile in zip(self._block.iters, self.tiles, strict=True):
            first = const(0) if tile.iter is None else tile.iter.var * tile.size
            axis = Var(it.var.name[1:] or it.var.name)
            if tile.size > 1:
                axes.append(TileAxis(axis, tile.size, it.kind))
            values[it.var] = first + axis if tile.size > 1 else first
        points = prod(const_int(lp.extent) or 0 for lp in self._inside)
        whole = points == prod(tile.size for tile in self.tiles)
        if not whole or self.inside or not isinstance(self._block.body, Store):
            return None
        return form_of_tile(self._block, tuple(axes), values)

    def _may_pass(self, binding: Expr, it: IterVar) -> bool:
        """Whether loops go on to tiles of which no element is computed."""
        return not prove(binding < it.extent, self._outer_env)

    def _init(
        self, init: Stmt, values: dict[Var, Expr], inside: Sequence[Expr], env: Bounds
    ) -> Stmt:
        """Start values of the whole tile: loops over its elements, at the first of its sums."""
        pairs = zip(self._block.iters, self._block.bindings, strict=True)
        reducing = {v for it, b in pairs if it.kind == "reduce" for v in vars_of(b)} & self._inner
        first: dict[Var, Expr] = {v: const(0) for v in reducing}
        # It runs in the first round of the block's own sums, so it need not ask for the round.
        outer = [t.iter for t in self.tiles if t.iter is not None and t.iter.kind == "reduce"]
        first.update({it.var: const(0) for it in outer})
        loops = [lp for lp in self._inside if lp.var not in reducing]
        fresh: dict[Var, Expr] = {lp.var: Var(lp.var.name) for lp in loops}
        ranges = env
        for lp in loops:
            var = fresh[lp.var]
            assert isinstance(var, Var)
            ranges = ranges.bind_loop(var, lp.extent)
        # A condition on rounds alone does not keep a sum of none from its start value.
        others = {lp.var for lp in loops} | {t.iter.var for t in self.tiles if t.iter is not None}
        asked = [c for c in inside if vars_of(c) & (others - first.keys())]
        guards = [simplify(substitute(substitute(c, first), fresh), ranges) for c in asked]
        body = substitute(substitute(init, values), {**first, **fresh})
        copies = [replace(lp, var=v) for lp in loops if isinstance(v := fresh[lp.var], Var)]
        return _nest(copies, [g for g in guards if not is_const(g, True)],
                     simplify_stmt(body, ranges))  # fmt: skip

    def _tile(self, it: IterVar, binding: Expr) -> Tile:
        form = linear_form(binding)
        inner = {a: k for a, k in form.terms.items() if vars_of(a) & self._inner}
        if any(not vars_of(a) <= self._inner for a in inner):
            raise self._refusal(it, "division", "outer and inner loops meet inside a division")
        outer = LinearForm({a: k for a, k in form.terms.items() if a not in inner}, form.const)
        offset = form_to_expr(LinearForm(inner, 0))
        run = bound_of(offset, self._env)
        if run.lo != 0 or run.hi is None:
            raise self._refusal(it, "offset", "the inner loops do not run over 0, 1, 2 and so on")
        size = run.hi + 1
        if outer.is_const and outer.const == 0:
            # The tile has all values of the variable.
            return Tile(None, const(0), size, outer, offset)
        if any(k % size for k in (*outer.terms.values(), outer.const)):
            raise self._refusal(
                it,
                "overlap",
                f"the tiles of {size} begin at {_text(outer, self._env)}, which is no multiple of "
                f"{size}, so they overlap or leave gaps",
            )
        quotient = LinearForm({a: k // size for a, k in outer.terms.items()}, outer.const // size)
        bound = simplify(form_to_expr(quotient), self._outer_env)
        extent = simplify((it.extent + (size - 1)) // size)
        tiles, last = const_int(extent), bound_of(bound, self._outer_env).hi
        if tiles is not None and last is not None:
            # Loops that leave a part of the domain out do not begin its last, cut tile either.
            extent = const(min(tiles, last + 1))
        new = replace(it, var=Var(it.var.name), extent=extent)
        value = simplify(new.var * size + offset)
        return Tile(new, bound, size, quotient, value)

    def _in_terms_of(self, condition: Expr) -> Expr:
        """A condition on loops, with the outer ones replaced by the block's variables."""
        found = condition
        if isinstance(condition, Compare):
            form = linear_form(condition.a).minus(linear_form(condition.b))
            for tile in self.tiles:
                form = _with_tile(form, tile)
            limit = LinearForm({}, -form.const)
            found = compare(condition.op, form_to_expr(form.plus(limit)), form_to_expr(limit))
        if vars_of(found) & set(self._outer_env.intervals):
            raise unsure(
                f"{self._primitive}.guard",
                f"cannot {_doing(self._primitive)} {self._loop.var.name}: a condition of block "
                f"{self._block.name} uses loops around it in another way than its tiles do",
                subject=self._loop.var,
            )
        return simplify(found)

    def _refusal(self, it: IterVar, rule: str, why: str) -> RefusedError:
        return unsure(
            f"{self._primitive}.{rule}",
            f"cannot {_doing(self._primitive)} {self._loop.var.name}: in {it.var.name} of block "
            f"{self._block.name} {why}",
            subject=self._loop.var,
        )


def _with_tile(form: LinearForm, tile: Tile) -> LinearForm:
    """A form in which a multiple of a tile's number is said by the tile's variable."""
    if tile.iter is None or not tile.number.terms:
        return form
    atom, factor = next(iter(tile.number.terms.items()))
    times, rest = divmod(form.terms.get(atom, 0), factor)
    if times == 0 or rest:
        return form
    return form.plus(tile.number, -times).plus(LinearForm({tile.iter.var: 1}, 0), times)


def _nest(loops: Sequence[For], conditions: Sequence[Expr], body: Stmt) -> Stmt:
    if conditions:
        body = If(conjunction(list(conditions)), body)
    for lp in reversed(loops):
        body = replace(lp, body=body)
    return body


def _text(form: LinearForm, env: Bounds) -> str:
    return to_text(simplify(form_to_expr(form), env))


def _only_block(index: ProgramIndex, loop: For, primitive: str) -> Block:
    stmt: Stmt = loop
    while isinstance(stmt, For):
        stmt = stmt.body
    if not isinstance(stmt, Block):
        others = ", ".join(b.name for b in index.blocks_under(loop))
        raise refuse(
            f"{primitive}.several",
            f"cannot {_doing(primitive)} {loop.var.name}: it does not hold one nest with one "
            f"block, but {others or 'statements in no block'}",
            subject=loop.var,
        )
    return stmt


def _doing(primitive: str) -> str:
    return "make a block of" if primitive == "blockize" else primitive
