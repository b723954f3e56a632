"""Outer loops on threads, and reductions that are divided among them."""

from __future__ import annotations

from tvmlab.schedule import BlockRef, LoopRef, Schedule, index_of
from tvmlab.target import Target

from .look import reduced_by, size_of, tried, work_of
from .vectors import fuse_neighbors, parallel_parts

_LEAST_WORK = 24_000
"""Element operations below which waking threads costs more than they save."""

_PARTS_EACH = 4
"""Parts of an outer loop for each thread, at least, so that all have about as much to do."""


def worth_threads(sch: Schedule, blocks: list[BlockRef], machine: Target) -> bool:
    """Whether blocks do enough for several threads."""
    return machine.num_threads > 1 and sum(work_of(sch, b) for b in blocks) >= _LEAST_WORK


def run_parallel(sch: Schedule, loops: list[LoopRef], machine: Target) -> None:
    """Share the outermost loops out to threads: as many of them as give enough parts."""
    nested = _in_line(sch, loops)
    if not nested:
        return
    taken, wanted = 1, _PARTS_EACH * machine.num_threads
    while taken < len(nested) and size_of(nested[:taken]) < wanted:
        taken += 1
    outer = nested[0]
    if taken > 1:
        together = [*nested[: taken - 1], _parts_of(sch, nested[:taken], wanted)]
        fused = tried(lambda: sch.fuse(*together))
        outer = nested[0] if fused is None else fused
    tried(lambda: sch.parallel(outer))


def _parts_of(sch: Schedule, loops: list[LoopRef], wanted: int) -> LoopRef:
    """The last of the loops, cut so that all of them together give about so many parts.

    What a fused loop's iteration stands for is found by divisions: that must not happen for each
    few vectors.
    """
    *before, last = loops
    parts = -(-wanted // size_of(before))
    if last.extent is None or last.extent < _PARTS_EACH * parts:
        return last
    even = next((n for n in range(parts, _PARTS_EACH * parts) if last.extent % n == 0), parts)
    cut = tried(lambda: sch.split(last, [even, None]))
    return last if cut is None else cut[0]


def _in_line(sch: Schedule, loops: list[LoopRef]) -> list[LoopRef]:
    """The outermost of the loops that lie directly in one another, from the top of the nest."""
    if not loops:
        return []
    index = index_of(sch.program)
    top = loops[0]
    if index.loops_around(index.loops[top.var]):
        return []
    found = [top]
    for loop in loops[1:]:
        if index.parent[index.loops[loop.var]] is not index.loops[found[-1].var]:
            break
        found.append(loop)
    return found


def divide_reduction(sch: Schedule, block: BlockRef, machine: Target) -> BlockRef | None:
    """Partial results, one for each thread, of a reduction with few results.

    Returns
    -------
    BlockRef or None
        The block of the partial results; None if the reduction is left as it is.
    """
    if not reduced_by(sch, block):
        return None
    fuse_neighbors(sch, block, sch.loops(block))
    loops, reducing = sch.loops(block), reduced_by(sch, block)
    reduced = [loop for loop in loops if loop.var in reducing]
    if parallel_parts(sch, block, machine) >= machine.num_threads:
        return None
    if not worth_threads(sch, [block], machine):
        return None
    longest = reduced[0]
    parts = machine.num_threads
    if longest.extent is None or longest.extent < 4 * parts:
        return None
    split = tried(lambda: sch.split(longest, [parts, None]))
    if split is None:
        return None
    return tried(lambda: sch.rfactor(block, split[0]))
