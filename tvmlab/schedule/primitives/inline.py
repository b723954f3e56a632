"""Merging element-wise blocks: compute_inline and reverse_compute_inline."""

from __future__ import annotations

from tvmlab.arith import Bounds, simplify
from tvmlab.ir import (
    Block,
    BlockSymbol,
    Buffer,
    Expr,
    Load,
    Program,
    Stmt,
    Store,
    Var,
    is_const,
    structural_key,
    substitute,
    transform,
)
from tvmlab.ir import structural_equal as same
from tvmlab.schedule.coverage import require_covered_reads
from tvmlab.schedule.index import ProgramIndex, accesses, index_of, parts_handed_over
from tvmlab.schedule.kinds import block_kind, plain_iters, shifted_iters, single_store
from tvmlab.schedule.last_writers import require_same_last_writers
from tvmlab.schedule.legality import sole_writer, written_buffer
from tvmlab.schedule.notes import PARTIAL, note_of
from tvmlab.schedule.registry import Applied, ParamSpec, primitive
from tvmlab.schedule.rewrite import remake_block, remove_stmt, replace_stmts, without_alloc
from tvmlab.schedule.verdict import RefusedError, refuse, unsure


@primitive(
    "compute_inline", "inline", "i",
    ParamSpec("block", "block", "the element-wise producer"),
    moves_blocks=True,
)  # fmt: skip
def compute_inline(program: Program, block: BlockSymbol) -> Applied:
    """Put the formula of an element-wise block in place of each read of its result.

    Before::

        B[i] = A[i] * 2
        ...
        C[i] = B[i] + 1

    After `compute_inline("B")`::

        C[i] = A[i] * 2 + 1
    """
    index = index_of(program)
    producer = index.blocks[block]
    buffer = _require_inlinable(index, producer)
    store = single_store(producer)
    variables = None if store is None else shifted_iters(store.indices)
    if store is None or variables is None:
        raise unsure(
            "compute_inline.layout",
            f"cannot inline {producer.name}: it writes {buffer.name} at computed indices",
            subject=block,
        )
    consumers = index.consumers(buffer)
    changed: dict[Stmt, Stmt] = {
        c: _inline_into(c, buffer, variables, store.value) for c in consumers
    }
    result = without_alloc(remove_stmt(replace_stmts(program, changed), producer), buffer)
    for consumer in consumers:
        require_covered_reads(result, consumer.symbol, "compute_inline", moved=block)
    return Applied(result)


def _require_inlinable(index: ProgramIndex, producer: Block) -> Buffer:
    name = producer.name
    buffer = written_buffer(producer, "compute_inline")
    if buffer not in index.program.allocs:
        raise refuse(
            "compute_inline.output",
            f"cannot inline {name}: {buffer.name} is an output of the program and must be stored",
            subject=producer.symbol,
        )
    if block_kind(producer) != "complete":
        raise refuse(
            "compute_inline.reduction",
            f"cannot inline {name}: it is a reduction, whose value is known only after all its "
            f"iterations; use compute_at to compute it near its consumer",
            subject=producer.symbol,
        )
    sole_writer(index, buffer, producer, "compute_inline")
    handed = [c for c in index.consumers(buffer) if buffer in parts_handed_over(c)]
    if handed:
        raise refuse(
            "compute_inline.call",
            f"cannot inline {name}: {handed[0].name} hands {buffer.name} to outside code, which "
            f"needs it in memory",
            subject=producer.symbol,
        )
    if not index.consumers(buffer):
        raise refuse(
            "compute_inline.no-consumer",
            f"cannot inline {name}: no block reads it",
            subject=producer.symbol,
        )
    return buffer


def _inline_into(
    consumer: Block, buffer: Buffer, variables: list[tuple[Var, Expr]], value: Expr
) -> Block:
    env = Bounds.of({it.var: it.extent for it in consumer.iters})
    # Reads of one element share one copy of the formula.
    known: dict[tuple[str, ...], Expr] = {}

    def visit(current: Expr | Stmt) -> Expr | Stmt:
        if isinstance(current, Load) and current.buffer is buffer:
            key = structural_key(current.indices)
            if key not in known:
                places = zip(variables, current.indices, strict=True)
                values = {v: i if is_const(shift, 0) else i - shift for (v, shift), i in places}
                known[key] = simplify(substitute(value, values), env)
            return known[key]
        return current

    init = None if consumer.init is None else transform(consumer.init, visit)
    return remake_block(consumer, body=transform(consumer.body, visit), init=init)


