"""Two buffers in one place of memory: store_in."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tvmlab.ir import (
    Block,
    BlockSymbol,
    Buffer,
    Load,
    Program,
    Store,
    replace_buffers,
    structural_equal,
    with_body,
)
from tvmlab.schedule.dependence import earlier, find_shared
from tvmlab.schedule.index import (
    ProgramIndex,
    accesses,
    buffers_written,
    index_of,
    parts_handed_over,
)
from tvmlab.schedule.kinds import block_kind, single_store
from tvmlab.schedule.legality import written_buffer
from tvmlab.schedule.registry import Applied, ParamSpec, primitive
from tvmlab.schedule.rewrite import without_alloc
from tvmlab.schedule.verdict import RefusedError, refuse
from tvmlab.schedule.windows import covers

from .follow import writes_all


def _propose(index: ProgramIndex, block: Block) -> Iterator[dict[str, Any]]:
    written = buffers_written(block)
    if len(written) == 1 and written[0] in index.program.allocs:
        made = (b for c in index.consumers(written[0]) for b in buffers_written(c))
        for buffer in dict.fromkeys(made):
            if _alike(written[0], buffer):
                yield {"buffer": buffer}


@primitive(
    "store_in", "store in place", "",
    ParamSpec("block", "block", "a block that writes an intermediate"),
    ParamSpec("buffer", "buffer", "what is made of it, element by element"),
    moves_blocks=True,
    propose=_propose,
)  # fmt: skip
def store_in(program: Program, block: BlockSymbol, buffer: Buffer) -> Applied:
    """Keep an intermediate in the memory of what is made of it, until that overwrites it.

    Less memory is touched, and what is stored last is still in the cache. Each element of the
    buffer must be made of the same element of the intermediate, after everything else that needs
    it. Take it when loops are in their final order: two blocks that write one buffer are harder to
    move.

    Before::

        for i in range(64):
            for j in range(100): T[i, j] = exp(A[i, j])
            for j in range(100): S[i] += T[i, j]
            for j in range(100): C[i, j] = T[i, j] / S[i]

    After `store_in("T", "C")`::

        for i in range(64):
            for j in range(100): C[i, j] = exp(A[i, j])
            for j in range(100): S[i] += C[i, j]
            for j in range(100): C[i, j] = C[i, j] / S[i]
    """
    index = index_of(program)
    first = index.blocks[block]
    old = written_buffer(first, "store_in")
    last = _require_alike(index, first, old, buffer)
    _require_same_place(index, first, old, last)
    _require_old_values_unused(index, first, buffer, last)
    before = [user for user in dict.fromkeys(index.users(old)) if user is not last]
    _require_before(index, first, before, last)
    body = replace_buffers(program.body, {old: buffer})
    joined = with_body(without_alloc(program, old), body)
    _require_apart(index_of(joined), first, [user.symbol for user in before], last)
    return Applied(joined)


def _alike(one: Buffer, other: Buffer) -> bool:
    same = len(one.shape) == len(other.shape) and all(
        structural_equal(a, b) for a, b in zip(one.shape, other.shape, strict=True)
    )
    return same and one is not other and (one.dtype, one.scope) == (other.dtype, other.scope)


def _refusal(block: Block, buffer: Buffer, rule: str, why: str) -> RefusedError:
    return refuse(
        f"store_in.{rule}",
        f"cannot store the result of {block.name} in {buffer.name}: {why}",
        subject=block.symbol,
    )


def _require_alike(index: ProgramIndex, first: Block, old: Buffer, new: Buffer) -> Block:
    """The one block that writes the buffer to store in."""
    if old not in index.program.allocs:
        raise _refusal(first, new, "output", f"{old.name} must be written whole for the caller")
    if not _alike(old, new):
        raise _refusal(
            first, new, "shape", f"{old.name} and {new.name} differ in shape, type or scope"
        )
    writers = index.writers.get(new, [])
    if len(writers) != 1:
        names = ", ".join(w.name for w in writers) or "no block"
        raise _refusal(first, new, "writers", f"it is written by {names}, not by one block alone")
    return writers[0]


def _require_same_place(index: ProgramIndex, first: Block, old: Buffer, last: Block) -> None:
    """Each iteration of the last block overwrites just the element that it has read."""
    new = written_buffer(last, "store_in")
    store = single_store(last)
    loads = [a for a in accesses(last) if isinstance(a, Load) and a.buffer is old]
    handed = {old, new} & {b for user in index.users(old) for b in parts_handed_over(user)}
    if block_kind(last) != "complete" or store is None or handed or parts_handed_over(last):
        raise _refusal(first, new, "kind", f"{last.name} is not an element-wise block")
    if not loads or not all(_same(load, store) for load in loads):
        raise _refusal(
            first, new, "place",
            f"{last.name} does not make each element of {new.name} of that element of {old.name}",
        )  # fmt: skip


def _require_old_values_unused(index: ProgramIndex, first: Block, new: Buffer, last: Block) -> None:
    """Nothing looks at what the buffer held before, and nothing of that stays."""
    if new not in index.program.allocs and not writes_all(index, last, new):
        raise _refusal(
            first, new, "partial",
            f"{last.name} may leave elements of {new.name} as the caller brought them",
        )  # fmt: skip
    for reader in index.readers.get(new, []):
        later = index.position[reader] > index.position[last]
        if not (later and covers(index, last, reader, new)):
            raise _refusal(
                first, new, "old-values",
                f"{reader.name} reads what {new.name} holds before {last.name} writes it",
            )  # fmt: skip


def _same(load: Load, store: Store) -> bool:
    return all(structural_equal(a, b) for a, b in zip(load.indices, store.indices, strict=True))


def _require_before(index: ProgramIndex, first: Block, users: list[Block], last: Block) -> None:
    for user in users:
        if index.position[user] > index.position[last]:
            new = written_buffer(last, "store_in")
            raise _refusal(
                first, new, "needed-later", f"{user.name} still needs it after {last.name}"
            )


def _require_apart(
    index: ProgramIndex, first: Block, users: list[BlockSymbol], last: Block
) -> None:
    """Different iterations of the loops around have elements of their own.

    So what an iteration overwrites is needed by no other one, and no element is overwritten twice.
    """
    end = index.blocks[last.symbol]
    new = written_buffer(end, "store_in")
    for user in (*(index.blocks[symbol] for symbol in users), end):
        loops = index.common_loops(user, end)
        pairs = [(user, end)] if user is end else [(user, end), (end, user)]
        if any(find_shared(index, *pair, new, earlier(loops)) is not None for pair in pairs):
            raise _refusal(
                first, new, "shared",
                f"different iterations of {loops[0].var.name} touch the same elements, so that "
                f"{user.name} may need what {end.name} has overwritten",
            )  # fmt: skip
