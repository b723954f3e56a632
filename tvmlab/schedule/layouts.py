"""What layouts of buffers and of iterations share: maps that fit, and nests over new variables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from tvmlab.arith import IndexMap, Inverse, collision, invert, new_shape
from tvmlab.ir import (
    Block,
    Expr,
    For,
    IterKind,
    IterVar,
    Stmt,
    Var,
    const,
    const_int,
    free_vars,
    is_const,
    structural_equal,
    substitute,
    walk,
)
from tvmlab.support import ShapeError

from .index import ProgramIndex
from .rewrite import wrap_loops
from .verdict import refuse, unsure


@dataclass(frozen=True, slots=True)
class Layout:
    """A map that fits its sizes: the new shape, variables over it, and the way back."""

    mapping: IndexMap
    shape: tuple[Expr, ...]
    variables: tuple[Var, ...]
    inverse: Inverse | None


def layout_of(
    mapping: IndexMap, sizes: Sequence[Expr], step: str, name: str, subject: object
) -> Layout:
    """The layout that a map makes of sizes; refuse if it leaves the axis or is not one-to-one."""
    try:
        shape = new_shape(mapping, sizes)
    except ShapeError as error:
        raise refuse(
            f"{step}.range", f"cannot lay out {name} by {mapping}: {error.message}", subject=subject
        ) from None
    clash = collision(mapping, sizes)
    if clash is not None:
        found = "both become" in clash
        why = "two of its places would become one" if found else clash
        refusal = refuse if found else unsure
        raise refusal(
            f"{step}.not-one-to-one",
            f"cannot lay out {name} by {mapping}: {why}",
            witness=clash if found else None,
            subject=subject,
        )
    variables = tuple(Var(f"v{_axis_name(result)}") for result in mapping.results)
    return Layout(mapping, shape, variables, invert(mapping, sizes, variables, shape))


def _axis_name(result: Expr) -> str:
    """A name for a new index: that of the old one, with what became of it."""
    used = [v.name.removeprefix("v") or v.name for v in free_vars(result)]
    if isinstance(result, Var) or not used:
        return used[0] if used else "unit"
    if len(used) > 1:
        return "_".join(used)
    ops = {getattr(n, "op", None) for n in walk(result)}
    return f"{used[0]}_inner" if "floormod" in ops else f"{used[0]}_outer"


def leaves_padding(layout: Layout) -> bool:
    """Whether there are new places (or it is not known) that no old one goes to."""
    return layout.inverse is None or bool(layout.inverse.inside)


def own_loops(index: ProgramIndex, block: Block, step: str) -> list[For]:
    """The loops directly around a block, if each runs over one of its variables and no more."""
    bound = [b for b in block.bindings if not is_const(b, 0)]
    chain: list[For] = []
    current: Stmt = block
    while len(chain) < len(bound):
        parent = index.parent[current]
        if not isinstance(parent, For):
            break
        chain.insert(0, parent)
        current = parent
    extents = {lp.var: lp.extent for lp in chain if lp.kind == "serial" and not lp.annotations}
    plain = {b for b in bound if isinstance(b, Var)}
    fits = plain == set(extents) and len(plain) == len(bound) and is_const(block.predicate, True)
    same = fits and all(
        structural_equal(extents[b], it.extent)
        for it, b in zip(block.iters, block.bindings, strict=True)
        if isinstance(b, Var)
    )
    if not same or any(
        is_const(b, 0) and const_int(it.extent) != 1
        for it, b in zip(block.iters, block.bindings, strict=True)
    ):
        raise refuse(
            f"{step}.loops",
            f"cannot run {block.name} over other variables: its loops have been changed already; "
            f"transform it while one serial loop runs over each of its variables",
            subject=block.symbol,
        )
    return chain


def new_iters(layout: Layout, kinds: Sequence[IterKind] | None) -> list[IterVar]:
    """The new iteration variables; all spatial if no kinds are given."""
    found: list[IterVar] = []
    for n, (var, size) in enumerate(zip(layout.variables, layout.shape, strict=True)):
        found.append(IterVar(var, size, "spatial" if kinds is None else kinds[n]))
    return found


def nest_over(
    block: Block, iters: Sequence[IterVar], inside: Expr | None = None
) -> tuple[Stmt, tuple[Var, ...]]:
    """A block over variables with one loop for each that takes more than one value."""
    loops: list[For] = []
    bindings: list[Expr] = []
    for it in iters:
        if const_int(it.extent) == 1:
            bindings.append(const(0))
            continue
        var = Var(it.var.name.removeprefix("v") or it.var.name)
        loops.append(For(var, it.extent, block))
        bindings.append(var)
    values = dict(zip((it.var for it in iters), bindings, strict=True))
    predicate = block.predicate if inside is None else substitute(inside, values)
    placed = replace(block, iters=tuple(iters), bindings=tuple(bindings), predicate=predicate)
    return wrap_loops(loops, placed), tuple(loop.var for loop in loops)
