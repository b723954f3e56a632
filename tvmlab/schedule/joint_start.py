"""Where sums begin that threads do together.

Each round of the loops around such a sum ends with the threads joining their parts. The result of
the first round replaces what was there, that of a later one is added: it must be plain from the
loops around which rounds are first ones, whatever each thread does in them.
"""

from __future__ import annotations

from typing import Protocol

from tvmlab.arith import polyhedral, prove, simplify
from tvmlab.ir import (
    Expr,
    For,
    PlacedBlock,
    Var,
    conjuncts,
    const,
    is_const,
    joint_loops,
    reduced_by_threads,
    substitute,
)

from .index import ProgramIndex
from .legality import binding_vars, vars_of
from .repeats import sums_meet
from .verdict import RefusedError


class Doubt(Protocol):
    """Makes the refusal of a step that could not be shown to be lawful."""

    def __call__(self, rule: str, why: str, *, subject: object) -> RefusedError: ...


def require_clear_start(index: ProgramIndex, placed: PlacedBlock, loop: For, doubt: Doubt) -> None:
    """Refuse to share a sum out to threads where its first round cannot be told from later ones."""
    block = placed.block
    around, inside = joint_loops(placed)
    reducing = binding_vars(block, "reduce")
    own = {lp.var for lp in (*inside, *reduced_by_threads(placed))} & reducing
    if not _begins_at_zero(index, placed, own):
        raise doubt(
            "unclear-start",
            f"{loop.var.name} is a reduction loop of block {block.name}, and it cannot be told "
            f"from the loops around it in which of their rounds the sum begins",
            subject=loop.var,
        )
    linked = [vars_of(c) for c in conjuncts(block.predicate) if vars_of(c) & own]
    others = [lp for lp in around if lp.var not in reducing]
    sharing = [lp for lp in others if any(lp.var in names for names in linked)]
    if sharing and _may_meet(index, placed, around):
        raise doubt(
            "shared-sum",
            f"{loop.var.name} is a reduction loop of block {block.name}, and a condition lets each "
            f"iteration of {sharing[0].var.name} do a part of a sum, so that its threads would "
            f"join their parts too early",
            subject=loop.var,
        )


def _begins_at_zero(index: ProgramIndex, placed: PlacedBlock, own: set[Var]) -> bool:
    """Whether reduction variables are 0 only where all that the loops around add to them is 0."""
    env = index.bounds_around(placed.block)
    zero: dict[Var, Expr] = {v: const(0, v.dtype) for v in own}
    for it, binding in zip(placed.block.iters, placed.block.bindings, strict=True):
        if it.kind != "reduce":
            continue
        outside = simplify(substitute(binding, zero), env)
        if is_const(outside, 0):
            continue
        if not prove(outside >= 0, env) or not prove(binding >= outside, env):
            return False
    return True


def _may_meet(index: ProgramIndex, placed: PlacedBlock, around: list[For]) -> bool:
    try:
        return sums_meet(index, placed.block, around) is not None
    except polyhedral.BeyondBudgetError:
        return True
