"""Where results and intermediates lie: in place, past the caches, or asked for ahead."""

from __future__ import annotations

from math import prod

from tvmlab.ir import Block, Buffer, For, const_int
from tvmlab.schedule import BlockRef, LoopRef, ProgramIndex, Schedule, index_of
from tvmlab.target import Target

from .look import tried

_LONG_ROW = 4
"""A row in place of an intermediate of its own pays from so great a part of the first cache on."""

_LARGE_RESULT = 4
"""A result is not kept from the caches if it is a smaller part of the last one than this."""

_LAST_LEVEL, _SECOND, _FIRST = 32 << 20, 1 << 20, 32 << 10
"""Where the machine does not tell."""


def place_in_memory(sch: Schedule, machine: Target) -> None:
    """Spare memory traffic, once all loops are in their final order.

    What does not fit into the caches is stored past them, so that it need not be read first. Else
    long rows that wait for the last operation do so in the output's memory. Rows that are read
    several times are asked for while the row before is computed.
    """
    first, second, _ = _cache_sizes(machine)
    for buffer in _results(sch):
        if goes_past_caches(sch, buffer, machine):
            _store_past_caches(sch, buffer)
        else:
            _store_in_place(sch, buffer, first // _LONG_ROW)
    if _moved(sch) > second:
        _ask_ahead(sch)


def goes_past_caches(sch: Schedule, buffer: Buffer, machine: Target) -> bool:
    """Whether a buffer is a result so large that the caches would only be emptied for it."""
    last = _cache_sizes(machine)[2]
    large = _moved(sch) > last and _bytes(buffer) * _LARGE_RESULT > last
    return large and buffer in sch.program.params


def is_large_result(sch: Schedule, buffer: Buffer, machine: Target) -> bool:
    """Whether a buffer is a result that the first cache does not hold."""
    return buffer in sch.program.params and _bytes(buffer) > first_cache(machine)


def first_cache(machine: Target) -> int:
    """Its size in bytes."""
    return _cache_sizes(machine)[0]


def _moved(sch: Schedule) -> int:
    """Bytes of all parameters."""
    return sum(_bytes(p) for p in sch.program.params if isinstance(p, Buffer))


def _cache_sizes(machine: Target) -> tuple[int, int, int]:
    sizes = {cache.level: cache.size for cache in machine.caches}
    return sizes.get(1, _FIRST), sizes.get(2, _SECOND), sizes.get(3, _LAST_LEVEL)


def _bytes(buffer: Buffer) -> int:
    """The size of a buffer; 0 if it is known only at run time."""
    return prod(const_int(size) or 0 for size in buffer.shape) * buffer.dtype.itemsize


def _results(sch: Schedule) -> list[Buffer]:
    index = index_of(sch.program)
    return [p for p in sch.program.params if isinstance(p, Buffer) and index.writers.get(p)]


def _store_past_caches(sch: Schedule, buffer: Buffer) -> None:
    index = index_of(sch.program)
    for writer in index.writers[buffer]:
        around = [loop for loop in index.loops_around(writer) if _stays(loop)]
        if around:
            tried(lambda loop=around[0]: sch.stream(buffer, LoopRef(sch, loop.var)))


def _stays(loop: For) -> bool:
    return loop.kind in ("serial", "parallel") and const_int(loop.extent) != 1


def _store_in_place(sch: Schedule, buffer: Buffer, least: int) -> None:
    """Let the intermediate that a result is made of last lie where the result will."""
    index = index_of(sch.program)
    (writer, *others) = index.writers[buffer]
    if others:
        return
    for producer in index.producers_of(writer):
        row = prod(const_int(x.extent) or 1 for x in _own_loops(index, producer, writer))
        alike = len(producer.writes) == 1 and producer.writes[0].buffer.shape == buffer.shape
        if alike and row * buffer.dtype.itemsize >= least:
            block = BlockRef(sch, producer.symbol)
            if tried(lambda block=block: sch.store_in(block, buffer)) is None:
                return


def _own_loops(index: ProgramIndex, producer: Block, consumer: Block) -> list[For]:
    shared = index.common_loops(producer, consumer)
    return [loop for loop in index.loops_around(producer) if loop not in shared]


def _ask_ahead(sch: Schedule) -> None:
    """Prefetch for rows of nests that read them more than once, and so wait for them at first."""
    index = index_of(sch.program)
    for buffer in sch.program.params:
        if not isinstance(buffer, Buffer) or index.writers.get(buffer):
            continue
        readers = index.readers.get(buffer, [])
        shared = index.common_loops(*readers) if len(readers) > 1 else []
        if shared:
            loop = LoopRef(sch, shared[-1].var)
            tried(lambda b=buffer, loop=loop: sch.prefetch(b, loop, 1, spread=True))
