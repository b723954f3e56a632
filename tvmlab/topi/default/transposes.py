"""Copies that read along one dimension of memory and write along another: square by square."""

from __future__ import annotations

from tvmlab.intrin import transpose_tile
from tvmlab.ir import Buffer, Load
from tvmlab.schedule import BlockRef, LoopRef, Schedule, index_of
from tvmlab.target import Target

from .look import access_steps, block_of, tried
from .memory import first_cache, goes_past_caches, is_large_result

_LEAST = 4
"""Rows of the smallest square that is worth it."""

_LARGE = 8
"""Squares of so many rows are good enough to leave the edges of a matrix as they are."""

_WORTH_CUTTING = 4
"""Squares along each edge that a matrix has at least, if edges are cut off for their sake."""

_RUNS = (2, 8)
"""Squares side by side, along what is read and along what is written, which are done together.
What is written runs on: lines a power of two apart would find no place in the cache."""

_MOST_TOGETHER = 8
"""Squares side by side at most, if so many make no whole lines."""

_SCRATCH_SHARE = 2 / 3
"""How much of the first cache a small buffer may take by way of which squares go."""

_RUNS_PAST = (4, 8)
"""The same if results go past the caches: then what is read runs on, and is fetched ahead."""

_LINE = 64
"""Bytes that come from memory together. Squares side by side should read whole ones."""

_PAGE = 4096
"""Lines so many bytes apart belong in the same set of the first cache, on x86 always."""


def transpose_squares(
    sch: Schedule, block: BlockRef, loops: list[LoopRef], machine: Target
) -> list[LoopRef] | None:
    """Shape a copy that transposes; None if the block is no such copy.

    Returns
    -------
    list
        The loops left outside of the squares.
    """
    found = _directions(sch, block, loops)
    size = 0 if found is None else _size(sch, block, found, machine)
    if found is None or not size:
        return None
    others = [loop for loop in loops if loop not in found]
    written = block_of(sch, block).writes[0].buffer
    past = goes_past_caches(sch, written, machine)
    by_scratch = not past and _rows_share_sets(sch, block, found, machine)
    rows = sch.cache_write(block, "local") if by_scratch else None
    runs = _RUNS_PAST if past else _runs_by_scratch(written, size, machine) if by_scratch else _RUNS
    least = _LINE * 8 // (size * written.dtype.bits)
    parts = [_divided(sch, loop, size, run, least) for loop, run in zip(found, runs, strict=True)]
    (across_outer, across_run, across_in), (along_outer, along_run, along_in) = parts
    middle = [along_run, across_run] if past or by_scratch else [across_run, along_run]
    outer = _present([*others, across_outer, along_outer])
    tried(lambda: sch.reorder(*outer, *_present(middle), across_in, along_in))
    if rows is not None and outer:
        copied = sch.reverse_compute_at(rows, outer[-1])
        sch.vectorize(sch.split(copied[-1], [None, size])[1])
    tile = transpose_tile(written.dtype, size, past_caches=past)
    if tried(lambda: sch.tensorize(across_in, tile)) is None:
        tried(lambda: sch.vectorize(along_in))
    return outer


def _runs_by_scratch(written: Buffer, size: int, machine: Target) -> tuple[int, int]:
    """As many squares as the small buffer holds."""
    square = size * size * written.dtype.bits // 8
    along = _RUNS[1]
    return max(1, int(first_cache(machine) * _SCRATCH_SHARE) // (square * along)), along


def _present(loops: list[LoopRef | None]) -> list[LoopRef]:
    return [loop for loop in loops if loop is not None]


def _rows_share_sets(
    sch: Schedule, block: BlockRef, found: tuple[LoopRef, LoopRef], machine: Target
) -> bool:
    """Whether rows of a result, written by this block alone, lie whole pages apart.

    A square of such rows finds no place in the first cache: it goes by way of a small buffer, and
    from there row by row to where it belongs.
    """
    [written] = (access for access in access_steps(sch, block) if access.written)
    alone = len(index_of(sch.program).writers[written.buffer]) == 1
    if not alone or not is_large_result(sch, written.buffer, machine):
        return False
    step = (written.steps.get(found[0].var) or 0) * written.buffer.dtype.itemsize
    return step > 0 and step % _PAGE == 0


def cut_odd_edges(sch: Schedule, machine: Target) -> None:
    """Cut what no square covers off matrices to transpose, so that squares cover the rest."""
    for block in sch.blocks():
        loops = sch.loops(block)
        found = _directions(sch, block, loops) if len(loops) == 2 else None
        if found is None or _size(sch, block, found, machine) >= _LARGE:
            continue
        size = _largest(sch, block, machine)
        if not size or any((loop.extent or 0) < _WORTH_CUTTING * size for loop in loops):
            continue
        for loop, other in ((loops[0], loops[1]), (loops[1], loops[0])):
            rest = (loop.extent or 0) % size
            if rest and tried(lambda a=loop, b=other: sch.reorder(a, b)) is None:
                tried(lambda a=loop, n=rest: sch.peel(a, 0, n))


def _directions(
    sch: Schedule, block: BlockRef, loops: list[LoopRef]
) -> tuple[LoopRef, LoopRef] | None:
    """The loops along which a plain copy reads and writes neighbors, if these are two."""
    body = block_of(sch, block).body
    if not isinstance(getattr(body, "value", None), Load):
        return None
    steps = {access.written: access.steps for access in access_steps(sch, block)}
    reads = next((loop for loop in loops if steps[False].get(loop.var) == 1), None)
    writes = next((loop for loop in loops if steps[True].get(loop.var) == 1), None)
    if reads is None or writes is None or reads == writes:
        return None
    return reads, writes


def _size(sch: Schedule, block: BlockRef, found: tuple[LoopRef, LoopRef], machine: Target) -> int:
    """Rows of a square that divides both loops: at most the lanes of a vector, and half of the
    registers; 0 if only tiny ones do.
    """
    size = _largest(sch, block, machine)
    while size >= _LEAST:
        if all(loop.extent and loop.extent % size == 0 for loop in found):
            return size
        size //= 2
    return 0


def _largest(sch: Schedule, block: BlockRef, machine: Target) -> int:
    """Rows of the largest square; 0 if elements are no whole bytes."""
    bits = block_of(sch, block).writes[0].buffer.dtype.bits
    return min(machine.lanes(bits), machine.num_registers // 2) if bits >= 8 else 0


def _divided(
    sch: Schedule, loop: LoopRef, size: int, run: int, least: int
) -> tuple[LoopRef | None, LoopRef | None, LoopRef]:
    """Groups of squares, squares of a group, and the inside of a square.

    A group has at most `run` squares, or a few more if these were less than `least`.
    """
    squares = (loop.extent or 0) // size
    sizes = [*range(run, 0, -1), *range(run + 1, _MOST_TOGETHER + 1)]
    whole = [n for n in sizes if squares % n == 0]
    together = next((n for n in whole if n >= least), whole[0])
    if 1 < together < squares:
        outer, middle, inside = sch.split(loop, [None, together, size])
        return outer, middle, inside
    if squares == 1:
        return None, None, loop
    outer, inside = sch.split(loop, [None, size])
    return outer, None, inside
