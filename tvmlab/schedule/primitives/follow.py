"""Moving a consumer to where its producer is computed: reverse_compute_at."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import prod

from tvmlab.arith import Bounds, bound_of, detect_iter_map, simplify
from tvmlab.ir import (
    Block,
    BlockSymbol,
    Buffer,
    Expr,
    For,
    Load,
    Program,
    Store,
    Var,
    const,
    const_int,
    is_const,
    structural_equal,
    substitute,
)
from tvmlab.schedule.coverage import require_covered_consumers, require_covered_reads
from tvmlab.schedule.domains import existing_iterations
from tvmlab.schedule.holes import has_holes, require_around_holes, require_whole
from tvmlab.schedule.index import ProgramIndex, accesses, index_of
from tvmlab.schedule.kinds import block_kind, plain_iters, single_store
from tvmlab.schedule.last_writers import require_same_last_writers
from tvmlab.schedule.legality import binding_vars, vars_of, written_buffer
from tvmlab.schedule.registry import Applied, ParamSpec, primitive
from tvmlab.schedule.rewrite import insert_at, remove_stmt
from tvmlab.schedule.verdict import refuse, unsure
from tvmlab.schedule.windows import (
    Span,
    cover_window,
    fixed_vars,
    guards_of,
    same_size,
    touched_window,
)

from .attach import refuse_vector_scope


@primitive(
    "reverse_compute_at", "reverse compute at", "r",
    ParamSpec("block", "block", "the consumer to move"),
    ParamSpec("loop", "loop", "the loop of its producers to compute it in"),
    moves_blocks=True,
)  # fmt: skip
def reverse_compute_at(program: Program, block: BlockSymbol, loop: Var) -> Applied:
    """Compute a consumer inside a loop of its producer, on the part that is ready there.

    A sum goes on with each part, and is finished when the loop is.

    Before::

        for i, k in grid(64, 32):
            B[i] += A[i, k]
        for i in range(64):
            C[i] = max(B[i], 0)

    After `reverse_compute_at("C", i)`::

        for i in range(64):
            for k in range(32):
                B[i] += A[i, k]
            C[i] = max(B[i], 0)
    """
    index = index_of(program)
    consumer, target = index.blocks[block], index.loops[loop]
    producers = _require_movable_consumer(index, consumer, target)
    env = index.bounds_around(target).bind_loop(loop, target.extent)
    spans: dict[Var, Span] = {}
    _require_whole_results(index, producers, target, consumer)
    for producer in producers:
        spans.update(_ready_spans(index, consumer, producer, target))
    written = written_buffer(consumer, "reverse_compute_at")
    store = single_store(consumer)
    assert store is not None
    if block_kind(consumer) == "reduction":
        _require_all_parts(index, producers, consumer, target)
    window = [
        spans.get(v, Span(const(0), size)) if isinstance(v, Var) else Span(const(0), size)
        for v, size in zip(store.indices, written.shape, strict=True)
    ]
    _require_plain_store(consumer, store, spans)
    fixed = fixed_vars(index, target, written)
    exists = existing_iterations(index, consumer, loop.name, "reverse_compute_at")
    sums = {
        it.var: spans[it.var] for it in consumer.iters if it.kind == "reduce" and it.var in spans
    }
    guards = guards_of(producers, fixed)
    nest = cover_window(consumer, written, window, env, guards, exists, also=sums)
    position = 1 + max(index.child_holding(target, p)[0] for p in producers)
    moved = remove_stmt(insert_at(program, target, position, nest.stmt), consumer)
    require_covered_reads(moved, block, "reverse_compute_at")
    require_covered_consumers(moved, block, "reverse_compute_at")
    require_same_last_writers(index, consumer, moved, block, "reverse_compute_at")
    require_around_holes(index, moved, block, "reverse_compute_at")
    _require_sum_in_order(index_of(moved), block)
    if not has_holes(index, written):
        # Its producer may run less often than it does, as for the padding of a copy.
        require_whole(index_of(moved), written, "reverse_compute_at", block)
    return Applied(moved, nest.loops)


def _require_movable_consumer(index: ProgramIndex, consumer: Block, target: For) -> list[Block]:
    name, loop = consumer.name, target.var.name
    if index.is_under(consumer, target):
        raise refuse(
            "reverse_compute_at.itself",
            f"cannot compute {name} at {loop}: {loop} is one of its own loops, and a block cannot "
            f"be attached to itself",
            subject=target.var,
        )
    if not _can_follow(consumer):
        raise refuse(
            "reverse_compute_at.kind",
            f"cannot compute {name} at {loop}: only element-wise blocks, and sums with their start "
            f"value, can follow their producer",
            subject=consumer.symbol,
        )
    refuse_vector_scope(index, target, name, "reverse_compute_at")
    producers = [p for p in index.producers_of(consumer) if index.is_under(p, target)]
    if not producers:
        raise refuse(
            "reverse_compute_at.no-producer",
            f"cannot compute {name} at {loop}: none of what it reads is computed in {loop}",
            subject=target.var,
        )
    outer = {lp.var for lp in (*index.loops_around(target), target)}
    for producer in producers:
        unfinished = binding_vars(producer, "reduce") & outer
        if unfinished:
            raise refuse(
                "reverse_compute_at.unfinished",
                f"cannot compute {name} at {loop}: the sum in {producer.name} is finished only "
                f"after its reduction loop {next(iter(unfinished)).name} has ended; choose a loop "
                f"outside it",
                subject=target.var,
            )
    return producers


def _can_follow(consumer: Block) -> bool:
    """Whether a block computes each of its elements alone, or adds to it in any order."""
    if single_store(consumer) is None:
        return False
    kind = block_kind(consumer)
    return kind == "complete" or (kind == "reduction" and consumer.init is not None)


def _require_all_parts(
    index: ProgramIndex, producers: Sequence[Block], consumer: Block, target: For
) -> None:
    """Refuse if the parts that producers compute at a loop may not be all that a sum is of."""
    for producer in producers:
        buffer = written_buffer(producer, "reverse_compute_at")
        if not writes_all(index, producer, buffer):
            raise unsure(
                "reverse_compute_at.parts-of-sum",
                f"cannot compute {consumer.name} at {target.var.name}: it could not be shown that "
                f"{producer.name} computes every element of {buffer.name} that is summed",
                subject=target.var,
            )


def _require_sum_in_order(index: ProgramIndex, block: BlockSymbol) -> None:
    """Refuse a sum in parts that would be added by several threads at once."""
    consumer = index.blocks[block]
    reducing = binding_vars(consumer, "reduce")
    for loop in index.loops_around(consumer):
        if loop.var in reducing and loop.kind not in ("serial", "unrolled"):
            raise refuse(
                "reverse_compute_at.together",
                f"cannot compute {consumer.name} there: each iteration of {loop.var.name} would "
                f"add a part to the same sums, and they run together; make the loop serial first",
                subject=loop.var,
            )


def _require_whole_results(
    index: ProgramIndex, producers: list[Block], target: For, consumer: Block
) -> None:
    """Refuse at a loop that computes only a part of what several blocks write."""
    windows: dict[Buffer, list[Span]] = {}
    for producer in producers:
        buffer = written_buffer(producer, "reverse_compute_at")
        window = touched_window(index, [producer], buffer, Store, target)
        known = windows.setdefault(buffer, window)
        outside = [w for w in index.writers[buffer] if not index.is_under(w, target)]
        same = all(
            structural_equal(a.min, b.min) and structural_equal(a.extent, b.extent)
            for a, b in zip(known, window, strict=True)
        )
        if not same or (outside and not writes_all(index, producer, buffer)):
            raise unsure(
                "reverse_compute_at.parts",
                f"cannot compute {consumer.name} at {target.var.name}: several blocks write parts "
                f"of {buffer.name}, and it could not be shown that each iteration of "
                f"{target.var.name} finishes what {consumer.name} needs there",
                subject=target.var,
            )


def writes_all(index: ProgramIndex, producer: Block, buffer: Buffer) -> bool:
    """Whether a block alone writes every element of a buffer."""
    values = dict(zip((it.var for it in producer.iters), producer.bindings, strict=True))
    loops = [(lp.var, lp.extent) for lp in index.loops_around(producer)]
    store = single_store(producer)
    if store is None:
        return False
    places = [substitute(i, values) for i in store.indices]
    used = {v for place in places for v in vars_of(place)} | vars_of(producer.predicate)
    mapping = detect_iter_map(
        places, [lp for lp in loops if lp[0] in used], buffer.shape, producer.predicate
    )
    return mapping.surjective


def _ready_spans(
    index: ProgramIndex, consumer: Block, producer: Block, target: For
) -> dict[Var, Span]:
    """For each iteration variable of the consumer, the run of values whose inputs are ready."""
    buffer = written_buffer(producer, "reverse_compute_at")
    reads = [a for a in accesses(consumer) if isinstance(a, Load) and a.buffer is buffer]
    variables = _read_iters(reads[0], buffer)
    same = all(_read_iters(r, buffer) == variables for r in reads)
    if variables is None or not same:
        raise refuse(
            "reverse_compute_at.shifted",
            f"cannot compute {consumer.name} at {target.var.name}: it reads {buffer.name} at other "
            f"places than the element it computes, so values of two iterations would be needed",
            subject=target.var,
        )
    _require_exact_tiles(index, producer, buffer, target)
    window = touched_window(index, [producer], buffer, Store, target)
    extents = {it.var: it.extent for it in consumer.iters}
    # A consumer may want less than there is: a padded buffer has more than its copy back takes.
    return {
        v: span if same_size(extents.get(v), size) else replace(span, guarded=True)
        for v, span, size in zip(variables, window, buffer.shape, strict=True)
        if v is not None
    }


def _read_iters(read: Load, buffer: Buffer) -> list[Var | None] | None:
    """The indices as different variables, or None where there is one element and it is read."""
    single = [
        is_const(index, 0) and const_int(size) == 1
        for index, size in zip(read.indices, buffer.shape, strict=True)
    ]
    plain = plain_iters([i for i, one in zip(read.indices, single, strict=True) if not one])
    if plain is None:
        return None
    left = iter(plain)
    return [None if one else next(left) for one in single]


def _require_exact_tiles(index: ProgramIndex, producer: Block, buffer: Buffer, target: For) -> None:
    """Each iteration at the loop finishes a full box of the buffer, and no two the same part."""
    spatial = binding_vars(producer, "spatial")
    loops = index.loops_around(producer)
    fixed = {lp.var for lp in (*index.loops_around(target), target)}
    used = [lp for lp in loops if lp.var in spatial]
    pairs = [
        (b, it.extent)
        for it, b in zip(producer.iters, producer.bindings, strict=True)
        if it.kind == "spatial"
    ]
    mapping = detect_iter_map(
        [b for b, _ in pairs],
        [(lp.var, lp.extent) for lp in used],
        [e for _, e in pairs],
        producer.predicate,
    )
    idle = [lp for lp in loops if lp.var in fixed - spatial and const_int(lp.extent) != 1]
    window = touched_window(index, [producer], buffer, Store, target)
    inner = prod(const_int(lp.extent) or 0 for lp in used if lp.var not in fixed)
    box = prod(const_int(s.extent) or -1 for s in window)
    whole = all(s.is_whole(size) for s, size in zip(window, buffer.shape, strict=True))
    exact = whole and not (spatial & fixed)
    if not exact and inner == box:
        # Conditions may leave out iterations that the box counts: of skewed loops, for example.
        free = is_const(producer.predicate, True)
        exact = free or inner == _values_in_a_round(producer, fixed, used)
    if not mapping.injective or not exact or idle:
        raise unsure(
            "reverse_compute_at.not-tiles",
            f"cannot compute a consumer of {producer.name} at {target.var.name}: the iterations of "
            f"{target.var.name} do not finish separate rectangular parts of {buffer.name}",
            subject=target.var,
        )


def _values_in_a_round(producer: Block, fixed: set[Var], loops: Sequence[For]) -> int | None:
    """How many values a block's spatial variables may have in one iteration of the fixed loops."""
    start: dict[Var, Expr] = {v: const(0, v.dtype) for v in fixed}
    env = Bounds.of({lp.var: lp.extent for lp in loops if lp.var not in fixed})
    count = 1
    for it, binding in zip(producer.iters, producer.bindings, strict=True):
        if it.kind == "spatial":
            values = bound_of(simplify(substitute(binding, start), env), env)
            if values.lo is None or values.hi is None:
                return None
            count *= values.hi - values.lo + 1
    return count


def _require_plain_store(consumer: Block, store: Store, spans: dict[Var, Span]) -> None:
    if plain_iters(store.indices) is None and any(vars_of(i) & spans.keys() for i in store.indices):
        raise unsure(
            "reverse_compute_at.layout",
            f"cannot move {consumer.name}: it writes {store.buffer.name} at computed indices",
            subject=consumer.symbol,
        )
