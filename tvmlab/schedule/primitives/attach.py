"""Moving a producer to where its consumers need it: compute_at."""

from __future__ import annotations

from collections.abc import Sequence

from tvmlab.ir import (
    Block,
    BlockSymbol,
    Buffer,
    Expr,
    For,
    Load,
    Program,
    Var,
    const,
    structural_equal,
)
from tvmlab.schedule.coverage import require_covered_reads
from tvmlab.schedule.domains import existing_iterations
from tvmlab.schedule.holes import require_around_holes
from tvmlab.schedule.index import ProgramIndex, index_of
from tvmlab.schedule.kinds import block_kind, final_stores
from tvmlab.schedule.legality import sole_writer, written_buffer
from tvmlab.schedule.registry import Applied, ParamSpec, primitive
from tvmlab.schedule.rewrite import insert_at, remove_stmt
from tvmlab.schedule.verdict import refuse, unsure
from tvmlab.schedule.windows import (
    Span,
    cover_window,
    fixed_vars,
    guards_of,
    touched_window,
)


@primitive(
    "compute_at", "compute at", "a",
    ParamSpec("block", "block", "the producer to move"),
    ParamSpec("loop", "loop", "the loop of its consumers to compute it in"),
    moves_blocks=True,
)  # fmt: skip
def compute_at(program: Program, block: BlockSymbol, loop: Var) -> Applied:
    """Compute a producer inside a loop of its consumers, only the part each iteration needs.

    Before::

        for i in range(64):
            B[i] = A[i] * 2
        for i in range(64):
            C[i] = B[i] + B[i + 1]

    After `compute_at("B", i)`::

        for i in range(64):
            for i_1 in range(2):
                B[i + i_1] = A[i + i_1] * 2
            C[i] = B[i] + B[i + 1]
    """
    index = index_of(program)
    producer, target = index.blocks[block], index.loops[loop]
    buffers = _require_movable_producer(index, producer, target)
    consumers = list(dict.fromkeys(c for b in buffers for c in index.consumers(b)))
    position = _place_for_producer(index, producer, consumers, target)
    buffer = next(b for b in buffers if index.consumers(b))
    window = _window_of_all(index, consumers, buffers, target)
    env = index.bounds_around(target).bind_loop(loop, target.extent)
    fixed = fixed_vars(index, target, buffer)
    exists = existing_iterations(index, producer, loop.name, "compute_at")
    nest = cover_window(producer, buffer, window, env, guards_of(consumers, fixed), exists)
    placed = insert_at(program, target, position, nest.stmt)
    moved = remove_stmt(placed, producer)
    require_covered_reads(moved, block, "compute_at")
    require_around_holes(index, moved, block, "compute_at")
    return Applied(moved, nest.loops)


def _window_of_all(
    index: ProgramIndex, consumers: list[Block], buffers: list[Buffer], target: For
) -> list[Span]:
    """The box read of buffers that are written together; a whole dimension where they differ."""
    windows = [
        touched_window(index, consumers, b, Load, target) for b in buffers if index.consumers(b)
    ]
    first, *others = windows
    return [
        span if all(_same_span(span, other[n]) for other in others) else Span(const(0), size)
        for n, (span, size) in enumerate(zip(first, buffers[0].shape, strict=True))
    ]


def _same_span(a: Span, b: Span) -> bool:
    return structural_equal(a.min, b.min) and structural_equal(a.extent, b.extent)


def _same_place(a: Sequence[Expr], b: Sequence[Expr]) -> bool:
    return len(a) == len(b) and all(structural_equal(x, y) for x, y in zip(a, b, strict=True))


def _require_movable_producer(index: ProgramIndex, producer: Block, target: For) -> list[Buffer]:
    name, loop = producer.name, target.var.name
    if index.is_under(producer, target):
        raise refuse(
            "compute_at.itself",
            f"cannot compute {name} at {loop}: {loop} is one of its own loops, and a block cannot "
            f"be attached to itself",
            subject=target.var,
        )
    buffers = [s.buffer for s in final_stores(producer)]
    if not buffers:
        buffers = [written_buffer(producer, "compute_at")]
    places = [s.indices for s in final_stores(producer)]
    if not all(_same_place(place, places[0]) for place in places):
        raise unsure(
            "compute_at.layouts",
            f"cannot compute {name} at {loop}: its outputs are laid out differently, so no one box "
            f"of its iterations is what {loop} needs; change the layout after moving it",
            subject=producer.symbol,
        )
    for buffer in (b for b in buffers if b not in index.program.allocs):
        raise refuse(
            "compute_at.output",
            f"cannot compute {name} at {loop}: {buffer.name} is an output of the program and must "
            f"be written whole; use reverse_compute_at to move it to a loop of its producer",
            subject=producer.symbol,
        )
    for buffer in buffers:
        sole_writer(index, buffer, producer, "compute_at")
    if block_kind(producer) == "opaque":
        raise refuse(
            "compute_at.opaque",
            f"cannot compute {name} at {loop}: only element-wise blocks and reductions can be "
            f"computed in parts, and the iterations of {name} need each other's results",
            subject=producer.symbol,
        )
    refuse_vector_scope(index, target, name, "compute_at")
    return buffers


def refuse_vector_scope(index: ProgramIndex, target: For, name: str, primitive: str) -> None:
    """Refuse to compute a block at a loop in the lanes of vectors."""
    for scope in (*index.loops_around(target), target):
        if scope.kind == "vectorized":
            raise refuse(
                f"{primitive}.in-vector",
                f"cannot compute {name} at {target.var.name}: {scope.var.name} is vectorized, and "
                f"a block inside it would run once per lane; attach it to a loop further out, or "
                f"attach it before vectorizing",
                subject=target.var,
            )


def _place_for_producer(
    index: ProgramIndex, producer: Block, consumers: list[Block], target: For
) -> int:
    """The position in the loop's body: before the first consumer, after all it needs."""
    name, loop = producer.name, target.var.name
    if not consumers:
        raise refuse(
            "compute_at.no-consumer",
            f"cannot compute {name} at {loop}: no block reads it",
            subject=producer.symbol,
        )
    outside = [c.name for c in consumers if not index.is_under(c, target)]
    if outside:
        raise refuse(
            "compute_at.consumer-outside",
            f"cannot compute {name} at {loop}: its consumer {', '.join(outside)} is outside "
            f"{loop} and would not find the values",
            subject=target.var,
        )
    position = min(index.child_holding(target, c)[0] for c in consumers)
    for needed in index.producers_of(producer):
        late = index.is_under(needed, target) and index.child_holding(target, needed)[0] >= position
        if late:
            raise refuse(
                "compute_at.order",
                f"cannot compute {name} at {loop}: it needs {needed.name}, which is computed there "
                f"only later",
                subject=target.var,
            )
    return position
