"""Is what a thread reads in memory of threads still there, and there at all?

    for t in range(4):
        for p in thread(2, "threadIdx.x"):
            B[p] = B[p] + 1        # each t begins with a new B

Local memory is a thread's own, and shared memory a kernel's: what a round of a loop around their
threads leaves there is gone in the next one, and what a thread leaves in memory of its own is seen
by no other.
"""

from __future__ import annotations

from collections.abc import Sequence

from tvmlab.arith import polyhedral
from tvmlab.ir import Block, Buffer, For, PlacedBlock, Sharing, is_thread_loop

from .dataflow import flows_within
from .dependence import Conflict, find_overlap, together
from .index import ProgramIndex
from .legality import binding_vars
from .thread_reads import Refuse


def require_lasting_memory(
    index: ProgramIndex, placed: Sequence[PlacedBlock], sharing: Sharing, doubt: Refuse
) -> None:
    """Refuse if a block may read what an earlier round or another thread left in memory of its own.

    A doubt only: where blocks are no plain ones, a write of the same round may come between.
    """
    where = {p.block: p for p in placed}
    for buffer in index.program.allocs:
        users = index.users(buffer)
        own, owner = _owners(index, buffer, users, sharing)
        if owner is None or _starts_anew(index, owner, buffer, users):
            continue
        rounds = [lp for lp in index.loops_around(owner) if not is_thread_loop(lp)]
        memory = f"{buffer.name} is in {sharing.scope(buffer)} memory"
        lost = _overlap(index, buffer, index.writers.get(buffer, []), _rounds_before(index, owner))
        if lost is not None:
            raise doubt(
                "memory-ends",
                f"block {lost.first.name} seems to read elements of {buffer.name} that an earlier "
                f"round of {rounds[-1].var.name} has left there, but {memory}, which each run of "
                f"{owner.var.name} gets anew; move {owner.var.name} outside of "
                f"{rounds[-1].var.name} first",
                witness=lost.witness,
                subject=owner.var,
            )
        for loop in own:
            writers = [b for b in index.writers.get(buffer, []) if _differs(where[b], loop)]
            lost = _overlap(index, buffer, writers, _other_threads(index, loop))
            if lost is not None:
                raise doubt(
                    "others-memory",
                    f"block {lost.first.name} seems to read elements of {buffer.name} that "
                    f"another thread of {loop.var.name} writes, but {memory}, of which each "
                    f"thread has its own",
                    witness=lost.witness,
                    subject=loop.var,
                )


def _owners(
    index: ProgramIndex, buffer: Buffer, users: Sequence[Block], sharing: Sharing
) -> tuple[list[For], For | None]:
    """The loops whose threads have memory of their own for a buffer, and the one of which each run
    has new memory; None if it outlives all.
    """
    if not users:
        return [], None
    common = [lp for lp in index.common_loops(*users) if is_thread_loop(lp)]
    own = [lp for lp in common if not sharing.shared(buffer, lp)]
    if own:
        return own, own[-1]
    kernels = [lp for lp in common if lp.kind == "thread"]
    return [], kernels[0] if kernels and sharing.scope(buffer) != "global" else None


def _starts_anew(index: ProgramIndex, owner: For, buffer: Buffer, users: Sequence[Block]) -> bool:
    """Whether each run of a loop, as is seen at a glance, writes all that it reads."""
    rounds = {lp.var for lp in index.loops_around(owner) if not is_thread_loop(lp)}
    lasting = any(rounds & binding_vars(block, "reduce") for block in users)
    return not lasting and flows_within(index, owner, buffer)


def _differs(writer: PlacedBlock, loop: For) -> bool:
    """Whether the threads of a loop do not all write the same."""
    return writer.depends_on(loop) or writer.is_conditional_on(loop)


def _overlap(
    index: ProgramIndex,
    buffer: Buffer,
    writers: Sequence[Block],
    orders: Sequence[polyhedral.Order],
) -> Conflict | None:
    """An element that is read and written in iterations that stand to each other as an order says,
    that of the reader first.
    """
    for writer in writers if orders else ():
        for reader in index.readers.get(buffer, []):
            found = find_overlap(index, reader, writer, buffer, orders)
            if found is not None:
                return found
    return None


def _rounds_before(index: ProgramIndex, owner: For) -> list[polyhedral.Order]:
    """The writer, in any thread, in an earlier round of a loop around the threads."""
    rounds = index.loops_around(owner)
    return [
        {**together(rounds[:place]), loop.var: ">"}
        for place, loop in enumerate(rounds)
        if not is_thread_loop(loop)
    ]


def _other_threads(index: ProgramIndex, loop: For) -> list[polyhedral.Order]:
    """Two threads of a loop, in the same iteration of those around."""
    around = together(index.loops_around(loop))
    return [{**around, loop.var: "<"}, {**around, loop.var: ">"}]
