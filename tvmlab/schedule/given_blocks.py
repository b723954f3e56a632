"""Blocks that a program brings: which of them run for a part of their iterations only.

    for i in range(5):
        with block("C", vi=spatial(8, i)):      three elements are left as they are
            C[vi] = A[vi]

Blocks made from formulas run for all of them, and primitives note where they change that. Of a
program that somebody wrote it is found out once, when its schedule begins.
"""

from __future__ import annotations

from tvmlab.arith import detect_iter_map, polyhedral
from tvmlab.ir import Block, Buffer, Program, Stmt, Var, conjuncts, eq, is_const
from tvmlab.support import UserError

from .assumptions import size_facts
from .index import ProgramIndex, index_of
from .kinds import block_kind
from .notes import PARTIAL, note_of, with_note
from .rewrite import replace_stmts


def with_domains_told(program: Program) -> Program:
    """The program with a note on each block that may leave out iterations; itself if none does."""
    index = index_of(program)
    partial = [
        block
        for block in index.blocks.values()
        if block_kind(block) != "opaque"
        and note_of(block, PARTIAL) is None
        and not _runs_all(index, block)
    ]
    for block in partial:
        _require_first_rounds(index, block)
    told: dict[Stmt, Stmt] = {block: with_note(block, PARTIAL, True) for block in partial}
    return replace_stmts(program, told) if told else program


def _require_first_rounds(index: ProgramIndex, block: Block) -> None:
    """The start value of a sum is set where its variables are 0: that round must be there."""
    if block.init is None:
        return
    pairs = list(zip(block.iters, block.bindings, strict=True))
    kept = [(it, binding) for it, binding in pairs if it.kind != "reduce"]
    first = [eq(binding, 0) for it, binding in pairs if it.kind == "reduce"]
    places = Buffer("elements", tuple(it.extent for it, _ in kept), Var("place").dtype)
    loops = tuple((loop.var, loop.extent) for loop in index.loops_around(block))
    asked = tuple(conjuncts(block.predicate))
    indices = tuple(binding for _, binding in kept)
    some = polyhedral.Access(places, indices, loops, asked)
    started = polyhedral.Access(places, indices, loops, (*asked, *first))
    try:
        missing = polyhedral.missing_element(some, [started], size_facts(index.program))
    except polyhedral.BeyondBudgetError:
        return
    if missing is not None:
        raise UserError(
            f"block {block.name} sets the start value of its sums in round 0, which some of them "
            f"do not have",
            hint="let the variables of the sum start at 0, or set start values in another block",
        )


def _runs_all(index: ProgramIndex, block: Block) -> bool:
    """Whether the loops around a block reach all values of its iteration variables."""
    if not block.iters:
        return is_const(block.predicate, True)
    loops = [(loop.var, loop.extent) for loop in index.loops_around(block)]
    extents = [it.extent for it in block.iters]
    if detect_iter_map(block.bindings, loops, extents, block.predicate).surjective:
        return True
    steps = [Var("step") for _ in block.iters]
    places = Buffer("iterations", tuple(extents), steps[0].dtype)
    whole = polyhedral.Access(places, tuple(steps), tuple(zip(steps, extents, strict=True)))
    run = polyhedral.Access(
        places, tuple(block.bindings), tuple(loops), tuple(conjuncts(block.predicate))
    )
    try:
        return polyhedral.missing_element(whole, [run], size_facts(index.program)) is None
    except polyhedral.BeyondBudgetError:
        return False
