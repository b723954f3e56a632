"""Cutting loops into several and joining several into one: split and fuse."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from math import prod

from tvmlab.arith import Bounds, bound_of, prove, simplify
from tvmlab.ir import (
    Annotations,
    Expr,
    For,
    Program,
    Var,
    as_expr,
    conjunction,
    const,
    const_int,
    eq,
    substitute,
    to_text,
    uses_var,
)
from tvmlab.schedule.assumptions import INDEPENDENT, is_assumed, without_assumption
from tvmlab.schedule.index import ProgramIndex, index_of
from tvmlab.schedule.legality import binding_vars, require_serial
from tvmlab.schedule.notes import TAIL
from tvmlab.schedule.registry import Applied, ParamSpec, primitive
from tvmlab.schedule.rewrite import rebind, replace_stmts
from tvmlab.schedule.verdict import RefusedError, refuse, unsure

TAILS = ("auto", "guard", "mask", "peel")
_SUFFIXES = {2: ("outer", "inner")}


@primitive(
    "split", "split", "s",
    ParamSpec("loop", "loop", "the loop to split"),
    ParamSpec(
        "factors", "factors", "extents from the outermost in; one may be None", default=(None, 4)
    ),
    ParamSpec("tail", "choice", "how a tail is done", TAILS, "auto", required=False),
    ParamSpec(
        "disable_predication", "bool", "whether to refuse a split that leaves a tail",
        default=False, required=False,
    ),
)  # fmt: skip
def split(
    program: Program,
    loop: Var,
    factors: Sequence[int | None],
    tail: str = "auto",
    disable_predication: bool = False,
) -> Applied:
    """Split a loop into several nested ones, whose extents are the factors.

    One factor may be None: it becomes as large as needed. Factors that do not divide the extent
    leave a tail, which is guarded; a factor larger than what is left is cut down to it. `tail` says
    how lowering does it: "guard" asks in each iteration, "mask" lets the vectors of a vectorized
    inner loop leave lanes out, "peel" makes a loop of its own for it, "auto" chooses. Notes on the
    loop go to the outermost of the new ones.

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
    extents = _split_extents(target, tuple(factors), index.bounds_around(target))
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
    fits = prove(guard, env)
    if disable_predication and not fits:
        raise _leaves_tail(target, factors)
    body = rebind(target.body, {loop: value}, env, None if fits else simplify(guard, env))
    notes: Annotations = () if fits or tail == "auto" else ((TAIL, tail),)
    kept = tuple(note for note in target.annotations if not notes or note[0] != TAIL)
    for var, extent in zip(reversed(news), reversed(extents), strict=True):
        own = kept if var is news[0] else ()
        body = For(var, as_expr(extent), body, annotations=(*own, *notes))
    return Applied(replace_stmts(program, {target: body}), tuple(news))


def _leaves_tail(loop: For, factors: Sequence[int | None]) -> RefusedError:
    return refuse(
        "split.tail",
        f"cannot split {loop.var.name} by {list(factors)} without a condition: the factors are not "
        f"known to divide its extent, and the last iterations would leave it; pad the block to a "
        f"multiple first",
        subject=loop.var,
    )


def _split_extents(loop: For, factors: tuple[int | None, ...], env: Bounds) -> list[Expr]:
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
        return _symbolic_extents(loop, factors, env)
    if None not in factors and prod(known) < extent:
        raise refuse(
            "split.too-small",
            f"cannot split {name} by {list(factors)}: the factors make {prod(known)} iterations, "
            f"but the loop has {extent}",
            witness=f"{name}={prod(known)} would never run",
            subject=loop.var,
        )
    if extent == 0:
        return [const(0), *(const(1) for _ in factors[1:])]
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


def _symbolic_extents(loop: For, factors: tuple[int | None, ...], env: Bounds) -> list[Expr]:
    if None not in factors:
        raise refuse(
            "split.symbolic-extent",
            f"cannot split {loop.var.name} by {list(factors)}: its extent is known only at run "
            f"time, so one factor must be None",
            subject=loop.var,
        )
    rest = prod(f for f in factors if f is not None)
    divisible = prove(eq(loop.extent % rest, 0), env)
    rounded = loop.extent if divisible else loop.extent + (rest - 1)
    missing = simplify(rounded // rest, Bounds.of({}))
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
    require_rounds(index, chosen, "fuse")
    extents, guards = _rectangular(index, chosen)
    fused = Var("_".join(loop.var.name for loop in chosen) + "_fused")
    total: Expr = const(1)
    for extent in extents:
        total = total * extent
    env = index.bounds_around(chosen[0]).bind_loop(fused, total)
    values: dict[Var, Expr] = {}
    rest: Expr = fused
    for loop, extent in zip(reversed(chosen[1:]), reversed(extents[1:]), strict=True):
        divisor = const(1) if const_int(extent) == 0 else extent  # then there is no iteration
        values[loop.var] = simplify(rest % divisor, env)
        rest = rest // divisor
    values[chosen[0].var] = simplify(rest, env)
    guard = substitute(conjunction(guards), values) if guards else None
    body = rebind(chosen[-1].body, values, env, guard)
    joined = For(fused, total, body, annotations=chosen[0].annotations)
    if not all(is_assumed(loop.annotations, INDEPENDENT) for loop in chosen):
        joined = without_assumption(joined, INDEPENDENT)
    return Applied(replace_stmts(program, {chosen[0]: joined}), (fused,))


def require_rounds(index: ProgramIndex, loops: Sequence[For], primitive: str) -> None:
    """Refuse to join elements with rounds of their sums, of which there may be none.

    A loop over both runs no iteration then, and nobody would set the start values.
    """
    for block in index.blocks_under(loops[0]):
        reducing, env = binding_vars(block, "reduce"), index.bounds_around(loops[0])
        rounds = [lp for lp in loops if lp.var in reducing]
        if block.init is None or not rounds or len(rounds) == len(loops):
            continue
        empty = next((lp for lp in rounds if not prove(lp.extent >= 1, env)), None)
        if empty is not None:
            raise unsure(
                f"{primitive}.empty-sum",
                f"cannot {primitive} {', '.join(lp.var.name for lp in loops)}: "
                f"{empty.var.name} may have no iterations, and the sums of {block.name} would then "
                f"not get their start values; assume that the size is at least 1, or take "
                f"decompose_reduction first",
                subject=empty.var,
            )


def _rectangular(index: ProgramIndex, loops: Sequence[For]) -> tuple[list[Expr], list[Expr]]:
    """Extents that do not depend on each other, and what then keeps the iterations inside."""
    extents: list[Expr] = []
    guards: list[Expr] = []
    for position, loop in enumerate(loops):
        outside = {outer.var for outer in loops[:position]}
        if not uses_var(loop.extent, outside):
            extents.append(loop.extent)
            continue
        longest = bound_of(loop.extent, index.bounds_around(loop)).hi
        if longest is None:
            outer = next(o for o in loops[:position] if uses_var(loop.extent, {o.var}))
            raise refuse(
                "fuse.dependent-extent",
                f"cannot fuse {outer.var.name} and {loop.var.name}: the extent of {loop.var.name} "
                f"is {to_text(loop.extent)}, which depends on {outer.var.name} and has no constant "
                f"bound",
                subject=loop.var,
            )
        extents.append(const(longest))
        guards.append(loop.var < loop.extent)
    return extents, guards
