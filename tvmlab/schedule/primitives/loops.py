"""Loop transformations: split, fuse, reorder."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import replace
from math import prod

from tvmlab.arith import prove, simplify
from tvmlab.ir import Block, Expr, For, Program, Stmt, Var, as_expr, const, const_int, uses_var
from tvmlab.schedule.index import ProgramIndex, index_of
from tvmlab.schedule.kinds import block_kind
from tvmlab.schedule.legality import (
    binding_vars,
    require_chain,
    require_ordinary_blocks,
    require_serial,
)
from tvmlab.schedule.notes import require_unheld
from tvmlab.schedule.registry import Applied, ParamSpec, primitive
from tvmlab.schedule.repeats import runs_once
from tvmlab.schedule.rewrite import rebind, replace_stmts
from tvmlab.schedule.verdict import refuse, unsure

_SUFFIXES = {2: ("outer", "inner")}


@primitive(
    "split", "split", "s",
    ParamSpec("loop", "loop", "the loop to split"),
    ParamSpec(
        "factors", "factors", "extents from the outermost in; one may be None", default=(None, 4)
    ),
)  # fmt: skip
def split(program: Program, loop: Var, factors: Sequence[int | None]) -> Applied:
    """Split a loop into several nested ones, whose extents are the factors.

    One factor may be None: it becomes as large as needed. Factors that do not divide the extent
    leave a tail, which is guarded; a factor larger than what is left is cut down to it.

    Before::

        for i in range(100):
            ...i...

    After `split(i, [None, 8])`::

        for i_outer in range(13):
            for i_inner in range(8):
                where(i_outer * 8 + i_inner < 100)
                ...i_outer * 8 + i_inner...
    """
    index = index_of(program)
    target = index.loops[loop]
    require_serial(target, "split")
    extents = _split_extents(target, tuple(factors))
    names = _SUFFIXES.get(len(extents), tuple(str(n) for n in range(len(extents))))
    news = [Var(f"{loop.name}_{suffix}") for suffix in names]
    value: Expr = const(0)
    for var, extent in zip(news, extents, strict=True):
        value = value * extent + var
    env = index.bounds_around(target)
    for var, extent in zip(news, extents, strict=True):
        env = env.bind_loop(var, as_expr(extent))
    value = simplify(value, env)
    guard = value < target.extent
    body = rebind(
        target.body, {loop: value}, env, None if prove(guard, env) else simplify(guard, env)
    )
    for var, extent in zip(reversed(news), reversed(extents), strict=True):
        body = For(var, as_expr(extent), body)
    return Applied(replace_stmts(program, {target: body}), tuple(news))


def _split_extents(loop: For, factors: tuple[int | None, ...]) -> list[Expr]:
    """The extents of the new loops: None filled in, too large factors cut down."""
    name = loop.var.name
    known = [f for f in factors if f is not None]
    if len(factors) < 2 or len(factors) - len(known) > 1 or any(f < 1 for f in known):
        raise refuse(
            "split.factors",
            f"cannot split {name} by {list(factors)}: give two or more positive factors, of which "
            f"at most one is None",
            subject=loop.var,
        )
    extent = const_int(loop.extent)
    if extent is None:
        return _symbolic_extents(loop, factors)
    if None not in factors and prod(known) < extent:
        raise refuse(
            "split.too-small",
            f"cannot split {name} by {list(factors)}: the factors make {prod(known)} iterations, "
            f"but the loop has {extent}",
            witness=f"{name}={prod(known)} would never run",
            subject=loop.var,
        )
    result: list[int] = []
    left = extent
    for position in range(len(factors) - 1, -1, -1):
        factor = factors[position]
        if factor is None:
            outer = prod(f for f in factors[:position] if f is not None)
            factor = -(-left // outer)
        factor = min(factor, left)
        result.insert(0, factor)
        left = -(-left // factor)
    return [const(f) for f in result]


def _symbolic_extents(loop: For, factors: tuple[int | None, ...]) -> list[Expr]:
    if None not in factors:
        raise refuse(
            "split.symbolic-extent",
            f"cannot split {loop.var.name} by {list(factors)}: its extent is known only at run "
            f"time, so one factor must be None",
            subject=loop.var,
        )
    rest = prod(f for f in factors if f is not None)
    missing = (loop.extent + (rest - 1)) // rest
    return [missing if f is None else const(f) for f in factors]


@primitive("fuse", "fuse", "f", ParamSpec("loops", "loops", "nested loops, outermost first"))
def fuse(program: Program, loops: Sequence[Var]) -> Applied:
    """Join directly nested loops into one.

    Before::

        for i in range(4):
            for j in range(8):
                ...i, j...

    After `fuse(i, j)`::

        for i_j_fused in range(32):
            ...i_j_fused // 8, i_j_fused % 8...
    """
    index = index_of(program)
    chosen = [index.loops[v] for v in loops]
    if len(chosen) < 2:
        raise refuse("fuse.count", "cannot fuse: name two or more nested loops, outermost first")
    for loop in chosen:
        require_serial(loop, "fuse")
    for outer, inner in itertools.pairwise(chosen):
        if outer.body is not inner:
            raise refuse(
                "fuse.not-adjacent",
                f"cannot fuse {outer.var.name} and {inner.var.name}: {inner.var.name} must be the "
                f"only thing directly inside {outer.var.name}",
                subject=inner.var,
            )
    _require_rectangular(chosen, "fuse")
    fused = Var("_".join(loop.var.name for loop in chosen) + "_fused")
    total: Expr = const(1)
    for loop in chosen:
        total = total * loop.extent
    env = index.bounds_around(chosen[0]).bind_loop(fused, total)
    values: dict[Var, Expr] = {}
    rest: Expr = fused
    for loop in reversed(chosen[1:]):
        values[loop.var] = simplify(rest % loop.extent, env)
        rest = rest // loop.extent
    values[chosen[0].var] = simplify(rest, env)
    body = rebind(chosen[-1].body, values, env)
    return Applied(replace_stmts(program, {chosen[0]: For(fused, total, body)}), (fused,))


@primitive("reorder", "reorder", "o", ParamSpec("loops", "loops", "loops in the wanted order"))
def reorder(program: Program, loops: Sequence[Var]) -> Applied:
    """Put loops of one nest into the given order; loops not named keep their places.

    Before::

        for i in range(4):
            for j in range(8):
                ...

    After `reorder(j, i)`::

        for j in range(8):
            for i in range(4):
                ...
    """
    index = index_of(program)
    if len(set(loops)) != len(loops) or len(loops) < 2:
        raise refuse("reorder.count", "cannot reorder: name two or more different loops of a nest")
    chosen = [index.loops[v] for v in loops]
    chain = require_chain(index, chosen, "reorder")
    order = iter(chosen)
    wanted = [next(order) if loop in chosen else loop for loop in chain]
    if wanted == chain:
        return Applied(program)
    for loop in chain:
        require_unheld(loop, "reorder")
    _require_rectangular(chain, "reorder")
    for block in require_ordinary_blocks(chain[-1], "reorder", loops[0]):
        _require_sums_run_once(index, block, chain[0])
    _refuse_parallel_in_vector(index, wanted)
    body: Stmt = chain[-1].body
    for loop in reversed(wanted):
        body = replace(loop, body=body)
    return Applied(replace_stmts(program, {chain[0]: body}))


def _require_rectangular(loops: Sequence[For], primitive: str) -> None:
    for position, loop in enumerate(loops):
        for outer in loops[:position]:
            if uses_var(loop.extent, {outer.var}):
                raise refuse(
                    f"{primitive}.dependent-extent",
                    f"cannot {primitive} {outer.var.name} and {loop.var.name}: the extent of "
                    f"{loop.var.name} depends on {outer.var.name}",
                    subject=loop.var,
                )


def _require_sums_run_once(index: ProgramIndex, block: Block, top: For) -> None:
    around = index.loops_around(block)
    inner = around[around.index(top) :]
    mixed = binding_vars(block, "spatial") & binding_vars(block, "reduce")
    if block.init is not None and mixed:
        raise unsure(
            "reorder.mixed",
            f"cannot reorder around {block.name}: loop {next(iter(mixed)).name} runs over elements "
            f"and over the reduction at once, so the start value might be set too late; decompose "
            f"the reduction or fuse these loops after reordering",
            subject=top.var,
        )
    if block_kind(block) == "reduction" and not runs_once(index, block, inner):
        raise unsure(
            "reorder.repeated-sum",
            f"cannot reorder around {block.name}: some of these loops compute its sum again and "
            f"again, and in another order the sums would run into each other",
            subject=top.var,
        )


def _refuse_parallel_in_vector(index: ProgramIndex, wanted: Sequence[For]) -> None:
    around = index.loops_around(wanted[0]) if wanted else []
    vector: For | None = next((lp for lp in around if lp.kind == "vectorized"), None)
    for loop in wanted:
        if loop.kind == "parallel" and vector is not None:
            raise refuse(
                "reorder.parallel-in-vector",
                f"cannot put the parallel loop {loop.var.name} inside the vectorized loop "
                f"{vector.var.name}: the lanes of a vector cannot start threads",
                subject=loop.var,
            )
        if loop.kind == "vectorized":
            vector = loop
