"""What a generic space needs to know of a program: its main block, axes, and what is around it."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from tvmlab.ir import Block, Program, const_int
from tvmlab.schedule import accesses, index_of
from tvmlab.support import UnsupportedOp
from tvmlab.target import Target


@dataclass(frozen=True, slots=True)
class Plan:
    """What the template needs to know of a program.

    Attributes
    ----------
    main
        The block with the most work.
    axes
        Name, kind and extent of each of its loops.
    reads
        Buffers that it reads and that are inputs of the program.
    producers, consumers
        Element-wise blocks before and behind it.
    lanes, threads
        Elements of a vector; threads of the machine.
    reuse
        Iterations for each element that it touches.
    """

    main: str
    axes: tuple[tuple[str, str, int], ...]
    reads: tuple[str, ...]
    producers: tuple[str, ...]
    consumers: tuple[str, ...]
    lanes: int
    threads: int
    reuse: float

    @property
    def has_sum(self) -> bool:
        return any(kind == "reduce" for _, kind, _ in self.axes)


def plan_of(program: Program, target: Target) -> Plan:
    """What there is to tile, copy and fuse in a program."""
    blocks = list(index_of(program).blocks.values())
    main = main_block(program)
    written = {region.buffer for region in main.writes}
    read = [a.buffer for a in accesses(main) if a.buffer not in written]
    read = list(dict.fromkeys(read))
    before, after = _upstream(program, main), _downstream(program, main)
    simple = {b.name for b in blocks if not _has_sum(b)}
    iterations = _iterations(main)
    sizes = [prod(b.const_shape or (1,)) for b in (*read, *written)]
    return Plan(
        main=main.name,
        axes=tuple((it.var.name, it.kind, const_int(it.extent) or 1) for it in main.iters),
        reads=tuple(b.name for b in read if b in program.params),
        producers=tuple(b.name for b in before if b.name in simple),
        consumers=tuple(b.name for b in after if b.name in simple),
        lanes=target.lanes(next(iter(written)).dtype.bits),
        threads=target.num_threads,
        reuse=iterations / max(1, sum(sizes)),
    )


def main_block(program: Program) -> Block:
    """The block with the most work: sums first, then by iterations.

    Raises
    ------
    UnsupportedOp
        If there is none, or a size is known only at run time.
    """
    blocks = list(index_of(program).blocks.values())
    if not blocks:
        raise UnsupportedOp(f"{program.name} has no block to schedule")
    return max(blocks, key=lambda b: (_has_sum(b), _iterations(b)))


def tail_policy(size: int) -> str:
    """Sizes with few divisors may leave a tail."""
    return "tail" if sum(size % n == 0 for n in range(1, size + 1)) <= 4 else "divide"


def _has_sum(block: Block) -> bool:
    return any(it.kind == "reduce" for it in block.iters)


def _iterations(block: Block) -> int:
    sizes = [const_int(it.extent) for it in block.iters]
    if any(size is None for size in sizes):
        raise UnsupportedOp(
            f"block {block.name} has a size known only at run time",
            hint="the schedule space needs sizes as numbers",
        )
    return prod(size for size in sizes if size is not None)


def _upstream(program: Program, block: Block) -> list[Block]:
    """The blocks that a block needs, nearest first."""
    index = index_of(program)
    todo, found = [block], list[Block]()
    while todo:
        for producer in index.producers_of(todo.pop(0)):
            if producer not in found and producer is not block:
                found.append(producer)
                todo.append(producer)
    return found


def _downstream(program: Program, block: Block) -> list[Block]:
    """The blocks that need a block, nearest first."""
    index = index_of(program)
    todo, found = [block], list[Block]()
    while todo:
        for buffer in {region.buffer for region in todo.pop(0).writes}:
            for consumer in index.consumers(buffer):
                if consumer not in found and consumer is not block:
                    found.append(consumer)
                    todo.append(consumer)
    return found
