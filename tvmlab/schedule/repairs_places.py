"""Proposals about where blocks are computed: further out, nearer, before, together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tvmlab.ir import Block, For, Var
from tvmlab.support import items_of

from .index import ProgramIndex
from .kinds import block_kind
from .refused import MAX_PLACES, FixStep, Refused, iterating, loops_of_results
from .verdict import Fix


def further_out(refused: Refused) -> Iterator[Fix]:
    """The same at a loop around the one asked for."""
    loop, block = refused.loop, refused.block
    if loop is None or block is None:
        return
    doing = "decompose" if refused.primitive == "decompose_reduction" else "compute"
    for outer in refused.index.loops_around(loop)[::-1][:MAX_PLACES]:
        title = f"{doing} {block.name} further out instead, at {outer.var.name}"
        yield Fix(title, (refused.again(loop=outer.var),), "further out")


def gather(refused: Refused) -> Iterator[Fix]:
    """Bring the consumers that stand outside of a loop into it first."""
    index, loop, block = refused.index, refused.loop, refused.block
    if loop is None or block is None:
        return
    outside = [c for c in index.consumers_of(block) if not index.is_under(c, loop)]
    if len(outside) != 1:
        return
    consumer = outside[0]
    inline: FixStep = ("compute_inline", {"block": consumer.symbol})
    yield refused.after(f"inline {consumer.name} into what reads it", inline, group="gather")
    move: FixStep = ("reverse_compute_at", {"block": consumer.symbol, "loop": loop.var})
    yield refused.after(f"compute {consumer.name} at {loop.var.name} too", move, group="gather")


def near_consumers(refused: Refused) -> Iterator[Fix]:
    """A block that cannot be inlined, computed where it is read."""
    index, block = refused.index, refused.block
    consumers = [] if block is None else index.consumers_of(block)
    if block is None or not consumers:
        return
    shared = iterating(index.common_loops(*consumers))
    yield from _at_each("compute_at", block, shared[::-1], "where it is read", index)


def follow(refused: Refused) -> Iterator[Fix]:
    """An element-wise consumer computed in the loops of its producer."""
    index, block = refused.index, refused.block
    if block is None:
        return
    for producer in index.producers_of(block)[::-1][:1]:
        loops = loops_of_results(index, producer)
        words = f"as soon as {producer.name} is known"
        yield from _at_each("reverse_compute_at", block, loops, words, index)


def bring_producer(refused: Refused) -> Iterator[Fix]:
    """Instead of the consumer going to its producer, the producer comes to its consumer."""
    index, block = refused.index, refused.block
    if block is None:
        return
    for producer in index.producers_of(block)[::-1][:1]:
        inline: FixStep = ("compute_inline", {"block": producer.symbol})
        if block_kind(producer) == "complete":
            yield Fix(f"inline {producer.name} into {block.name} instead", (inline,))
        loops = iterating(index.loops_around(block))[::-1]
        words = f"where {block.name} needs it"
        yield from _at_each("compute_at", producer, loops, words, index)


def _at_each(
    step: str, block: Block, loops: Sequence[For], words: str, index: ProgramIndex
) -> Iterator[Fix]:
    for loop in [lp for lp in loops if not index.is_under(block, lp)][:MAX_PLACES]:
        title = f"compute {block.name} at {loop.var.name} instead, {words}"
        yield Fix(title, ((step, {"block": block.symbol, "loop": loop.var}),), f"at {words}")


def move_first(refused: Refused) -> Iterator[Fix]:
    """Move what a block needs out of the loops first."""
    index, block, loop = refused.index, refused.block, refused.loop
    if block is None:
        return
    nest = loop or index.child_holding(None, block)[1]
    needed = [p for p in index.producers_of(block) if index.is_under(p, nest)]
    if needed:
        yield refused.after(_moved_out(needed), *_to_root(needed))


def apart(refused: Refused) -> Iterator[Fix]:
    """Give the other blocks of a nest loops of their own, or none, so that the nest is perfect."""
    index = refused.index
    inner = [lp for lp in map(index.loops.get, _named_loops(refused)) if lp is not None]
    if not inner:
        return
    ordered = sorted(inner, key=lambda lp: len(index.loops_around(lp)))
    top, bottom = ordered[0], ordered[-1]
    others = [b for b in index.blocks_under(top) if not index.is_under(b, bottom)]
    if not others or len(others) > MAX_PLACES:
        return
    names = ", ".join(b.name for b in others)
    inline: list[FixStep] = [("compute_inline", {"block": b.symbol}) for b in others]
    yield refused.after(_moved_out(others), *_to_root(others), group="apart")
    yield refused.after(f"inline {names} into what reads it", *inline, group="apart")


def _named_loops(refused: Refused) -> Iterator[Var]:
    for value in refused.args.values():
        for item in items_of(value) or (value,):
            if isinstance(item, Var):
                yield item


def _to_root(blocks: Sequence[Block]) -> list[FixStep]:
    return [("compute_root", {"block": b.symbol}) for b in blocks]


def _moved_out(blocks: Sequence[Block]) -> str:
    return f"give {', '.join(b.name for b in blocks)} loops of its own by compute_root"


def attach_first(refused: Refused) -> Iterator[Fix]:
    """Attach a producer to a loop of its consumers, which the step is about."""
    index, block = refused.index, refused.block
    consumers = [] if block is None else index.consumers_of(block)
    if block is None or not consumers:
        return
    for loop in iterating(index.common_loops(*consumers))[:MAX_PLACES]:
        attach: FixStep = ("compute_at", {"block": block.symbol, "loop": loop.var})
        yield refused.after(f"compute {block.name} at {loop.var.name}", attach, group="attach")
