"""The two halves of a factored reduction: the block of partial results, and the nest joining them.

for ko in range(17):                             for ko in range(17):
    for ki in range(8):                              for ki in range(8):
        where(ko * 8 + ki < 129)           ->            where(ko * 8 + ki < 129)
        C[0] += A[ko * 8 + ki]                           C_rf[ki] += A[ko * 8 + ki]
                                                 for ki in range(8):
                                                     C[0] += C_rf[ki]
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from tvmlab.arith import prove, simplify
from tvmlab.ir import (
    Block,
    BlockSymbol,
    Buffer,
    Expr,
    For,
    If,
    IterVar,
    Load,
    Select,
    Stmt,
    Store,
    Var,
    conjunction,
    conjuncts,
    const,
    is_const,
    make_block,
    substitute,
    transform,
)
from tvmlab.schedule.index import ProgramIndex
from tvmlab.schedule.legality import binding_vars, vars_of
from tvmlab.schedule.verdict import unsure

from .reduction import ReductionForm


def partial_block(
    index: ProgramIndex,
    block: Block,
    form: ReductionForm,
    loop: For,
    partials: Sequence[Buffer],
    axis: int,
    name: str,
) -> Block:
    """The block that computes one partial result for each iteration of `loop`, in its old place."""
    guard = _guard_of_sums(index, block, loop)
    axes = _partial_axes(index, block, loop, all_loops=not is_const(guard.inside, True))
    factor = axes.loops[loop.var]
    moved = dict(zip(form.buffers, partials, strict=True))

    def visit(current: Expr | Stmt) -> Expr | Stmt:
        if isinstance(current, (Load, Store)) and current.buffer in moved:
            at = _with_axis(current.indices, axis, factor)
            return replace(current, buffer=moved[current.buffer], indices=at)
        return current

    body = transform(substitute(block.body, axes.values), visit)
    inside = substitute(guard.inside, axes.loops)
    if not is_const(inside, True):
        body = _only_where(inside, body)
    starts = [
        (moved[s.buffer], _with_axis(substitute_all(s.indices, axes.values), axis, factor))
        for s in form.stores
    ]
    made = make_block(
        BlockSymbol(name),
        axes.iters,
        axes.bindings,
        body,
        init=form.start(starts),
        predicate=guard.outside,
        annotations=block.annotations,
    )
    return replace(made, combiner=block.combiner)


def joining_nest(
    index: ProgramIndex,
    block: Block,
    form: ReductionForm,
    loop: For,
    partials: Sequence[Buffer],
    axis: int,
    top: For,
) -> Stmt:
    """Loops over the elements and the partial results of each, around the block that joins these.

    The nest goes behind `top`; loops further out are shared.
    """
    spatial = binding_vars(block, "spatial")
    around = index.loops_around(block)
    inner = [lp for lp in around[around.index(top) :] if lp.var in spatial]
    fresh: dict[Var, Expr] = {lp.var: Var(lp.var.name) for lp in inner}
    kept = [
        (it, b) for it, b in zip(block.iters, block.bindings, strict=True) if it.kind == "spatial"
    ]
    run = Var(loop.var.name)
    joined = IterVar(Var(f"v{loop.var.name}"), loop.extent, "reduce")
    into = [Load(s.buffer, s.indices) for s in form.stores]
    values = [
        Load(p, _with_axis(s.indices, axis, joined.var))
        for p, s in zip(partials, form.stores, strict=True)
    ]
    reducing = binding_vars(block, "reduce")
    guards = [c for c in conjuncts(block.predicate) if not vars_of(c) & reducing]
    made = make_block(
        block.symbol,
        [*(it for it, _ in kept), joined],
        [*(substitute(b, fresh) for _, b in kept), run],
        form.join(into, values),
        init=block.init,
        predicate=substitute(conjunction(guards), fresh),
        annotations=block.annotations,
    )
    nest: Stmt = For(run, loop.extent, replace(made, combiner=block.combiner))
    for lp in reversed(inner):
        var = fresh[lp.var]
        assert isinstance(var, Var)
        nest = replace(lp, var=var, body=nest)
    return nest


@dataclass(frozen=True, slots=True)
class _Guard:
    """The block's predicate in two parts: where iterations exist, and which of them count."""

    outside: Expr
    inside: Expr


