"""Making one block of a loop nest, with the loops inside its body."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

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
    Program,
    Stmt,
    Var,
    compare,
    conjunction,
    conjuncts,
    const,
    is_const,
    substitute,
    to_text,
)
from tvmlab.schedule.index import ProgramIndex, index_of
from tvmlab.schedule.legality import binding_vars, vars_of
from tvmlab.schedule.regions import block_with_regions
from tvmlab.schedule.registry import Applied, ParamSpec, primitive
from tvmlab.schedule.rewrite import replace_stmts
from tvmlab.schedule.verdict import RefusedError, refuse, unsure


@primitive(
    "blockize", "make a block", "",
    ParamSpec("loop", "loop", "the outermost of the loops that go into the block"),
    moves_blocks=True,
)  # fmt: skip
def blockize(program: Program, loop: Var) -> Applied:
    """Make one block of a loop and all inside it; the block works on tiles, not on elements.

    The loops in it are no longer changed by primitives; those around are, tile by tile. A
    reduction whose loops stay outside keeps its start value apart. Returns the block.

    Before::

        for io in range(4):
            for ii in range(8):
                with block("C", vi=spatial(32, io * 8 + ii)):
                    C[vi] = A[vi] * 2

    After `blockize(ii)`::

        for io in range(4):
            with block("C", vi=spatial(4, io)):
                for ii in range(8):
                    C[vi * 8 + ii] = A[vi * 8 + ii] * 2
    """
    index = index_of(program)
    target = index.loops[loop]
    block = _only_block(index, target)
    made = _Division(index, target, block).block()
    return Applied(replace_stmts(program, {target: made}), (made.symbol,))


def _only_block(index: ProgramIndex, loop: For) -> Block:
    stmt: Stmt = loop
    while isinstance(stmt, For):
        stmt = stmt.body
    if not isinstance(stmt, Block):
        others = ", ".join(b.name for b in index.blocks_under(loop))
        raise refuse(
            "blockize.several",
            f"cannot make a block of {loop.var.name}: it does not hold one nest with one block, "
            f"but {others or 'statements in no block'}",
            subject=loop.var,
        )
    return stmt


@dataclass(frozen=True, slots=True)
class _Tile:
    """An iteration variable divided: `outer * size + inner`, with `inner` over the loops inside."""

    iter: IterVar | None
    binding: Expr
    size: int
    outer: LinearForm
    value: Expr


class _Division:
    """Divides the iterations of a block between the loops around a loop and those inside it."""

    def __init__(self, index: ProgramIndex, loop: For, block: Block) -> None:
        around = index.loops_around(block)
        self._loop = loop
        self._block = block
        self._inside = around[around.index(loop) :]
        self._inner = {lp.var for lp in self._inside}
        self._env = index.bounds_around(block)
        self._outer_env = index.bounds_around(loop)
        mixed = binding_vars(block, "spatial") & binding_vars(block, "reduce") & self._inner
        if block.init is not None and mixed:
            raise unsure(
                "blockize.mixed",
                f"cannot make a block of {loop.var.name}: loop {next(iter(mixed)).name} runs over "
                f"elements and over the reduction at once",
                subject=loop.var,
            )
        for lp in self._inside:
            if vars_of(lp.extent):
                raise refuse(
                    "blockize.extent",
                    f"cannot make a block of {loop.var.name}: the extent of {lp.var.name} is no "
                    f"constant",
                    subject=lp.var,
                )

    def block(self) -> Block:
        """The new block; it keeps the symbol of the old one."""
        old = self._block
        tiles = [self._tile(it, b) for it, b in zip(old.iters, old.bindings, strict=True)]
        values = {it.var: t.value for it, t in zip(old.iters, tiles, strict=True)}
        conditions = conjuncts(old.predicate)
        outside = [c for c in conditions if not vars_of(c) & self._inner]
        inside = [self._in_terms_of(c, tiles) for c in conditions if vars_of(c) & self._inner]
        outside += [
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
            conjunction(outside),
            old.annotations,
            old.combiner,
        )
        return block_with_regions(made)

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
        loops = [lp for lp in self._inside if lp.var not in reducing]
        fresh: dict[Var, Expr] = {lp.var: Var(lp.var.name) for lp in loops}
        ranges = env
        for lp in loops:
            var = fresh[lp.var]
            assert isinstance(var, Var)
            ranges = ranges.bind_loop(var, lp.extent)
        guards = [simplify(substitute(substitute(c, first), fresh), ranges) for c in inside]
        body = substitute(substitute(init, values), {**first, **fresh})
        copies = [replace(lp, var=v) for lp in loops if isinstance(v := fresh[lp.var], Var)]
        return _nest(copies, [g for g in guards if not is_const(g, True)],
                     simplify_stmt(body, ranges))  # fmt: skip

    def _tile(self, it: IterVar, binding: Expr) -> _Tile:
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
            return _Tile(None, const(0), size, outer, offset)
        if any(k % size for k in (*outer.terms.values(), outer.const)):
            raise self._refusal(
                it,
                "overlap",
                f"the tiles of {size} begin at {_text(outer, self._env)}, which is no multiple of "
                f"{size}, so they overlap or leave gaps",
            )
        quotient = LinearForm({a: k // size for a, k in outer.terms.items()}, outer.const // size)
        extent = simplify((it.extent + (size - 1)) // size)
        new = replace(it, var=Var(it.var.name), extent=extent)
        value = simplify(new.var * size + offset)
        bound = simplify(form_to_expr(quotient), self._outer_env)
        return _Tile(new, bound, size, outer, value)

    def _in_terms_of(self, condition: Expr, tiles: Sequence[_Tile]) -> Expr:
        """A condition on loops, with the outer ones replaced by the block's variables."""
        found = condition
        if isinstance(condition, Compare):
            form = linear_form(condition.a).minus(linear_form(condition.b))
            for tile in tiles:
                form = _with_tile(form, tile)
            limit = LinearForm({}, -form.const)
            found = compare(condition.op, form_to_expr(form.plus(limit)), form_to_expr(limit))
        if vars_of(found) & set(self._outer_env.intervals):
            raise unsure(
                "blockize.guard",
                f"cannot make a block of {self._loop.var.name}: a condition of block "
                f"{self._block.name} uses loops around it in another way than its tiles do",
                subject=self._loop.var,
            )
        return simplify(found)

    def _refusal(self, it: IterVar, rule: str, why: str) -> RefusedError:
        return unsure(
            f"blockize.{rule}",
            f"cannot make a block of {self._loop.var.name}: in {it.var.name} of block "
            f"{self._block.name} {why}",
            subject=self._loop.var,
        )


def _with_tile(form: LinearForm, tile: _Tile) -> LinearForm:
    """A form in which a multiple of a tile's first element is said by the tile's variable."""
    if tile.iter is None or not tile.outer.terms:
        return form
    atom, factor = next(iter(tile.outer.terms.items()))
    times, rest = divmod(form.terms.get(atom, 0), factor)
    if times == 0 or rest:
        return form
    return form.plus(tile.outer, -times).plus(LinearForm({tile.iter.var: tile.size}, 0), times)


def _nest(loops: Sequence[For], conditions: Sequence[Expr], body: Stmt) -> Stmt:
    if conditions:
        body = If(conjunction(list(conditions)), body)
    for lp in reversed(loops):
        body = replace(lp, body=body)
    return body


def _text(form: LinearForm, env: Bounds) -> str:
    return to_text(simplify(form_to_expr(form), env))
