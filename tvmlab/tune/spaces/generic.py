"""A design space for any tensor computation, made from its program alone: no template to write.

The block with the most work is tiled: spatial loops in three levels (threads, caches, registers),
sums in two, nested in one of a few orders; element-wise blocks around it are inlined or fused into
a tile, operands copied where they are used, the innermost loops become vectors or are unrolled. A
reduction without reuse is also split into partial sums.

>>> space = generic_space(C)
>>> print(space)
"""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from tvmlab.schedule import Schedule
from tvmlab.target import Target, TargetLike

from .plan import Plan, plan_of, tail_policy
from .reader import Knobs
from .space import Outputs, Space, program_of

ORDERS = ("S0 S1 R0 R1 S2", "S0 R0 S1 R1 S2", "S0 S1 R0 S2 R1")
_SMALL = 8
"""A sum of at most so many steps, such as over a filter's width, is not split."""
_LITTLE_REUSE = 4
_MOST_UNROLLED = 16


def generic_space(outputs: Outputs, target: TargetLike = "cpu") -> Space:
    """The generic space of a computation.

    Parameters
    ----------
    outputs
        Output tensors, or an unscheduled program.

    Raises
    ------
    UnsupportedOp
        If a size is known only at run time, or there is nothing to schedule.
    """
    program = program_of(outputs)
    machine = Target.of(target)
    plan = plan_of(program, machine)
    little = plan.has_sum and plan.reuse < _LITTLE_REUSE
    return Space(outputs, PartialSums(plan) if little else Tiles(plan), machine)


class Tiles:
    """Tiles for threads, caches and registers, with operands copied where they are used."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan

    def __call__(self, sch: Any, knobs: Knobs) -> None:
        plan = self.plan
        main = plan.main
        padded = _inlined(sch, plan, knobs)
        local = plan.has_sum and knobs.flag("accumulator")
        write = sch.cache_write(main, "local") if local else None
        levels = self._tiles(sch, main, knobs)
        order = knobs.choose("order", ORDERS if plan.has_sum else ("S0 S1 S2",))
        nest = [loop for level in order.split() for loop in levels[level]]
        if len(nest) > 1:
            sch.reorder(*nest)
        shared = _parallel(sch, levels, knobs)
        # A tile is finished only behind the last loop of its sum.
        early = levels["S1"] and not order.startswith("S0 R0")
        tile = levels["S1"][-1] if early else shared
        behind = [write] if write is not None else []
        behind += list(plan.consumers[-1:])
        for block in behind:
            if tile is not None:
                _vectorize_last(sch, sch.reverse_compute_at(block, tile))
        self._stage(sch, main, levels, shared, padded, knobs)
        sums = [loop for loop in nest if loop in levels["R0"] or loop in levels["R1"]]
        if sums:
            sch.decompose_reduction(main, sums[0])
        self._innermost(sch, levels, knobs)

    def _tiles(self, sch: Any, main: str, knobs: Knobs) -> dict[str, list[Any]]:
        """Split the loops of the main block."""
        levels: dict[str, list[Any]] = {name: [] for name in ("S0", "S1", "S2", "R0", "R1")}
        loops = list(sch.loops(main))
        axes = self.plan.axes
        spatial = [n for n, (_, kind, size) in enumerate(axes) if kind == "spatial" and size > 1]
        for n, ((name, kind, size), loop) in enumerate(zip(axes, loops, strict=False)):
            if kind == "spatial":
                last = n == spatial[-1] if spatial else False
                if size == 1:
                    levels["S0"].append(loop)
                    continue
                most = 4 * self.plan.lanes if last else _MOST_UNROLLED
                factors = knobs.split(name, size, 3, most=most, tail=tail_policy(size))
                for level, part in zip(("S0", "S1", "S2"), sch.split(loop, factors), strict=True):
                    levels[level].append(part)
            elif size <= _SMALL:
                levels["R1"].append(loop)
            else:
                factors = knobs.split(name, size, 2, tail="divide")
                for level, part in zip(("R0", "R1"), sch.split(loop, factors), strict=True):
                    levels[level].append(part)
        return levels

    def _stage(
        self,
        sch: Any,
        main: str,
        levels: dict[str, list[Any]],
        shared: Any,
        padded: dict[str, str],
        knobs: Knobs,
    ) -> None:
        """Copies of operands, and producers, where they are used."""
        for name, how in padded.items():
            if how == "tile" and shared is not None:
                _vectorize_last(sch, sch.compute_at(name, shared))
        if not self.plan.has_sum:
            return
        places = {"sum": (levels["R0"] or [None])[-1], "tile": shared}
        for name in self.plan.reads:
            how = knobs.choose(f"{name}.copy", ("none", "sum", "tile"))
            if how != "none" and places[how] is not None:
                copy = sch.cache_read(main, name, "local")
                _vectorize_last(sch, sch.compute_at(copy, places[how]))

    def _innermost(self, sch: Any, levels: dict[str, list[Any]], knobs: Knobs) -> None:
        """Vectors and unrolled loops."""
        inner = levels["S2"]
        if not inner:
            return
        sch.vectorize(inner[-1])
        unroll = knobs.choose("unroll", ("tile", "none", "tile and sum"))
        chosen = list(inner[:-1]) if unroll != "none" else []
        if unroll == "tile and sum":
            small = [n for n, (_, kind, size) in enumerate(self.plan.axes)
                     if kind == "reduce" and size <= _SMALL]  # fmt: skip
            chosen += levels["R1"][len(levels["R1"]) - len(small) :] if small else []
        for loop in chosen:
            sch.unroll(loop)


class PartialSums:
    """For sums over many elements that are used once: partial sums in vectors and threads."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan

    def __call__(self, sch: Any, knobs: Knobs) -> None:
        plan = self.plan
        lanes = plan.lanes
        for name, how in _inlined(sch, plan, knobs, ("inline", "whole")).items():
            assert how == "whole", name
        main = plan.main
        parts = knobs.choose("vector_sums", (1, lanes, 2 * lanes, 4 * lanes, 8 * lanes))
        single = prod(size for _, kind, size in plan.axes if kind == "spatial") == 1
        tasks = knobs.choose("thread_sums", (1, plan.threads, 2 * plan.threads) if single else (1,))
        if tasks > 1:
            outer, _ = sch.split(_last(sch.loops(main)), [tasks, None])
            main = sch.rfactor(main, outer).name
        inner: Any = None
        if parts > 1:
            _, inner = sch.split(_last(sch.loops(main)), [None, parts])
            main = sch.rfactor(main, inner, -1).name
        loops = list(sch.loops(main))
        spatial = sum(kind == "spatial" for _, kind, _ in plan.axes)
        count = knobs.choose("parallel", tuple(range(spatial + 1)))
        if count and tasks == 1:
            sch.parallel(sch.fuse(*loops[:count]) if count > 1 else loops[0])
        if tasks > 1:
            sch.parallel(loops[0])
        step = loops[-2] if inner is not None else loops[-1]
        if inner is not None:
            _vectorize_last(sch, list(sch.loops(sch.decompose_reduction(main, step)))[-1:])
            sch.vectorize(inner)
        _, few = sch.split(step, [None, knobs.number("unroll", (1, 2, 4, 8))])
        sch.unroll(few)