def _guard_of_sums(index: ProgramIndex, block: Block, loop: For) -> _Guard:
    """Keep the predicate if it does not tell partial results apart, and the first iteration exists.

    What it says of the factored loop and others together would be lost when the block is moved. And
    a partial result may have no iterations at all, as with 20 parts of a sum of 50; it
    must be set to the neutral element nevertheless. In both cases conditions move inside.
    """
    reducing = binding_vars(block, "reduce")
    parts = conjuncts(block.predicate)
    counting = [c for c in parts if vars_of(c) & reducing]
    others = [c for c in parts if not vars_of(c) & reducing]
    first: dict[Var, Expr] = {v: const(0) for v in reducing if v is not loop.var}
    env = index.bounds_around(block).assume(conjunction(others))
    apart = any(loop.var in vars_of(c) for c in counting)
    if not apart and all(prove(simplify(substitute(c, first), env), env) for c in counting):
        return _Guard(block.predicate, const(True))
    return _Guard(conjunction(others), conjunction(counting))


@dataclass(frozen=True, slots=True)
class _Axes:
    """Iteration variables of the partial results.

    `values` gives the old variables in terms of them, `loops` the loops that a guard may name.
    """

    iters: list[IterVar]
    bindings: list[Expr]
    values: dict[Var, Expr]
    loops: dict[Var, Expr]


def _partial_axes(index: ProgramIndex, block: Block, loop: For, *, all_loops: bool) -> _Axes:
    """Variables for single loops in place of the reduction variables that `loop` takes part in."""
    pairs = list(zip(block.iters, block.bindings, strict=True))
    reducing = binding_vars(block, "reduce")
    apart = set(reducing) if all_loops else {loop.var}
    for _ in pairs:
        for it, binding in pairs:
            used = vars_of(binding) & reducing
            if it.kind == "reduce" and used & apart:
                apart |= used
    chain = [lp for lp in index.loops_around(block) if lp.var in apart]
    iters: list[IterVar] = []
    bindings: list[Expr] = []
    values: dict[Var, Expr] = {}
    loops: dict[Var, Expr] = {}
    for it, binding in pairs:
        if it.kind == "spatial" or not vars_of(binding) & apart:
            fresh = replace(it, var=Var(it.var.name))
            iters.append(fresh)
            bindings.append(binding)
            values[it.var] = fresh.var
            if isinstance(binding, Var):
                loops[binding] = fresh.var
    for lp in chain:
        kind = "spatial" if lp is loop else "reduce"
        fresh = IterVar(Var(f"v{lp.var.name}"), lp.extent, kind)
        iters.insert(0 if lp is loop else len(iters), fresh)
        bindings.insert(0 if lp is loop else len(bindings), lp.var)
        loops[lp.var] = fresh.var
    for it, binding in pairs:
        if it.var not in values:
            values[it.var] = simplify(substitute(binding, loops))
    _require_known(block, loop, loops, all_loops=all_loops)
    return _Axes(iters, bindings, values, loops)


def _require_known(block: Block, loop: For, loops: dict[Var, Expr], *, all_loops: bool) -> None:
    """Refuse if a condition on sums names a loop that no variable of the block stands for."""
    reducing = binding_vars(block, "reduce")
    for condition in conjuncts(block.predicate) if all_loops else ():
        unknown = vars_of(condition) - set(loops)
        if vars_of(condition) & reducing and unknown:
            raise unsure(
                "rfactor.guard",
                f"cannot factor {block.name} by {loop.var.name}: a condition of the block says in "
                f"terms of loop {next(iter(unknown)).name} which iterations count, and that is "
                f"not known inside the block",
                subject=loop.var,
            )


def _only_where(condition: Expr, body: Stmt) -> Stmt:
    """Let a body count only where a condition holds."""
    if isinstance(body, Store):
        kept = Load(body.buffer, body.indices)
        return replace(body, value=Select(condition, body.value, kept))
    return If(condition, body)


def _with_axis(indices: Sequence[Expr], axis: int, value: Expr) -> tuple[Expr, ...]:
    return (*indices[:axis], value, *indices[axis:])


def substitute_all(exprs: Sequence[Expr], values: dict[Var, Expr]) -> tuple[Expr, ...]:
    """The expressions with variables replaced in each."""
    return tuple(substitute(e, values) for e in exprs)
