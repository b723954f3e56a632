"""The inner loops of one block: which one becomes vectors, and what stays in registers."""

from __future__ import annotations

from dataclasses import dataclass

from tvmlab.ir import Call, Var, walk
from tvmlab.schedule import BlockRef, LoopRef, Schedule
from tvmlab.target import Target

from .look import Access, access_steps, block_of, reduced_by, size_of, tried
from .transposes import transpose_squares

_VECTORS = 4
"""Vectors that are worked on at a time: enough to hide what an addition takes to be ready."""

_WIDE_SUM = 16
"""Vectors of sums that stay in registers where rows are added up, if these are no longer."""

_LONG_RUN = 8 << 10
"""Bytes of longer rows that are added up at a time: sums in the first-level cache, and runs long
enough for the processor to fetch ahead."""

_ROWS_AT_ONCE = 4
"""Rows that are added to sums in the cache at a time, so that these move less often."""

_ROWS = 6
"""Rows of the tile of sums that a product keeps in registers."""


@dataclass(frozen=True, slots=True)
class Width:
    """Elements of a vector, and of the vectors worked on at a time."""

    lanes: int
    group: int
    run: int

    @staticmethod
    def of(sch: Schedule, block: BlockRef, machine: Target) -> Width:
        """By the widest element that a block touches."""
        found = block_of(sch, block)
        bits = max(max(r.buffer.dtype.bits, 8) for r in (*found.reads, *found.writes))
        lanes = machine.lanes(bits)
        # Functions are long enough to hide what they wait for, and need registers themselves.
        vectors = 2 if any(isinstance(n, Call) for n in walk(found.body)) else _VECTORS
        return Width(lanes, lanes * vectors, _LONG_RUN * 8 // bits)


def shape_block(
    sch: Schedule, block: BlockRef, loops: list[LoopRef], machine: Target
) -> list[LoopRef]:
    """Order, split and vectorize the given innermost loops around a block.

    Returns
    -------
    list
        Those that are left outside of what has been shaped.
    """
    transposed = transpose_squares(sch, block, loops, machine)
    if transposed is not None:
        return transposed
    loops = fuse_neighbors(sch, block, loops)
    along = _best_for_vectors(sch, block, loops)
    if along is None:
        return [loop for loop in loops if loop.var not in reduced_by(sch, block)]
    reducing = reduced_by(sch, block)
    width = Width.of(sch, block, machine)
    if along.var in reducing:
        return _row_sum(sch, block, loops, along, width)
    if any(loop.var in reducing for loop in loops):
        return _column_sum(sch, block, loops, along, width)
    return _copy(sch, loops, along, width.group)


def parallel_parts(sch: Schedule, block: BlockRef, machine: Target) -> int:
    """Into how many parts the outer loops that `shape_block` leaves divide a block."""
    loops, reducing = sch.loops(block), reduced_by(sch, block)
    spatial = [loop for loop in loops if loop.var not in reducing]
    along = _best_for_vectors(sch, block, loops)
    if along is None or along.var in reducing:
        return size_of(spatial)
    others = size_of([loop for loop in spatial if loop.var is not along.var])
    width = Width.of(sch, block, machine)
    if size_of([along]) <= width.lanes * _WIDE_SUM:
        return others
    return others * -(-size_of([along]) // width.run)


def fuse_neighbors(sch: Schedule, block: BlockRef, loops: list[LoopRef]) -> list[LoopRef]:
    """Make one loop of two that all accesses run through as if they were one."""
    left = list(loops)
    at = len(left) - 1
    while at > 0:
        outer, inner = left[at - 1], left[at]
        if _steps_as_one(sch, block, outer, inner):
            fused = tried(lambda outer=outer, inner=inner: sch.fuse(outer, inner))
            if fused is not None:
                left[at - 1 : at + 1] = [fused]
        at -= 1
    return left


def _steps_as_one(sch: Schedule, block: BlockRef, outer: LoopRef, inner: LoopRef) -> bool:
    extent, reducing = inner.extent, reduced_by(sch, block)
    if extent is None or (outer.var in reducing) != (inner.var in reducing):
        return False
    for access in access_steps(sch, block):
        far, near = access.steps[outer.var], access.steps[inner.var]
        if far is None or near is None or far != near * extent:
            return False
    return True


def _best_for_vectors(sch: Schedule, block: BlockRef, loops: list[LoopRef]) -> LoopRef | None:
    """The loop along which most accesses run over neighbors or stay; inner ones first."""
    known = access_steps(sch, block)
    reducing = reduced_by(sch, block)
    possible = [loop for loop in loops if loop.extent != 1]
    if not possible:
        return None

    def cost(loop: LoopRef) -> tuple[float, int]:
        away = sum(_cost(access, loop.var) for access in known)
        if loop.var in reducing:
            # Its stores are of one element; loads decide. A spatial loop of equal cost is better.
            away = sum(_cost(a, loop.var) for a in known if not a.written) + 0.5
        short = 4.0 if _length(loop) < 4 else 0.0
        return away + short, -loops.index(loop)

    return min(possible, key=cost)


def _length(loop: LoopRef) -> float:
    """Its extent; infinite if it is known only at run time."""
    return float("inf") if loop.extent is None else loop.extent


def _cost(access: Access, loop: Var) -> float:
    step = access.steps[loop]
    if step == 0 or step == 1:
        return 0.0
    return 6.0 if access.written else 4.0


def _copy(sch: Schedule, loops: list[LoopRef], along: LoopRef, group: int) -> list[LoopRef]:
    """Elements that follow from single ones: a few vectors at a time."""
    others = [loop for loop in loops if loop.var is not along.var]
    if loops[-1].var is not along.var and tried(lambda: sch.reorder(*others, along)) is None:
        return loops
    return [*others, *vectorized(sch, along, group)]


def vectorized(sch: Schedule, loop: LoopRef, group: int) -> list[LoopRef]:
    """Vectorize a loop, or its inner part if it is long; what is left outside."""
    inner, outer = loop, list[LoopRef]()
    if _length(loop) > group:
        parts = tried(lambda: sch.split(loop, [None, group]))
        if parts is None:
            return [loop]
        outer, inner = [parts[0]], parts[1]
    tried(lambda: sch.vectorize(inner))
    return outer


def _row_sum(
    sch: Schedule, block: BlockRef, loops: list[LoopRef], along: LoopRef, width: Width
) -> list[LoopRef]:
    """A reduction along the memory: partial results in the lanes, joined at the end."""
    reducing = reduced_by(sch, block)
    spatial = [loop for loop in loops if loop.var not in reducing]
    other = [loop for loop in loops if loop.var in reducing and loop.var is not along.var]
    if tried(lambda: sch.reorder(*spatial, *other, along)) is None and loops[-1] != along:
        return spatial
    extent = _length(along)
    if not other and extent <= 2 * width.group and _join(sch, along):
        return spatial
    group = width.group if extent >= width.group else width.lanes
    parts = tried(lambda: sch.split(along, [None, group])) if extent > group else None
    lanes = parts[1] if parts else along
    partial = tried(lambda: sch.rfactor(block, lanes))
    if partial is None:
        return spatial
    tried(lambda: sch.vectorize(sch.loops(partial)[-1]))
    _join(sch, sch.loops(block)[-1])
    return spatial


def _join(sch: Schedule, loop: LoopRef) -> bool:
    """Vectorize a reduction; what cannot be joined lane by lane stays as it is."""
    return bool(sch.check("vectorize", loop)) and tried(lambda: sch.vectorize(loop)) is None


def _column_sum(
    sch: Schedule, block: BlockRef, loops: list[LoopRef], along: LoopRef, width: Width
) -> list[LoopRef]:
    """A reduction whose results are neighbors: they stay in registers while it runs."""
    reducing = reduced_by(sch, block)
    inner_reduced = [loop for loop in loops if loop.var in reducing]
    spatial = [loop for loop in loops if loop.var not in reducing and loop.var is not along.var]
    shared = _shared_row(sch, block, spatial, along)
    if shared is None and _length(along) > width.lanes * _WIDE_SUM:
        return _long_columns(sch, spatial, inner_reduced, along, width)
    group = width.lanes * (2 if shared else _WIDE_SUM)
    outer: list[LoopRef] = []
    inner = along
    if _length(along) > group:
        first, inner = sch.split(along, [None, group])
        outer = [first]
    tile: list[LoopRef] = []
    if shared is not None:
        rows = shared
        if _length(shared) > _ROWS:
            first, rows = sch.split(shared, [None, _ROWS])
            spatial[spatial.index(shared)] = first
        else:
            spatial.remove(shared)
        tile = [rows]
    order = [*spatial, *outer, *inner_reduced, *tile, inner]
    tried(lambda: sch.reorder(*order))
    tried(lambda: sch.vectorize(inner))
    for loop in tile:
        tried(lambda loop=loop: sch.unroll(loop))
    return [*spatial, *outer]


def _long_columns(
    sch: Schedule,
    spatial: list[LoopRef],
    reduced: list[LoopRef],
    along: LoopRef,
    width: Width,
) -> list[LoopRef]:
    """Rows added up in long runs: the sums of a run stay in the first-level cache."""
    outer, run = list[LoopRef](), along
    if _length(along) > width.run:
        first, run = sch.split(along, [None, width.run])
        outer = [first]
    vectors, lanes = sch.split(run, [None, width.group])
    last, rows = reduced[-1], list[LoopRef]()
    if _length(last) > _ROWS_AT_ONCE:
        last, inner = sch.split(last, [None, _ROWS_AT_ONCE])
        rows = [inner]
    tried(lambda: sch.reorder(*spatial, *outer, *reduced[:-1], last, vectors, *rows, lanes))
    tried(lambda: sch.vectorize(lanes))
    for loop in rows:
        tried(lambda loop=loop: sch.unroll(loop))
    return [*spatial, *outer]


def _shared_row(
    sch: Schedule, block: BlockRef, spatial: list[LoopRef], along: LoopRef
) -> LoopRef | None:
    """A loop whose iterations read the same vectors, as rows of a matrix product do."""
    loads = [a for a in access_steps(sch, block) if not a.written and a.steps[along.var] == 1]
    for loop in reversed(spatial):
        if loads and _length(loop) > 1 and any(a.steps[loop.var] == 0 for a in loads):
            return loop
    return None
