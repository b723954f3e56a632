"""What a default schedule asks of a program: loops of a block by kind, and how accesses step."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import prod
from typing import TypeVar

from tvmlab.arith import linear_form, simplify
from tvmlab.ir import (
    Binary,
    Block,
    Buffer,
    Call,
    Expr,
    Load,
    Store,
    Var,
    const,
    const_int,
    substitute,
    uses_var,
    walk,
)
from tvmlab.schedule import BlockRef, LoopRef, RefusedError, Schedule, accesses, index_of

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Access:
    """A load or store: elements from one iteration of a loop to the next; None: no fixed number."""

    buffer: Buffer
    written: bool
    steps: dict[Var, int | None]


def tried(step: Callable[[], T]) -> T | None:
    """The result of a step, or None if it is refused."""
    try:
        return step()
    except RefusedError:
        return None


def block_of(sch: Schedule, block: BlockRef) -> Block:
    """The block that a reference stands for."""
    return index_of(sch.program).blocks[block.symbol]


def reduced_by(sch: Schedule, block: BlockRef) -> set[Var]:
    """The loops over which a block reduces."""
    found = block_of(sch, block)
    loops = [loop.var for loop in sch.loops(block)]
    at = [b for it, b in zip(found.iters, found.bindings, strict=True) if it.kind != "spatial"]
    return {loop for loop in loops if any(uses_var(b, {loop}) for b in at)}


def size_of(loops: list[LoopRef]) -> int:
    """Iterations of loops together; one whose extent is known only at run time counts as many."""
    return prod(loop.extent if loop.extent is not None else 1024 for loop in loops)


def work_of(sch: Schedule, block: BlockRef) -> int:
    """How much a block does: iterations, those with function calls and divisions count more."""
    body = block_of(sch, block).body
    heavy = sum(isinstance(n, Call) or _is_division(n) for n in walk(body))
    return size_of(sch.loops(block)) * (1 + 8 * heavy)


def _is_division(node: object) -> bool:
    return isinstance(node, Binary) and node.op == "div"


def access_steps(sch: Schedule, block: BlockRef) -> list[Access]:
    """How the accesses of a block's body step through memory, loop by loop."""
    index = index_of(sch.program)
    found = index.blocks[block.symbol]
    at = {it.var: b for it, b in zip(found.iters, found.bindings, strict=True)}
    env = index.bounds_around(found)
    loops = [loop.var for loop in index.loops_around(found)]
    made: dict[tuple[Buffer, Expr], Access] = {}
    for node in accesses(found):
        address = _address(node)
        key = (node.buffer, const(0) if address is None else address)
        if address is None:
            made[key] = Access(node.buffer, isinstance(node, Store), dict.fromkeys(loops))
            continue
        form = linear_form(simplify(substitute(address, at), env), env)
        steps: dict[Var, int | None] = {loop: form.terms.get(loop, 0) for loop in loops}
        for term in form.terms:
            if not isinstance(term, Var):
                steps |= {loop: None for loop in loops if uses_var(term, {loop})}
        if not (isinstance(node, Load) and key in made):
            made[key] = Access(node.buffer, isinstance(node, Store), steps)
    return list(made.values())


def _address(node: Load | Store) -> Expr | None:
    """The offset of an element in elements; None if a size is known only at run time."""
    total: Expr = const(0)
    for index, size in zip(node.indices, node.buffer.shape, strict=True):
        known = const_int(size)
        if known is None and const_int(total) != 0:
            return None
        total = total * (known or 1) + index
    return total
