"""Dissolve blocks into plain statements: the last use of what they mean.

    with block("C", vi=spatial(8, i), vk=reduce(4, k)):
        where(i < 7)                                         if i < 7:
        with init():                                             if k == 0:
            C[vi] = 0                                ->              C[i] = 0
        C[vi] = C[vi] + A[vi, vk]                                C[i] = C[i] + A[i, k]

From here on there are only loops, conditions and stores.
"""

from __future__ import annotations

from tvmlab.ir import (
    Block,
    If,
    Program,
    Stmt,
    conjunction,
    eq,
    is_const,
    seq,
    substitute,
    transform,
    with_body,
)


def dissolve_blocks(program: Program) -> Program:
    """Replace each block by its body over the loops; afterwards there are no blocks.

    The init runs where all reduction variables are 0, and neither it nor the body where the
    predicate does not hold.
    """
    return with_body(program, transform(program.body, _dissolve))


def _dissolve(node: object) -> object:
    return _plain(node) if isinstance(node, Block) else node


def _plain(block: Block) -> Stmt:
    values = {it.var: b for it, b in zip(block.iters, block.bindings, strict=True)}
    body = substitute(block.body, values)
    if block.init is not None:
        first = conjunction([eq(values[it.var], 0) for it in block.iters if it.kind == "reduce"])
        init = substitute(block.init, values)
        body = seq([init if is_const(first, True) else If(first, init), body])
    return body if is_const(block.predicate, True) else If(block.predicate, body)
