"""Let the first virtual thread do what all share, where a condition would have each do it.

    for v in virtual(4):                          for v in virtual(4):
        with block("T"):                              with block("T"):
            where(v < 3)                      ->          where(v < 3 and v == 0)
            T[0] = T[0] + 1.0                             T[0] = T[0] + 1.0

A block that does not depend on a loop over threads is done by the first of them for all, if they
share what it writes. Interleaving does once what does not mention the virtual thread; a condition
that mentions it has to say so. (For the other threads `unify_threads` does.)
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from tvmlab.ir import (
    Block,
    Expr,
    For,
    PlacedBlock,
    Program,
    Sharing,
    conjunction,
    eq,
    placed_blocks,
    touched_buffers,
    transform_stmts,
    walk,
    with_body,
)


def once_for_virtual(program: Program) -> Program:
    """Give blocks that virtual threads share a condition that only the first of them fulfils."""
    if not any(isinstance(n, For) and n.kind == "virtual" for n in walk(program.body)):
        return program
    sharing = Sharing(program)
    firsts = {p.block: _firsts(p, sharing) for p in placed_blocks(program.body)}

    def visit(node: Any) -> Any:
        more = firsts.get(node) if isinstance(node, Block) else None
        return replace(node, predicate=conjunction([node.predicate, *more])) if more else node

    return with_body(program, transform_stmts(program.body, visit))


def _firsts(placed: PlacedBlock, sharing: Sharing) -> list[Expr]:
    """The conditions under which a block is done by the first virtual thread only."""
    written = touched_buffers(placed.block)[1]
    return [
        eq(loop.var, 0)
        for loop in placed.loops
        if loop.kind == "virtual"
        and not placed.depends_on(loop)
        and placed.is_conditional_on(loop)
        and all(sharing.shared(b, loop) for b in written)
    ]