@primitive(
    "reverse_compute_inline", "inline into producer", "",
    ParamSpec("block", "block", "the element-wise consumer"),
    moves_blocks=True,
)  # fmt: skip
def reverse_compute_inline(program: Program, block: BlockSymbol) -> Applied:
    """Let the producer of an element-wise block compute that block's formula right away.

    Before::

        B[i] = A[i] * 2
        ...
        C[i] = B[i] + 1

    After `reverse_compute_inline("C")`, with the block of B computing C::

        C[i] = A[i] * 2 + 1
    """
    index = index_of(program)
    consumer = index.blocks[block]
    producer, read = _sole_producer(index, consumer)
    _require_all_run(producer, consumer)
    merged = _merge(producer, consumer, read)
    replaced = replace_stmts(program, {producer: merged})
    result = without_alloc(remove_stmt(replaced, consumer), read.buffer)
    require_same_last_writers(index, consumer, result, producer.symbol, "reverse_compute_inline")
    require_covered_reads(result, producer.symbol, "reverse_compute_inline", moved=block)
    return Applied(result)


def _reverse_refusal(consumer: Block, rule: str, why: str) -> RefusedError:
    return refuse(
        f"reverse_compute_inline.{rule}",
        f"cannot inline {consumer.name} into its producer: {why}",
        subject=consumer.symbol,
    )


def _sole_producer(index: ProgramIndex, consumer: Block) -> tuple[Block, Load]:
    if block_kind(consumer) != "complete" or not is_const(consumer.predicate, True):
        raise _reverse_refusal(consumer, "kind", "it is not a plain element-wise block")
    producers = index.producers_of(consumer)
    direct = [p for p in producers if block_kind(p) == "complete"]
    if not direct:
        why = "none of what it reads is computed by an element-wise block of this program"
        if producers:
            why = (
                f"{producers[0].name} is a reduction, whose value is final only after all its "
                f"iterations; use reverse_compute_at instead"
            )
        raise _reverse_refusal(consumer, "producer", why)
    producer = direct[-1]
    buffer = written_buffer(producer, "reverse_compute_inline")
    sole_writer(index, buffer, producer, "reverse_compute_inline")
    others = [c.name for c in index.consumers(buffer) if c is not consumer]
    if others:
        raise _reverse_refusal(
            consumer, "other-consumer", f"{', '.join(others)} also reads {buffer.name}"
        )
    reads = [a for a in accesses(consumer) if isinstance(a, Load) and a.buffer is buffer]
    return producer, reads[0]


def _require_all_run(producer: Block, consumer: Block) -> None:
    """One block runs for as many elements as the other."""
    for block in (producer, consumer):
        if note_of(block, PARTIAL) is not None:
            raise unsure(
                "reverse_compute_inline.partial-domain",
                f"cannot inline {consumer.name} into its producer: {block.name} may run for some "
                f"values of its variables alone; use reverse_compute_at instead",
                subject=consumer.symbol,
            )


def _merge(producer: Block, consumer: Block, read: Load) -> Block:
    """The producer's block, computing the consumer's formula and writing its buffer."""
    source, target = single_store(producer), single_store(consumer)
    if source is None or target is None:
        several = producer if source is None else consumer
        raise _reverse_refusal(consumer, "several", f"{several.name} is not a single store")
    inner = plain_iters(source.indices)
    outer = plain_iters(read.indices)
    reads = [a for a in accesses(consumer) if isinstance(a, Load) and a.buffer is read.buffer]
    at_one_place = all(
        all(same(a, b) for a, b in zip(r.indices, read.indices, strict=True)) for r in reads
    )
    if inner is None or outer is None or not at_one_place:
        raise _reverse_refusal(
            consumer, "shifted", f"it reads {read.buffer.name} at computed or several places"
        )
    extents = {it.var: it.extent for it in consumer.iters}
    same_domain = set(outer) == set(extents) and all(
        same(extents[v], size) for v, size in zip(outer, read.buffer.shape, strict=True)
    )
    if not same_domain:
        raise _reverse_refusal(
            consumer, "domain", f"its iterations are not one for each element of {read.buffer.name}"
        )
    made = {it.var: it.extent for it in producer.iters}
    if not all(same(made[v], size) for v, size in zip(inner, read.buffer.shape, strict=True)):
        raise _reverse_refusal(
            consumer, "part", f"{producer.name} computes only a part of {read.buffer.name}"
        )
    values: dict[Var, Expr] = dict(zip(outer, inner, strict=True))

    def visit(current: Expr) -> Expr:
        if isinstance(current, Load) and current.buffer is read.buffer:
            return source.value
        return current

    body = Store(
        target.buffer,
        tuple(substitute(i, values) for i in target.indices),
        transform(substitute(target.value, values), visit),
    )
    return remake_block(producer, body=body, init=None)
