"""Which part of a buffer is touched per iteration of some loops, and nests that cover a part.

The region inference of `compute_at` and its relatives: indices of the accesses, in terms of the
loops that are fixed (outside) and the loops that run (inside), become boxes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from tvmlab.arith import Bounds, Interval, bound_of, linear_form, polyhedral, prove, relax, simplify
from tvmlab.ir import (
    Block,
    Buffer,
    Expr,
    For,
    IterVar,
    Load,
    Stmt,
    Store,
    Var,
    as_expr,
    conjunction,
    conjuncts,
    const,
    const_int,
    is_const,
    shares,
    structural_equal,
    substitute,
    walk,
)

from .assumptions import size_facts
from .block_accesses import BlockAccess, block_accesses
from .index import ProgramIndex, accesses
from .kinds import shifted_iters
from .legality import vars_of
from .regions import Touch, touches, touches_in_loops


@dataclass(frozen=True, slots=True)
class Span:
    """A run of indices of one dimension: `min <= index < min + extent`.

    `guarded` says that the run may leave the dimension and must be cut to it.
    """

    min: Expr
    extent: Expr
    guarded: bool = False

    def is_whole(self, size: Expr) -> bool:
        return is_const(self.min, 0) and self.extent is size


def touched_window(
    index: ProgramIndex,
    blocks: Iterable[Block],
    buffer: Buffer,
    kind: type[Load] | type[Store],
    scope: For | None,
    *,
    virtual_runs: bool = True,
) -> list[Span]:
    """The box of a buffer that blocks read (or write) in one iteration of `scope` and outside.

    Parameters
    ----------
    scope
        The innermost loop that stays fixed; None for the root, where every loop runs. Loops over
        threads that share the buffer run all the same: it must hold what any of them needs.
    virtual_runs
        Whether this holds for virtual threads too.
    """
    fixed = fixed_vars(index, scope, buffer, virtual_runs=virtual_runs)
    env = Bounds.of({v: index.loops[v].extent for v in fixed})
    inner: dict[Var, Expr] = {}
    places: list[list[tuple[Expr, Bounds]]] = [[] for _ in buffer.shape]
    for block in blocks:
        loops = index.loops_around(block)
        inner.update({lp.var: lp.extent for lp in loops if lp.var not in fixed})
        executed = index.bounds_around(block).assume(block.predicate)
        for touch in touches_in_loops(block):
            if touch.buffer is not buffer or not (touch.reads if kind is Load else touch.writes):
                continue
            inner.update(touch.loops)
            there = _inside(executed, touch)
            for place, low, extent in zip(places, touch.mins, touch.extents, strict=True):
                ends = [low] if is_const(extent, 1) else [low, low + (extent - 1)]
                place += [(simplify(end, there), there) for end in ends]
    ranges = Bounds.of(inner)
    running = {v: bound_of(v, ranges) for v in inner}
    return [
        _span(place, size, running, env) for place, size in zip(places, buffer.shape, strict=True)
    ]


def _inside(env: Bounds, touch: Touch) -> Bounds:
    """What is known where an access in the loops of a block's body happens."""
    for var, extent in touch.loops.items():
        env = env.bind_loop(var, extent)
    for condition in touch.conditions:
        env = env.assume(condition)
    return env


def fixed_vars(
    index: ProgramIndex, scope: For | None, buffer: Buffer, *, virtual_runs: bool = True
) -> list[Var]:
    """The loops that stand still while a buffer at `scope` is filled or used, outermost first.

    What a group of threads shares is filled for all of its threads at once.
    """
    if scope is None:
        return []
    around = (*index.loops_around(scope), scope)
    if buffer.scope == "global":
        return [loop.var for loop in around]
    kinds = ("thread", "virtual") if virtual_runs else ("thread",)
    return [lp.var for lp in around if not (lp.kind in kinds and shares(buffer.scope, lp))]


def _span(
    places: Sequence[tuple[Expr, Bounds]],
    size: Expr,
    inner: Mapping[Var, Interval],
    env: Bounds,
) -> Span:
    whole = Span(const(0), size)
    if not places:
        return whole
    box = relax([e for e, _ in places], inner, env)
    limit = const_int(size)
    if box.extent is None:
        return whole
    low = simplify(box.min, env)
    # Guards of tails cut the box: with y0 * 2 + y1 < 3 it ends at 3 although the loops go to 4.
    ends = [bound_of(e - low, executed).hi for e, executed in places]
    reached = max((box.extent if end is None else end + 1 for end in ends), default=box.extent)
    extent = min(box.extent, reached)
    if limit is not None and extent >= limit:
        return whole
    inside = prove(low >= 0, env) and prove(low + extent <= size, env)
    return Span(low, const(extent), guarded=not inside)