def random_schedule(
    outputs: Outputs, rng: np.random.Generator, target: TargetLike = "cpu"
) -> Schedule:
    """A random legal schedule; the same for the same state of the generator."""
    return generic_space(outputs, target).random_schedule(rng)


def _last(loops: Any) -> Any:
    return loops[len(loops) - 1]


def _inlined(
    sch: Any, plan: Plan, knobs: Knobs, places: tuple[str, ...] = ("inline", "tile", "whole")
) -> dict[str, str]:
    """Inline element-wise blocks; returns the producers that stay, and where they go."""
    for name in plan.consumers[:-1]:
        sch.compute_inline(name)
    chosen = {name: knobs.choose(f"{name}.at", places) for name in plan.producers}
    for name, how in chosen.items():
        if how == "inline":
            sch.compute_inline(name)
    return {name: how for name, how in chosen.items() if how != "inline"}


def _parallel(sch: Any, levels: dict[str, list[Any]], knobs: Knobs) -> Any:
    """Share the outermost loops out to threads; returns the innermost of what is left."""
    outer = levels["S0"]
    count = knobs.choose("parallel", tuple(range(len(outer) + 1)))
    if count:
        fused = sch.fuse(*outer[:count]) if count > 1 else outer[0]
        sch.parallel(fused)
        levels["S0"] = [fused, *outer[count:]]
    return levels["S0"][-1] if levels["S0"] else None


def _vectorize_last(sch: Any, loops: Any) -> None:
    """Vectorize the last loop; a copy of a single element has none."""
    if loops:
        sch.vectorize(loops[-1])
