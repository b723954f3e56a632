"""Taking a block out of the loops that it was attached to."""

from __future__ import annotations

from tvmlab.arith import Bounds
from tvmlab.ir import Block, BlockSymbol, For, Load, Program, const
from tvmlab.schedule.coverage import require_covered_consumers, require_covered_reads
from tvmlab.schedule.domains import existing_iterations
from tvmlab.schedule.index import ProgramIndex, buffers_read, index_of
from tvmlab.schedule.kinds import block_kind
from tvmlab.schedule.legality import sole_writer, vars_of, written_buffer
from tvmlab.schedule.registry import Applied, ParamSpec, primitive
from tvmlab.schedule.rewrite import insert_at, remove_stmt
from tvmlab.schedule.verdict import refuse, unsure
from tvmlab.schedule.windows import Span, cover_window, touched_window

from .follow import writes_all


@primitive(
    "compute_root", "compute at the root", "",
    ParamSpec("block", "block", "the block to move"),
    moves_blocks=True,
)  # fmt: skip
def compute_root(program: Program, block: BlockSymbol) -> Applied:
    """Compute a block in loops of its own, outside of all others: undo an attachment.

    Before::

        for i in range(64):
            for i_1 in range(2):
                B[i + i_1] = A[i + i_1] * 2
            C[i] = B[i] + B[i + 1]

    After `compute_root("B")`::

        for i in range(65):
            B[i] = A[i] * 2
        for i in range(64):
            C[i] = B[i] + B[i + 1]
    """
    index = index_of(program)
    target = index.blocks[block]
    buffer = written_buffer(target, "compute_root")
    _require_movable(index, target)
    sole_writer(index, buffer, target, "compute_root")
    position = _place(index, target)
    window = [Span(const(0), size) for size in buffer.shape]
    consumers = index.consumers(buffer)
    if buffer in program.allocs and consumers:
        window = touched_window(index, consumers, buffer, Load, None)
    exists = existing_iterations(index, target, "the root", "compute_root")
    nest = cover_window(target, buffer, window, Bounds.of({}), (), exists)
    moved = remove_stmt(insert_at(program, None, position, nest.stmt), target)
    require_covered_reads(moved, block, "compute_root")
    require_covered_consumers(moved, block, "compute_root")
    return Applied(moved, nest.loops)


def _require_movable(index: ProgramIndex, block: Block) -> None:
    around = index.loops_around(block)
    _, child = index.child_holding(None, block)
    if not around or len(index.blocks_under(child)) == 1:
        raise refuse(
            "compute_root.already",
            f"cannot move {block.name} to the root: it has loops of its own there already",
            subject=block.symbol,
        )
    if block_kind(block) == "opaque":
        raise unsure(
            "compute_root.opaque",
            f"cannot move {block.name} to the root: it is neither element-wise nor a reduction",
            subject=block.symbol,
        )
    named = {v for binding in block.bindings for v in vars_of(binding)}
    again = [lp.var.name for lp in around if lp.var not in named]
    if again and block.init is None and block_kind(block) == "reduction":
        raise refuse(
            "compute_root.repeated-sum",
            f"cannot move {block.name} to the root: each round of {again[0]} goes on with the sum "
            f"that the one before left, and at the root there would be one round",
            subject=block.symbol,
        )
    for buffer in buffers_read(block):
        writers = [w for w in index.writers.get(buffer, []) if w is not block]
        parts = [w for w in writers if not writes_all(index, w, buffer)]
        if parts and buffer in index.program.allocs:
            raise unsure(
                "compute_root.partial",
                f"cannot move {block.name} to the root: {parts[0].name} may compute only the part "
                f"of {buffer.name} that is needed where {block.name} is now",
                subject=block.symbol,
            )


def _place(index: ProgramIndex, block: Block) -> int:
    """The position among the root's nests: after all that the block reads, before its readers."""
    sources = [w for b in buffers_read(block) for w in index.writers.get(b, []) if w is not block]
    needed = [index.child_holding(None, w)[0] for w in sources]
    readers = [index.child_holding(None, c)[0] for c in index.consumers_of(block)]
    here, nest = index.child_holding(None, block)
    after = 1 + max(needed, default=-1)
    before = min(readers, default=max(after, here + 1))
    if after <= before:
        return before
    loop = nest.var.name if isinstance(nest, For) else "that nest"
    raise refuse(
        "compute_root.order",
        f"cannot move {block.name} to the root: in {loop} it stands between what it reads and what "
        f"reads it; move one of these out first",
        subject=block.symbol,
    )
