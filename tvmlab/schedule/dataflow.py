"""Nests in which values flow only within an iteration: then structural rules decide all.

    for i in range(64):
        B[i] = A[i] * 2        each iteration reads what it wrote itself
        C[i] = B[i] + 1

Programs made from formulas are like this, and every step keeps them so. In a program that was
written by hand an iteration may read what another one wrote; its dependences are looked at one by
one (see `dependence`).
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any
from weakref import WeakKeyDictionary

from tvmlab.arith import Bounds, linear_form
from tvmlab.ir import (
    Block,
    BlockSymbol,
    Buffer,
    For,
    Load,
    Program,
    Store,
    Var,
    const_int,
    uses_var,
)

from .assumptions import size_facts
from .dependence import earlier, find_overlap, together
from .index import ProgramIndex, buffers_read, index_of
from .kinds import block_kind, is_rolled, reducer_of
from .legality import binding_vars, verb
from .verdict import refuse, unsure
from .windows import Span, covers, touched_window

_KNOWN: WeakKeyDictionary[ProgramIndex, dict[object, bool]] = WeakKeyDictionary()


def is_dataflow(index: ProgramIndex, loop: For) -> bool:
    """Whether all blocks under a loop are ordinary and values flow only within its iterations."""
    known = _KNOWN.setdefault(index, {})
    if loop not in known:
        blocks = index.blocks_under(loop)
        known[loop] = all(block_kind(b) != "opaque" for b in blocks) and all(
            flows_within(index, loop, buffer) for buffer in _written(index, blocks)
        )
    return known[loop]


def flows_within(index: ProgramIndex, loop: For, buffer: Buffer) -> bool:
    """Whether iterations of a loop, and of those around, only read elements they wrote before."""
    writers = [b for b in index.writers.get(buffer, []) if index.is_under(b, loop)]
    readers = [b for b in index.readers.get(buffer, []) if index.is_under(b, loop)]
    if any(block_kind(b) == "opaque" for b in (*writers, *readers)):
        return False
    if any(w not in readers for w in writers[1:]):
        return False  # Two blocks set elements anew: which one comes last may matter.
    return all(_fed(index, reader, writers, buffer) for reader in readers)


def _fed(index: ProgramIndex, reader: Block, writers: Sequence[Block], buffer: Buffer) -> bool:
    """Whether a block only reads what was written before it in the same iteration.

    It is enough that one block has written all of it by then: what others wrote in iterations
    before is gone. Updates by the same operation do not count, their order is free.
    """
    own = reducer_of(reader) if reader in writers else None
    others = [w for w in writers if w is not reader and (own is None or reducer_of(w) != own)]
    if not others:
        return True
    if own is not None and any(_sets_anew(index, writer, reader) for writer in others):
        return False
    return any(_provides(index, writer, reader, buffer) for writer in reversed(others))


def _sets_anew(index: ProgramIndex, writer: Block, reader: Block) -> bool:
    """Whether a sum starts again in iterations that it adds up: the last of them is what stays."""
    shared = {loop.var for loop in index.common_loops(reader, writer)}
    return bool(shared & binding_vars(reader, "reduce"))


def _provides(index: ProgramIndex, writer: Block, reader: Block, buffer: Buffer) -> bool:
    if index.position[writer] > index.position[reader]:
        return False
    shared = {loop.var for loop in index.common_loops(reader, writer)}
    return not shared & binding_vars(writer, "reduce") and covers(index, writer, reader, buffer)


def _written(index: ProgramIndex, blocks: Sequence[Block]) -> list[Buffer]:
    return [b for b, writers in index.writers.items() if any(w in blocks for w in writers)]


def require_settled(program: Program, primitive: str, args: Mapping[str, Any]) -> None:
    """Refuse to move a block that reads what changes later, or is read before it is written.

    Such a block computes another value at another place.
    """
    index = index_of(program)
    symbol = args.get("block")
    block = index.blocks.get(symbol) if isinstance(symbol, BlockSymbol) else None
    if block is None:
        return
    for buffer in [b for b in program.buffers if block in index.users(b)]:
        for writer in index.writers.get(buffer, []):
            for reader in index.readers.get(buffer, []):
                if reader is not writer and not _settled(index, writer, reader, buffer):
                    _require_no_overlap(index, block, writer, reader, buffer, primitive)


def _require_no_overlap(
    index: ProgramIndex, block: Block, writer: Block, reader: Block, buffer: Buffer, primitive: str
) -> None:
    kept = _kept_loops(index, block, primitive)
    fixed = [loop for loop in index.common_loops(reader, writer) if loop in kept]
    conflict = find_overlap(index, reader, writer, buffer, [together(fixed)])
    if conflict is None:
        return
    if is_rolled(block):
        raise refuse(
            f"{primitive}.rolled",
            f"cannot {verb(primitive)} {block.name}: it keeps a rolling window, of which each "
            f"iteration goes on from the one before; undo rolling_buffer, move it, and roll it "
            f"again",
            witness=conflict.witness,
            subject=block.symbol,
        )
    reason = (
        f"cannot {verb(primitive)} {block.name}: only blocks whose inputs and results stay as they "
        f"are can be moved, and {reader.name} reads {buffer.name} before {writer.name} has written "
        f"it for the last time"
    )
    make = refuse if conflict.certainty == "sure" else unsure
    raise make(
        f"{primitive}.changing-values", reason, witness=conflict.witness, subject=block.symbol
    )


def _kept_loops(index: ProgramIndex, block: Block, primitive: str) -> list[For]:
    """The loops that stay around a block wherever the step puts it: those around its partners."""
    if primitive in ("compute_at", "compute_inline"):
        return index.common_loops(block, *index.consumers_of(block))
    if primitive in ("reverse_compute_at", "reverse_compute_inline"):
        return index.common_loops(block, *index.producers_of(block))
    return []


def _settled(index: ProgramIndex, writer: Block, reader: Block, buffer: Buffer) -> bool:
    """Whether a block only reads values of a writer that stay as they are."""
    if reader in index.writers[buffer]:
        return True  # It takes part in the writing, as the update of a sum does after its init.
    if index.position[writer] > index.position[reader]:
        return False
    shared = index.common_loops(reader, writer)
    if not shared:
        return True
    if block_kind(writer) == "opaque" or binding_vars(writer, "reduce") & {lp.var for lp in shared}:
        return False
    if _goes_on(index, writer, buffer, shared):
        return False
    if flows_within(index, shared[-1], buffer):
        return True
    # An iteration may read what a later one is going to write, if there was a value before.
    return find_overlap(index, reader, writer, buffer, earlier(shared)) is None


def _goes_on(index: ProgramIndex, block: Block, buffer: Buffer, loops: Sequence[For]) -> bool:
    """Whether a block adds to a sum in each round of a loop, and nothing sets it anew there."""
    named = binding_vars(block, "spatial") | binding_vars(block, "reduce")
    if block.init is not None or buffer not in buffers_read(block):
        return False
    others = [w for w in index.writers[buffer] if buffer not in buffers_read(w)]
    return any(
        loop.var not in named and not any(index.is_under(w, loop) for w in others) for loop in loops
    )


def moves_apart(index: ProgramIndex, loop: For, buffer: Buffer) -> bool:
    """Whether what is touched of a buffer moves on by its own length with each iteration.

    Shown by one dimension, for all blocks under the loop at once: cheap, and enough for tiles.
    """
    users = [
        tuple(b for b in users.get(buffer, []) if index.is_under(b, loop))
        for users in (index.writers, index.readers)
    ]
    around = [
        [(lp.var, lp.extent, "" if buffer.scope == "global" else (lp.kind, lp.thread)) for lp in ls]
        for ls in (index.loops_around(b) for blocks in users for b in blocks)
    ]
    key = (buffer, loop.var, *users, *map(tuple, around), size_facts(index.program))
    known = _APART.get(key)
    if known is None:
        if len(_APART) >= MAX_KNOWN:
            _APART.clear()
        known = _APART[key] = _moves_apart(index, loop, buffer, *users)
    return known


MAX_KNOWN = 4096
_APART: dict[Hashable, bool] = {}
"""Answers of `moves_apart` by all that they depend on: one program after another asks the same."""


def _moves_apart(
    index: ProgramIndex,
    loop: For,
    buffer: Buffer,
    writers: Sequence[Block],
    readers: Sequence[Block],
) -> bool:
    windows = [
        touched_window(index, blocks, buffer, kind, loop)
        for kind, blocks in ((Store, writers), (Load, readers))
        if blocks
    ]
    env = index.bounds_around(loop).bind_loop(loop.var, loop.extent)
    return any(_spans_apart(spans, loop.var, env) for spans in zip(*windows, strict=True))


def _spans_apart(spans: Sequence[Span], var: Var, env: Bounds) -> bool:
    base = linear_form(spans[0].min, env)
    low, high = 0, 0
    for span in spans:
        offset = linear_form(span.min, env).minus(base)
        extent = const_int(span.extent)
        if offset.terms or extent is None:
            return False
        low, high = min(low, offset.const), max(high, offset.const + extent)
    others = [atom for atom in base.terms if atom is not var]
    return abs(base.terms.get(var, 0)) >= high - low and not any(
        uses_var(atom, {var}) for atom in others
    )
