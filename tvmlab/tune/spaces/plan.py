"""What a generic space needs to know of a program: its main block, axes, and what is around it."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from tvmlab.ir import Block, Buffer, Program, const_int, free_vars
from tvmlab.schedule import accesses, index_of
from tvmlab.support import UnsupportedOp
from tvmlab.target import Target

_GOOD_ROWS = range(9, 15)


@dataclass(frozen=True, slots=True)
class Operand:
    """A buffer that the main block reads.

    Attributes
    ----------
    dim, size
        The dimension that nothing but the last spatial axis moves along, and its size; -1 and 0 if
        there is none.
    rank
        Number of dimensions.
    """

    name: str
    dim: int
    size: int
    rank: int


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
        What it reads that are inputs of the program.
    producers, consumers
        Element-wise blocks before and behind it.
    lanes, registers, threads
        Elements of a vector; vector registers and threads of the machine.
    reuse
        Iterations for each element that it touches.
    along_sum
        Whether neighbors of the largest operand are added to one another.
    """

    main: str
    axes: tuple[tuple[str, str, int], ...]
    reads: tuple[Operand, ...]
    producers: tuple[str, ...]
    consumers: tuple[str, ...]
    lanes: int
    registers: int
    threads: int
    reuse: float
    along_sum: bool

    @property
    def has_sum(self) -> bool:
        return any(kind == "reduce" for _, kind, _ in self.axes)


def plan_of(program: Program, target: Target) -> Plan:
    """What there is to tile, copy and fuse in a program."""
    main = main_block(program)
    written = {region.buffer for region in main.writes}
    read = [a.buffer for a in accesses(main) if a.buffer not in written]
    read = list(dict.fromkeys(read))
    iterations = _iterations(main)
    sizes = [prod(b.const_shape or (1,)) for b in (*read, *written)]
    return Plan(
        main=main.name,
        axes=tuple((it.var.name, it.kind, const_int(it.extent) or 1) for it in main.iters),
        reads=tuple(_operand(main, b) for b in read if b in program.params),
        producers=tuple(b.name for b in _producers(program, main)),
        consumers=tuple(b.name for b in _consumers(program, main)),
        lanes=target.lanes(next(iter(written)).dtype.bits),
        registers=max(target.num_registers, 8),
        threads=target.num_threads,
        reuse=iterations / max(1, sum(sizes)),
        along_sum=_along_sum(main, read),
    )


def _operand(main: Block, buffer: Buffer) -> Operand:
    """What there is to know of a buffer for copying it."""
    spatial = [it for it in main.iters if it.kind == "spatial" and const_int(it.extent) != 1]
    places = [a.indices for a in accesses(main) if a.buffer is buffer]
    rank = len(buffer.shape)
    if not spatial or len(places) != 1:
        return Operand(buffer.name, -1, 0, rank)
    last = spatial[-1]
    moved = [n for n, index in enumerate(places[0]) if last.var in free_vars(index)]
    if len(moved) != 1 or places[0][moved[0]] is not last.var:
        return Operand(buffer.name, -1, 0, rank)
    return Operand(buffer.name, moved[0], const_int(last.extent) or 0, rank)


def _along_sum(main: Block, read: list[Buffer]) -> bool:
    """Whether the last index of the largest operand runs along a sum, and over nothing else."""
    sums = {it.var for it in main.iters if it.kind == "reduce"}
    places = [a for a in accesses(main) if a.buffer in read and a.indices]
    if not places:
        return False
    largest = max(places, key=lambda a: prod(a.buffer.const_shape or (1,)))
    used = set(free_vars(largest.indices[-1]))
    return bool(used) and used <= sums


def main_block(program: Program) -> Block:
    """The sum with the most work; without any sum the last block.

    Raises
    ------
    UnsupportedOp
        If there is none, or a size is known only at run time.
    """
    blocks = list(index_of(program).blocks.values())
    if not blocks:
        raise UnsupportedOp(f"{program.name} has no block to schedule")
    sums = [block for block in blocks if _has_sum(block)]
    for block in blocks:
        _iterations(block)
    # Without a sum everything is inlined into what comes last.
    return max(sums, key=_iterations) if sums else blocks[-1]


def tail_policy(size: int, *, rows: bool = False) -> str:
    """Sizes with few divisors may leave a tail.

    So may rows of a tile of registers, if none of the divisors is about as many as there is room
    for.
    """
    if sum(size % n == 0 for n in range(1, size + 1)) <= 4:
        return "tail"
    return "inner" if rows and not any(size % n == 0 for n in _GOOD_ROWS) else "divide"


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


def _producers(program: Program, main: Block) -> list[Block]:
    """The element-wise blocks that work for the main block only, nearest first."""
    index = index_of(program)
    todo, found = [main], list[Block]()
    while todo:
        for producer in index.producers_of(todo.pop(0)):
            users = {user for region in producer.writes for user in index.consumers(region.buffer)}
            if producer not in found and not _has_sum(producer) and users <= {main, *found}:
                found.append(producer)
                todo.append(producer)
    return found


def _consumers(program: Program, main: Block) -> list[Block]:
    """The chain of element-wise blocks behind the main block, each of which needs only the last."""
    index = index_of(program)
    last, found = main, list[Block]()
    while True:
        users = {user for region in last.writes for user in index.consumers(region.buffer)}
        users.discard(last)
        if len(users) != 1:
            return found
        last_user = users.pop()
        if len(last.writes) != 1 or not _reads_in_place(last_user, last):
            return found
        if _has_sum(last_user) or len(index.producers_of(last_user)) != 1:
            return found
        found.append(last_user)
        last = last_user


def _reads_in_place(block: Block, producer: Block) -> bool:
    """Whether each iteration reads the one element of the producer that has its own place."""
    own = [it.var for it in block.iters]
    buffer = producer.writes[0].buffer
    places = [a.indices for a in accesses(block) if a.buffer is buffer]
    return all(
        len(place) == len(own) and all(i is v for i, v in zip(place, own, strict=True))
        for place in places
    )