@dataclass(frozen=True, slots=True)
class CoveringNest:
    """New loops around a block so that it runs over a window of its iterations."""

    stmt: Stmt
    loops: tuple[Var, ...]


def guards_of(blocks: Sequence[Block], fixed: Iterable[Var]) -> list[Expr]:
    """The conditions on fixed loops without which none of the blocks runs.

    What is computed for these blocks need not run there either.
    """
    outer = set(fixed)
    first, *others = [
        [c for c in conjuncts(block.predicate) if vars_of(c) <= outer] for block in blocks
    ]
    return [c for c in first if all(any(structural_equal(c, d) for d in other) for other in others)]


def cover_window(
    block: Block,
    buffer: Buffer,
    window: Sequence[Span],
    env: Bounds,
    only_where: Sequence[Expr] = (),
    exists: Sequence[Expr] = (),
    also: Mapping[Var, Span] | None = None,
) -> CoveringNest:
    """Loops around `block` that make it write at least `window` of `buffer`, and all it reduces.

    An iteration variable that indexes a dimension by itself runs over that dimension's span, those
    of `also` over theirs; every other one runs over its whole domain. Loops of one iteration are
    left out. `only_where` holds conditions on the loops around under which the block is wanted at
    all, `exists` those on its iteration variables under which there is an iteration.
    """
    spans = {**_iter_spans(block, buffer, window), **(also or {})}
    loops: list[For] = []
    bindings: list[Expr] = []
    guards: list[Expr] = list(only_where)
    for it in block.iters:
        span = spans.get(it.var, Span(const(0), it.extent))
        value = span.min
        if not is_const(span.extent, 1):
            loop_var = Var(_loop_name(it))
            loops.append(For(loop_var, span.extent, block))
            value = simplify(span.min + loop_var, env.bind_loop(loop_var, span.extent))
        bindings.append(value)
        if span.guarded:
            guards += _domain_guards(value, it.extent, env, loops)
    values = dict(zip((it.var for it in block.iters), bindings, strict=True))
    guards += [substitute(condition, values) for condition in exists]
    placed = replace(block, bindings=tuple(bindings), predicate=conjunction(guards))
    stmt: Stmt = placed
    for loop in reversed(loops):
        stmt = replace(loop, body=stmt)
    return CoveringNest(stmt, tuple(loop.var for loop in loops))


def _domain_guards(value: Expr, extent: Expr, env: Bounds, loops: Sequence[For]) -> list[Expr]:
    around = env
    for loop in loops:
        around = around.bind_loop(loop.var, loop.extent)
    wanted = [value >= 0, value < as_expr(extent)]
    return [g for g in wanted if not prove(g, around)]


def _iter_spans(block: Block, buffer: Buffer, window: Sequence[Span]) -> dict[Var, Span]:
    """For each iteration variable that alone indexes a dimension of the store, that span."""
    extents = {it.var: it.extent for it in block.iters}
    found: dict[Var, Span] = {}
    for access in accesses(block):
        if not isinstance(access, Store) or access.buffer is not buffer:
            continue
        places = shifted_iters(access.indices)
        if places is None:
            return {}
        for (variable, shift), span, size in zip(places, window, buffer.shape, strict=True):
            if span.is_whole(size) and not is_const(shift, 0):
                continue  # all of the iterations, of which there are fewer
            shorter = not same_size(extents.get(variable), size)
            first = span.min if is_const(shift, 0) else simplify(span.min - shift)
            found[variable] = replace(span, min=first, guarded=span.guarded or shorter)
    return {v: s for v, s in found.items() if not (s.is_whole(extents[v]))}


def same_size(a: Expr | None, b: Expr) -> bool:
    """Whether two sizes are known to be the same."""
    if a is None:
        return False
    x, y = const_int(a), const_int(b)
    return x == y if x is not None else a is b


def _loop_name(it: IterVar) -> str:
    name = it.var.name
    return name[1:] if name.startswith("v") and name[1:].isidentifier() else name


def covers(index: ProgramIndex, producer: Block, consumer: Block, buffer: Buffer) -> bool:
    """Whether what a consumer reads was written before, in the same iteration of shared loops."""
    key = (producer, consumer, buffer)
    known = index.covered.get(key)
    if known is None:
        known = index.covered[key] = _covers(index, producer, consumer, buffer)
    return known


