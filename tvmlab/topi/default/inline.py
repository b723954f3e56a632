"""Producers that are computed in their consumers: what is cheap, or used once."""

from __future__ import annotations

from math import prod

from tvmlab.ir import Binary, Block, Buffer, Call, Load, Select, const_int, walk
from tvmlab.schedule import ProgramIndex, Schedule, block_kind, index_of

from .look import tried

_CHEAP = 2
"""Operations of an element that are rather repeated than stored and read again."""

_MOST_REPEATS = 16
"""How often a cheap element may be computed again."""


def inline_producers(sch: Schedule) -> None:
    """Inline intermediates, those that are computed first before those made of them."""
    for block in sch.blocks():
        index = index_of(sch.program)
        if _worth_inlining(index, index.blocks[block.symbol]):
            tried(lambda block=block: sch.compute_inline(block))


def _worth_inlining(index: ProgramIndex, block: Block) -> bool:
    if block_kind(block) != "complete" or len(block.writes) != 1:
        return False
    buffer = block.writes[0].buffer
    if buffer not in index.program.allocs:
        return False
    consumers = index.consumers(buffer)
    reads = sum(_reads(index, consumer, buffer) for consumer in consumers)
    if reads <= _size(index, block):
        return True
    heavy, light = _operations(block)
    if heavy or light > _CHEAP or any(len(_loads(c, buffer)) > 1 for c in consumers):
        return False
    repeated_by_sums = any(block_kind(c) == "reduction" for c in consumers)
    return light == 0 or reads <= (2 if repeated_by_sums else _MOST_REPEATS) * _size(index, block)


def _size(index: ProgramIndex, block: Block) -> float:
    """Iterations of a block; infinite if they are known only at run time and so never few."""
    return prod(const_int(loop.extent) or 1024 for loop in index.loops_around(block))


def _reads(index: ProgramIndex, consumer: Block, buffer: Buffer) -> float:
    """How often a consumer reads elements, equal places within an iteration counted once."""
    return len(_loads(consumer, buffer)) * _size(index, consumer)


def _loads(block: Block, buffer: Buffer) -> set[object]:
    return {n.indices for n in walk(block.body) if isinstance(n, Load) and n.buffer is buffer}


def _operations(block: Block) -> tuple[int, int]:
    """Function calls, divisions and choices; and other operations on values."""
    heavy = light = 0
    for node in walk(block.body):
        if isinstance(node, (Call, Select)) or (isinstance(node, Binary) and node.op == "div"):
            heavy += 1
        elif isinstance(node, Binary) and node.dtype.is_float:
            light += 1
    return heavy, light
