"""Does memory of threads last as long as the values in it are wanted?

    for t in range(4):
        for p in thread(2, "threadIdx.x"):
            B[p] = B[p] + 1        # each t begins with a new B

Local memory is a thread's own, and shared memory a kernel's: what a round of a loop around their
threads leaves there is gone in the next one.
"""

from __future__ import annotations

from collections.abc import Sequence

from tvmlab.arith import polyhedral
from tvmlab.ir import Block, Buffer, For, Sharing, is_thread_loop

from .dataflow import flows_within
from .dependence import Conflict, find_overlap, together
from .index import ProgramIndex
from .legality import binding_vars
from .thread_reads import Refuse


def require_lasting_memory(index: ProgramIndex, sharing: Sharing, doubt: Refuse) -> None:
    """Refuse if a block may read what a round before left in memory that is gone by then.

    A doubt only: a write of the same round may come between, where blocks are no plain ones.
    """
    for buffer in index.program.allocs:
        users = index.users(buffer)
        owner = _owner(index, buffer, users, sharing)
        if owner is None:
            continue
        rounds = [lp for lp in index.loops_around(owner) if not is_thread_loop(lp)]
        if not rounds or _starts_anew(index, owner, buffer, users, rounds):
            continue
        lost = _what_is_lost(index, owner, buffer)
        if lost is not None:
            raise doubt(
                "memory-ends",
                f"block {lost.first.name} seems to read elements of {buffer.name} that an earlier "
                f"round of {rounds[-1].var.name} has left there, but {buffer.name} is in "
                f"{sharing.scope(buffer)} memory, which each run of {owner.var.name} gets anew; "
                f"move {owner.var.name} outside of {rounds[-1].var.name} first",
                witness=lost.witness,
                subject=owner.var,
            )


def _owner(
    index: ProgramIndex, buffer: Buffer, users: Sequence[Block], sharing: Sharing
) -> For | None:
    """The loop of which each run has memory of its own for a buffer; None if it outlives all."""
    if not users:
        return None
    common = [lp for lp in index.common_loops(*users) if is_thread_loop(lp)]
    own = [lp for lp in common if not sharing.shared(buffer, lp)]
    if own:
        return own[-1]
    kernels = [lp for lp in common if lp.kind == "thread"]
    return kernels[0] if kernels and sharing.scope(buffer) != "global" else None


def _starts_anew(
    index: ProgramIndex, owner: For, buffer: Buffer, users: Sequence[Block], rounds: Sequence[For]
) -> bool:
    """Whether each run of a loop, as is seen at a glance, writes all that it reads."""
    summing = {lp.var for lp in rounds}
    lasting = any(summing & binding_vars(block, "reduce") for block in users)
    return not lasting and flows_within(index, owner, buffer)


def _what_is_lost(index: ProgramIndex, owner: For, buffer: Buffer) -> Conflict | None:
    """An element that a round writes and a later one reads, be it in another thread."""
    rounds = index.loops_around(owner)
    orders: list[polyhedral.Order] = [
        {**together(rounds[:place]), loop.var: ">"}
        for place, loop in enumerate(rounds)
        if not is_thread_loop(loop)
    ]
    for writer in index.writers.get(buffer, []):
        for reader in index.readers.get(buffer, []):
            found = find_overlap(index, reader, writer, buffer, orders)
            if found is not None:
                return found
    return None
