"""The template of most computations: tiles for threads, caches and registers."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import prod
from typing import Any

from .common import inlined, shared_out, write_out
from .limits import Limit
from .plan import Plan, tail_policy
from .reader import Knobs

ORDERS = ("S0 S1 R0 R1 S2", "S0 R0 S1 R1 S2", "S0 S1 R0 S2 R1")
SMALL = 8
"""A sum of at most so many steps, such as over a filter's width, is not split."""
_MOST_UNROLLED = 16


@dataclass
class Levels:
    """The loops of the main block: spatial ones from threads (0) to registers (2), then sums."""

    spatial: list[list[Any]] = field(default_factory=lambda: [[], [], []])
    sums: list[list[Any]] = field(default_factory=lambda: [[], []])

    def nest(self, order: str) -> list[Any]:
        """All loops in an order such as "S0 S1 R0 R1 S2"."""
        found: list[Any] = []
        for word in order.split():
            found += (self.spatial if word[0] == "S" else self.sums)[int(word[1])]
        return found


class Tiles:
    """Spatial loops in three levels, sums in two, operands copied where they are used.

    The innermost spatial loops are the tile of registers: if it is unrolled, its sums are set to
    their start values, added to and written back by statements that are written out one by one.
    """

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        spatial = [axis for axis in plan.axes if axis[1] == "spatial" and axis[2] > 1]
        self._split = [axis[0] for axis in spatial]
        self._whole = ""
        if spatial and plan.has_sum and spatial[-1][2] <= 2 * plan.lanes:
            self._whole = self._split.pop()
        self._vector = spatial[-1][0] if spatial else ""
        self._long = any(kind == "reduce" and size > SMALL for _, kind, size in plan.axes)

    @property
    def limits(self) -> list[Limit]:
        """The tile of registers must not be larger than the registers."""
        whole = prod(size for name, _, size in self.plan.axes if name == self._whole)
        most = self.plan.registers * self.plan.lanes / whole
        factors = tuple((name, -1) for name in self._split)
        return [Limit(factors, most)] if factors else []

    def __call__(self, sch: Any, knobs: Knobs) -> None:
        plan = self.plan
        main = plan.main
        tiled = inlined(sch, plan, knobs)
        local = plan.has_sum and knobs.flag("accumulator")
        write = sch.cache_write(main, "local") if local else None
        levels = self._levels(sch, main, knobs)
        if plan.has_sum:
            order = knobs.choose("order", ORDERS if self._long else ORDERS[:1])
        else:
            order = "S0 S1 S2"
        nest = levels.nest(order)
        if len(nest) > 1:
            sch.reorder(*nest)
        levels.spatial[0] = shared_out(sch, levels.spatial[0], knobs)
        shared = levels.spatial[0][-1] if levels.spatial[0] else None
        unroll = knobs.choose(
            "unroll", ("tile", "none", "tile and sum") if plan.has_sum else ("tile", "none")
        )
        # A tile is finished only behind the last loop of its sum.
        early = bool(levels.spatial[1]) and not order.startswith("S0 R0")
        tile = levels.spatial[1][-1] if early else shared
        behind = [write] if write is not None else []
        behind += list(plan.consumers[-1:])
        for block in behind:
            if tile is not None:
                moved = sch.reverse_compute_at(block, tile)
                write_out(sch, moved, unroll=early and unroll != "none")
        self._stage(sch, main, levels, shared, tiled, knobs)
        self._innermost(sch, levels, unroll)
        sums = [loop for loop in nest if any(loop in level for level in levels.sums)]
        if sums:
            sch.decompose_reduction(main, sums[0])

    def _levels(self, sch: Any, main: str, knobs: Knobs) -> Levels:
        """Split the loops of the main block."""
        plan, levels = self.plan, Levels()
        for (name, kind, size), loop in zip(plan.axes, list(sch.loops(main)), strict=False):
            if kind == "spatial":
                self._split_axis(sch, loop, (name, size), levels, knobs)
            elif size <= SMALL:
                levels.sums[1].append(loop)
            else:
                factors = knobs.split(name, size, 2, tail="divide")
                for level, part in zip(levels.sums, sch.split(loop, factors), strict=True):
                    level.append(part)
        backwards = knobs.flag("inner_backwards") if len(levels.spatial[2]) > 2 else False
        if backwards:
            *tile, vector = levels.spatial[2]
            levels.spatial[2] = [*reversed(tile), vector]
        if len(levels.spatial[1]) > 1 and knobs.flag("middle_backwards"):
            levels.spatial[1].reverse()
        return levels

    def _split_axis(
        self, sch: Any, loop: Any, axis: tuple[str, int], levels: Levels, knobs: Knobs
    ) -> None:
        name, size = axis
        if size == 1:
            levels.spatial[0].append(loop)
        elif name == self._whole:
            levels.spatial[2].append(loop)
        else:
            lanes = self.plan.lanes
            last = name == self._vector
            factors = knobs.split(
                name, size, 3, most=4 * lanes if last else _MOST_UNROLLED,
                step=lanes if last else 1, tail=tail_policy(size),
            )  # fmt: skip
            for level, part in zip(levels.spatial, sch.split(loop, factors), strict=True):
                level.append(part)

    def _stage(
        self, sch: Any, main: str, levels: Levels, shared: Any, tiled: list[str], knobs: Knobs
    ) -> None:
        """Copies of operands, and producers, where they are used."""
        for name in tiled:
            if shared is not None:
                write_out(sch, sch.compute_at(name, shared))
        if not self.plan.has_sum:
            return
        places = {"sum": (levels.sums[0] or [None])[-1], "tile": shared}
        for name in self.plan.reads:
            how = knobs.choose(f"{name}.copy", ("none", "sum", "tile"))
            if how != "none" and places[how] is not None:
                copy = sch.cache_read(main, name, "local")
                write_out(sch, sch.compute_at(copy, places[how]))

    def _innermost(self, sch: Any, levels: Levels, unroll: str) -> None:
        """Vectors and unrolled loops."""
        inner = levels.spatial[2]
        if not inner:
            return
        sch.vectorize(inner[-1])
        chosen = list(inner[:-1]) if unroll != "none" else []
        if unroll == "tile and sum":
            chosen += self._window(levels)
        for loop in chosen:
            sch.unroll(loop)

    def _window(self, levels: Levels) -> list[Any]:
        """The innermost loops of small sums, as many as are worth writing out."""
        sums = [size for _, kind, size in self.plan.axes if kind == "reduce"]
        found: list[Any] = []
        count = 1
        for size, loop in zip(reversed(sums), reversed(levels.sums[1]), strict=True):
            count *= size
            if size > SMALL or count > _MOST_UNROLLED:
                break
            found.append(loop)
        return found
