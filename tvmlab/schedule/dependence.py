"""Which iterations of blocks touch the same elements: the exact half of the legality service.

Asked where the kinds of blocks do not decide: blocks whose order matters (prefix sums, stencils in
place, scans), and buffers that several blocks of one loop share. A question names loops and how
two iterations stand to each other; the answer is the smallest pair that would clash.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, TypeAlias

from tvmlab.arith import polyhedral
from tvmlab.ir import Block, Buffer, Expr, For, Var, structural_equal

from .assumptions import size_facts
from .block_accesses import BlockAccess, block_accesses
from .index import ProgramIndex
from .kinds import reads_other_results
from .witness import ClashKind, Iteration, Witness

Certainty: TypeAlias = Literal["sure", "possible", "too long"]


@dataclass(frozen=True, slots=True)
class Conflict:
    """What stands against a change of order.

    `certainty` is "possible" if the accesses are not linear and were taken for anything, and "too
    long" if the question was given up.
    """

    certainty: Certainty
    first: Block
    second: Block
    buffer: Buffer
    witness: Witness | None = None


def side_by_side(index: ProgramIndex, loop: For) -> list[polyhedral.Order]:
    """Two iterations of a loop, while the loops around it stand still."""
    around: dict[Var, polyhedral.Relation] = {outer.var: "=" for outer in index.loops_around(loop)}
    return [{**around, loop.var: "<"}]


def swapped(
    index: ProgramIndex, chain: Sequence[For], wanted: Sequence[For]
) -> list[polyhedral.Order]:
    """Two iterations of nested loops that run the other way round once the loops are reordered.

    The first stays first unless a loop that moves outwards past the one which tells the two apart
    has a larger value in it.
    """
    around: dict[Var, polyhedral.Relation] = {
        outer.var: "=" for outer in index.loops_around(chain[0])
    }
    orders: list[polyhedral.Order] = []
    for position, deciding in enumerate(chain):
        equal: dict[Var, polyhedral.Relation] = {
            **around,
            **dict.fromkeys((lp.var for lp in chain[:position]), "="),
        }
        for loop in wanted:
            if loop is deciding:
                break
            if loop.var not in equal:
                orders.append({**equal, deciding.var: "<", loop.var: ">"})
                equal = {**equal, loop.var: "="}
    return orders


def together(loops: Sequence[For]) -> polyhedral.Order:
    """Iterations that do not differ in the loops."""
    return {loop.var: "=" for loop in loops}


def earlier(loops: Sequence[For]) -> list[polyhedral.Order]:
    """The first of two iterations comes before the other one in the loops."""
    return [{**together(loops[:n]), loop.var: "<"} for n, loop in enumerate(loops)]


def find_conflict(
    index: ProgramIndex,
    blocks: Sequence[Block],
    orders: Sequence[polyhedral.Order],
    *,
    free_sums: bool,
    skip: Iterable[Buffer] = (),
) -> Conflict | None:
    """A conflict between iterations of blocks in the given relations, a sure one if there is one.

    Parameters
    ----------
    orders
        The relations in which iterations must not touch the same element (unless both read).
    free_sums
        Whether updates of one element by the same associative operation may change places.
    skip
        Buffers that do not matter, because each iteration has its own copy.
    """
    facts = size_facts(index.program)
    ignored = set(skip)
    accesses = [a for block in blocks for a in block_accesses(index, block)]
    accesses = [a for a in accesses if a.access.buffer not in ignored]
    worst: Conflict | None = None
    for one in accesses:
        for other in accesses:
            if not _matters(one, other, free_sums):
                continue
            found = _ask(one, other, orders, facts)
            if found is not None and found.certainty == "sure":
                return found
            worst = worst or found
    return worst


def find_overlap(
    index: ProgramIndex,
    reader: Block,
    writer: Block,
    buffer: Buffer,
    orders: Sequence[polyhedral.Order],
) -> Conflict | None:
    """An element of a buffer that one block reads and another one writes.

    Those iterations are looked at in which loops stand to each other as one of the orders says,
    the reader first.
    """
    facts = size_facts(index.program)
    reads = [a for a in block_accesses(index, reader) if not a.writes]
    writes = [a for a in block_accesses(index, writer) if a.writes]
    found: Conflict | None = None
    for one, other in itertools.product(reads, writes):
        if one.access.buffer is buffer and other.access.buffer is buffer:
            conflict = _ask(one, other, orders, facts)
            if conflict is not None and conflict.certainty == "sure":
                return conflict
            found = found or conflict
    return found


def find_shared(
    index: ProgramIndex,
    first: Block,
    second: Block,
    buffer: Buffer,
    orders: Sequence[polyhedral.Order],
) -> Conflict | None:
    """An element of a buffer that both blocks touch and one writes, the first block before."""
    facts = size_facts(index.program)
    for one in block_accesses(index, first):
        for other in block_accesses(index, second):
            here = one.access.buffer is buffer and other.access.buffer is buffer
            if here and _matters(one, other, False):
                conflict = _ask(one, other, orders, facts)
                if conflict is not None:
                    return conflict
    return None


def find_read_of_others(
    index: ProgramIndex, block: Block, orders: Sequence[polyhedral.Order]
) -> Conflict | None:
    """A result of another iteration that a block reads, besides the element it goes on with."""
    if not reads_other_results(block):
        return None
    facts = size_facts(index.program)
    accesses = block_accesses(index, block)
    writes = [a for a in accesses if a.writes]
    for read in (a for a in accesses if not a.writes):
        for write in (w for w in writes if w.access.buffer is read.access.buffer):
            if not structural_equal(read.access.indices, write.access.indices):
                conflict = _ask(read, write, orders, facts)
                if conflict is not None:
                    return conflict
    return None


def _matters(one: BlockAccess, other: BlockAccess, free_sums: bool) -> bool:
    if one.access.buffer is not other.access.buffer or not (one.writes or other.writes):
        return False
    return not (free_sums and one.sum is not None and one.sum == other.sum)


def _ask(
    one: BlockAccess, other: BlockAccess, orders: Sequence[polyhedral.Order], facts: Sequence[Expr]
) -> Conflict | None:
    pairs = tuple(tuple(order.items()) for order in orders)
    clash = _clash(one.access, other.access, pairs, tuple(facts))
    if clash == "too long":
        return Conflict("too long", one.block, other.block, one.access.buffer)
    if clash is None:
        return None
    witness = _witness(one, other, clash)
    certainty = "sure" if clash.exact else "possible"
    return Conflict(certainty, one.block, other.block, one.access.buffer, witness)


@lru_cache(maxsize=4096)
def _clash(
    one: polyhedral.Access,
    other: polyhedral.Access,
    orders: tuple[tuple[tuple[Var, polyhedral.Relation], ...], ...],
    facts: tuple[Expr, ...],
) -> polyhedral.Clash | Literal["too long"] | None:
    """The answer to a question, which menus and previews ask again and again."""
    try:
        return polyhedral.find_clash(one, other, [dict(order) for order in orders], facts)
    except polyhedral.BeyondBudgetError:
        return "too long"


def _witness(one: BlockAccess, other: BlockAccess, clash: polyhedral.Clash) -> Witness:
    def iteration(access: BlockAccess, values: Mapping[Var, int]) -> Iteration:
        loops = {v.name: n for v, n in values.items() if v in access.outer}
        return Iteration(access.block.name, loops)

    return Witness(
        iteration(one, clash.first),
        iteration(other, clash.second),
        one.access.buffer.name,
        clash.cell,
        _kind(one, other),
        {v.name: n for v, n in clash.sizes.items()},
    )


def _kind(one: BlockAccess, other: BlockAccess) -> ClashKind:
    if one.sum is not None and one.sum == other.sum:
        return "update"
    if one.writes and other.writes:
        return "output"
    return "flow" if one.writes else "anti"
