"""A generic space of schedules for any tensor computation, made of ordinary schedule primitives.

A choice that is refused is left out, with its rule noted; what remains is always a legal schedule.

>>> space = ScheduleSpace(C)
>>> schedule = space.build(space.draw(np.random.default_rng(0)))
>>> print(schedule.trace.to_python())
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import prod
from typing import Any, TypeAlias

import numpy as np

from tvmlab.ir import Block, Program, const_int
from tvmlab.schedule import BlockRef, LoopRef, RefusedError, Schedule, accesses, index_of
from tvmlab.support import ScheduleError, UnsupportedOp
from tvmlab.target import Target, TargetLike
from tvmlab.te import Tensor, create_program

from .decisions import PATTERNS, Decisions, Workload, draw, mutate

Outputs: TypeAlias = Tensor | Sequence[Tensor] | Program


class ScheduleSpace:
    """Schedules of one computation.

    Parameters
    ----------
    outputs
        Output tensors, or an unscheduled program.
    target
        Decides the widths of vectors.

    Raises
    ------
    UnsupportedOp
        If a size is known only at run time, or there is nothing to schedule.
    """

    def __init__(self, outputs: Outputs, target: TargetLike = "cpu") -> None:
        self.program = (
            outputs if isinstance(outputs, Program) else create_program(_tensors(outputs))
        )
        self.main = _main_block(self.program)
        self.workload = _workload(self.program, self.main, Target.of(target))

    def draw(self, rng: np.random.Generator) -> Decisions:
        """A random point."""
        return draw(self.workload, rng)

    def mutate(self, decisions: Decisions, rng: np.random.Generator) -> Decisions:
        """A neighbour of a point."""
        return mutate(decisions, self.workload, rng)

    def build(self, decisions: Decisions) -> Schedule:
        """The schedule of a point."""
        return self.build_noting(decisions)[0]

    def build_noting(self, decisions: Decisions) -> tuple[Schedule, list[str]]:
        """The schedule of a point, and the rules by which some of its choices were refused."""
        builder = _Builder(Schedule(self.program), self.main.name, decisions, self.workload)
        builder.run()
        return builder.schedule, builder.refused


def random_schedule(
    outputs: Outputs, rng: np.random.Generator, target: TargetLike = "cpu"
) -> Schedule:
    """A random legal schedule; the same for the same state of the generator."""
    space = ScheduleSpace(outputs, target)
    return space.build(space.draw(rng))


def _tensors(outputs: Tensor | Sequence[Tensor]) -> list[Tensor]:
    return [outputs] if isinstance(outputs, Tensor) else list(outputs)


def _main_block(program: Program) -> Block:
    """The block with the most work: reductions first, then by iterations."""
    blocks = list(index_of(program).blocks.values())
    if not blocks:
        raise UnsupportedOp(f"{program.name} has no block to schedule")

    def weight(block: Block) -> tuple[bool, int]:
        return any(it.kind == "reduce" for it in block.iters), _iterations(block)

    return max(blocks, key=weight)


def _iterations(block: Block) -> int:
    sizes = [const_int(it.extent) for it in block.iters]
    if any(size is None for size in sizes):
        raise UnsupportedOp(
            f"block {block.name} has a size known only at run time",
            hint="the schedule space needs sizes as numbers",
        )
    return prod(size for size in sizes if size is not None)


def _workload(program: Program, main: Block, target: Target) -> Workload:
    index = index_of(program)
    written = {region.buffer for region in main.writes}
    reads = dict.fromkeys(
        a.buffer.name for a in accesses(main) if a.buffer not in written and a.buffer.const_shape
    )
    return Workload(
        space=tuple(const_int(it.extent) or 1 for it in main.iters if it.kind == "spatial"),
        sums=tuple(const_int(it.extent) or 1 for it in main.iters if it.kind == "reduce"),
        reads=tuple(reads),
        producers=tuple(block.name for block in index.producers_of(main)),
        lanes=target.lanes(next(iter(written)).dtype.bits),
    )


@dataclass
class _Builder:
    """Takes the steps of one point."""

    schedule: Schedule
    main: str
    decisions: Decisions
    workload: Workload
    refused: list[str] = field(default_factory=list[str])
    levels: dict[str, list[LoopRef]] = field(default_factory=dict[str, list[LoopRef]])

    def run(self) -> None:
        consumer = self._inline_elementwise()
        write = self._accumulate()
        self._tile()
        self._share_out()
        # Inner attachments first: an outer one may then still move what they hold.
        self._attach_results(write, consumer)
        self._attach_inputs()
        self._decompose()
        self._annotate_stages()
        self._annotate_main()

    # ------------------------------------------------------------------ steps

    def _try(self, primitive: str, *args: Any) -> list[LoopRef | BlockRef] | None:
        """Take a step if it is allowed; note the rule if it is not."""
        try:
            return self.schedule.apply(primitive, *args)
        except RefusedError as error:
            self.refused.append(error.verdict.rule)
        except ScheduleError:
            self.refused.append("arguments")
        return None

    def _inline_elementwise(self) -> str | None:
        """Inline element-wise blocks; the last one behind the main block stays, and is returned."""
        index = index_of(self.schedule.program)
        producers = {b.name for b in _upstream(self.schedule.program, self.main)}
        after = [s.name for s in index.blocks if s.name not in producers and s.name != self.main]
        for name in after[:-1]:
            self._try("compute_inline", name)
        for name, how in zip(self.workload.producers, self.decisions.producers, strict=True):
            if how == "inline":
                self._try("compute_inline", name)
        for name in sorted(producers - set(self.workload.producers)):
            self._try("compute_inline", name)
        return after[-1] if after else None

    def _accumulate(self) -> BlockRef | None:
        if not self.decisions.accumulate:
            return None
        made = self._try("cache_write", self.main, "local")
        return next((r for r in made or [] if isinstance(r, BlockRef)), None)

    def _tile(self) -> None:
        """Split every loop of the main block and nest the levels by the pattern."""
        loops = self.schedule.loops(self.main)
        kinds = [it.kind for it in self._main().iters]
        space = [loop for loop, kind in zip(loops, kinds, strict=True) if kind == "spatial"]
        sums = [loop for loop, kind in zip(loops, kinds, strict=True) if kind == "reduce"]
        self.levels = {name: [] for name in PATTERNS[0]}
        for loop, tiles in zip(space, self.decisions.space_tiles, strict=True):
            self._split(loop, ("S0", "S1", "S2", "S3"), tiles)
        for loop, tiles in zip(sums, self.decisions.sum_tiles, strict=True):
            self._split(loop, ("R0", "R1"), tiles)
        outer = self.levels["S0"]
        if len(outer) == len(self.decisions.outer_order):
            self.levels["S0"] = [outer[n] for n in self.decisions.outer_order]
        order = [lp for name in PATTERNS[self.decisions.pattern] for lp in self.levels[name]]
        if len(order) > 1:
            self._try("reorder", *order)

    def _split(self, loop: LoopRef, names: tuple[str, ...], tiles: tuple[int, ...]) -> None:
        """Split a loop into levels; a level of one iteration gets no loop."""
        extent = loop.extent or 1
        kept = [(name, tile) for name, tile in zip(names[1:], tiles, strict=True) if tile > 1]
        if kept and prod(tile for _, tile in kept) >= extent:
            # The inner levels take the whole axis: the first of them is what remains.
            kept = kept if len(kept) == 1 else kept[1:]
            if len(kept) == 1 and kept[0][1] >= extent:
                self.levels[kept[0][0]].append(loop)
                return
        if not kept:
            self.levels[names[0]].append(loop)
            return
        made = self._try("split", loop, [None, *(tile for _, tile in kept)])
        if made is None:
            self.levels[names[0]].append(loop)
            return
        for name, part in zip((names[0], *(name for name, _ in kept)), made, strict=True):
            assert isinstance(part, LoopRef)
            self.levels[name].append(part)

    def _share_out(self) -> None:
        """Fuse the outermost loops and run them on threads."""
        outer = self._outermost(self.decisions.parallel)
        if not outer:
            return
        fused = outer[0]
        if len(outer) > 1:
            made = self._try("fuse", *outer)
            if made is None:
                return
            assert isinstance(made[0], LoopRef)
            fused = made[0]
            self.levels["S0"] = [fused, *self.levels["S0"][len(outer) :]]
        self._try("parallel", fused)

    def _outermost(self, count: int) -> list[LoopRef]:
        """So many of the S0 loops as do stand outermost, in order."""
        loops = self.schedule.loops(self.main)
        wanted = self.levels["S0"][:count]
        return [a for a, b in zip(loops, wanted, strict=False) if a == b]

    def _attach_results(self, write: BlockRef | None, consumer: str | None) -> None:
        stages = [name for name in (write.name if write else None, consumer) if name]
        for name in stages:
            place = self._place(self.decisions.accumulate or "outer")
            if place is not None:
                self._try("reverse_compute_at", name, place)

    def _attach_inputs(self) -> None:
        for name, how in zip(self.workload.producers, self.decisions.producers, strict=True):
            place = None if how == "inline" else self._place(how)
            if place is not None:
                self._try("compute_at", name, place)
        for name, how in zip(self.workload.reads, self.decisions.staged, strict=True):
            place = self._place(how)
            if place is None:
                continue
            made = self._try("cache_read", self.main, name, "local")
            if made is not None and self._try("compute_at", made[0], place) is None:
                self.schedule.undo()

    def _place(self, how: str) -> LoopRef | None:
        """The loop at which a stage is attached."""
        loops = self.schedule.loops(self.main)
        sums = {lp.var for name in ("R0", "R1") for lp in self.levels[name]}
        first = next((n for n, lp in enumerate(loops) if lp.var in sums), len(loops))
        if how == "outer":
            outer = {lp.var for lp in self.levels["S0"]}
            chosen = [lp for lp in loops[:first] if lp.var in outer]
        elif how == "middle":
            chosen = [lp for lp in loops[:first] if lp not in self.levels["S3"]]
        elif how == "sum":
            chosen = loops[: first + 1] if first < len(loops) else []
        else:
            chosen = []
        return chosen[-1] if chosen else None

    def _decompose(self) -> None:
        if not self.decisions.decompose or self._main().init is None:
            return
        sums = {lp.var for name in ("R0", "R1") for lp in self.levels[name]}
        first = next((lp for lp in self.schedule.loops(self.main) if lp.var in sums), None)
        if first is not None:
            self._try("decompose_reduction", self.main, first)

    def _annotate_main(self) -> None:
        loops = self.schedule.loops(self.main)
        lanes = [lp for lp in loops if lp in self.levels["S3"]]
        if self.decisions.vectorize and lanes:
            self._vectorize(lanes[-1])
        inner = [lp for name in ("R1", "S2", "S3") for lp in self.levels[name]]
        self._unroll([lp for lp in loops if lp in inner])

    def _annotate_stages(self) -> None:
        """Vectorize and unroll the copies, start values and consumers beside the main nest."""
        shared = {lp.var for lp in self.schedule.loops(self.main)}
        for block in self.schedule.blocks():
            if block.name == self.main:
                continue
            loops = self.schedule.loops(block)
            own = [lp for lp in loops if lp.var not in shared]
            if len(own) == len(loops) and len(own) > 1 and self.decisions.parallel:
                self._try("parallel", own[0])
                own = own[1:]
            if own and self.decisions.vectorize:
                self._vectorize(own[-1])
            self._unroll(own)

    def _vectorize(self, loop: LoopRef) -> None:
        """Vectorize a loop, or its inner part if it is long."""
        limit = 4 * self.workload.lanes
        extent = loop.extent or 1
        if extent < 2:
            return
        if extent > limit:
            made = self._try("split", loop, [None, self.workload.lanes])
            if made is None:
                return
            loop = next(part for part in reversed(made) if isinstance(part, LoopRef))
        self._try("vectorize", loop)

    def _unroll(self, loops: list[LoopRef]) -> None:
        """Unroll from the inside while the body stays small."""
        room = self.decisions.unroll
        for loop in reversed(loops):
            if not loop.alive or loop.kind != "serial":
                continue
            extent = loop.extent or room + 1
            if extent > room:
                return
            room //= max(extent, 1)
            self._try("unroll", loop)

    def _main(self) -> Block:
        return index_of(self.schedule.program).blocks[self.schedule.block(self.main).symbol]


def _upstream(program: Program, name: str) -> list[Block]:
    """The blocks that a block needs, directly or through others."""
    index = index_of(program)
    todo = [block for block in index.blocks.values() if block.name == name]
    found: list[Block] = []
    while todo:
        for producer in index.producers_of(todo.pop()):
            if producer not in found:
                found.append(producer)
                todo.append(producer)
    return found