def _covers(index: ProgramIndex, producer: Block, consumer: Block, buffer: Buffer) -> bool:
    shared = index.common_loops(producer, consumer)
    scope = shared[-1] if shared else None
    if scope is None:
        return True
    if not _runs_whenever(index, producer, consumer, shared):
        return False
    if not _exactly(index, producer, buffer) and not _all_written(
        index, producer, consumer, buffer, scope
    ):
        return False
    env = index.bounds_around(scope).bind_loop(scope.var, scope.extent)
    # Virtual threads run one after another as far as their meaning goes.
    written = touched_window(index, [producer], buffer, Store, scope, virtual_runs=False)
    read = touched_window(index, [consumer], buffer, Load, scope, virtual_runs=False)
    return all(
        _holds(r, w, size, env) for r, w, size in zip(read, written, buffer.shape, strict=True)
    )


def _exactly(index: ProgramIndex, producer: Block, buffer: Buffer) -> bool:
    """Whether a block surely writes all of the box that it writes in."""
    loops = index.loops_around(producer)
    running = {lp.var for lp in loops}
    if any(vars_of(lp.extent) & running for lp in loops):
        return False
    own = [t for t in touches(producer.body) if t.writes and t.buffer is buffer]
    return any(shifted_iters(t.mins) is not None and not t.conditions for t in own)


def _all_written(
    index: ProgramIndex, producer: Block, consumer: Block, buffer: Buffer, scope: For
) -> bool:
    """Whether, element by element, a consumer reads what is written while shared loops stand."""
    fixed = fixed_vars(index, scope, buffer, virtual_runs=False)
    ranges = [c for v in fixed for c in (v >= 0, v < index.loops[v].extent)]
    facts = (*size_facts(index.program), *ranges)
    writes = [_standing(a, fixed) for a in block_accesses(index, producer) if a.writes]
    reads = [_standing(a, fixed) for a in block_accesses(index, consumer) if not a.writes]
    own = [w for w in writes if w.buffer is buffer]
    open_reads = [r for r in reads if r.buffer is buffer and not any(_alike(r, w) for w in own)]
    try:
        return all(polyhedral.missing_element(r, own, facts) is None for r in open_reads)
    except polyhedral.BeyondBudgetError:
        return False


def _alike(read: polyhedral.Access, write: polyhedral.Access) -> bool:
    """Whether a write is, but for the names of loops, the read."""
    running, writing = dict(read.loops), dict(write.loops)
    names = [list(dict.fromkeys(v for i in a.indices for v in walk(i) if v in loops))
             for a, loops in ((read, running), (write, writing))]  # fmt: skip
    others = [extent for v, extent in write.loops if v not in names[1]]
    if len(names[0]) != len(names[1]) or not all(const_int(extent) for extent in others):
        return False
    renamed: dict[Var, Expr] = {}
    for new, old in zip(*names, strict=True):
        assert isinstance(new, Var)
        assert isinstance(old, Var)
        if not same_size(running[new], writing[old]):
            return False
        renamed[old] = new
    return all(
        structural_equal(substitute(w, renamed), r)
        for w, r in zip(write.indices, read.indices, strict=True)
    ) and all(
        any(structural_equal(substitute(c, renamed), d) for d in read.conditions)
        for c in write.conditions
    )


def _standing(found: BlockAccess, fixed: Sequence[Var]) -> polyhedral.Access:
    """The access in one iteration of loops that stand still."""
    loops = tuple((v, extent) for v, extent in found.access.loops if v not in fixed)
    return replace(found.access, loops=loops)


def _runs_whenever(
    index: ProgramIndex, producer: Block, consumer: Block, shared: Sequence[For]
) -> bool:
    """Whether no guard keeps the producer from an iteration in which the consumer runs.

    A guard on the loops that both share must hold where the consumer runs. One on the producer's
    own loops is taken into account by its window. One on both kinds is only accepted if it says
    no more than that the producer stays inside its domain.
    """
    common = {lp.var for lp in shared}
    consuming = index.bounds_around(consumer).assume(consumer.predicate)
    inside_domain = index.bounds_around(producer)
    for it, binding in zip(producer.iters, producer.bindings, strict=True):
        inside_domain = inside_domain.assume(binding >= 0).assume(binding < it.extent)
    for guard in conjuncts(producer.predicate):
        variables = vars_of(guard)
        if variables <= common and not prove(guard, consuming):
            return False
        if variables & common and not variables <= common and not prove(guard, inside_domain):
            return False
    return True


def _holds(read: Span, written: Span, size: Expr, env: Bounds) -> bool:
    if written.is_whole(size):
        return True
    low = linear_form(simplify(read.min - written.min, env))
    if low.terms:
        lowest = bound_of(read.min - written.min, env)
        if lowest.lo is None or lowest.hi is None or lowest.lo < 0:
            return False
        start = lowest.hi
    else:
        start = low.const
    r, w = const_int(read.extent), const_int(written.extent)
    return start >= 0 and r is not None and w is not None and start + r <= w
