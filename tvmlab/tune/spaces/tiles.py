"""The template of most computations: tiles for threads, caches and registers."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import prod
from typing import Any

from .common import inlined, shared_out, write_out
from .limits import Limit
from .packing import Copy, copies, copy_at, copy_whole
from .plan import Plan, tail_policy
from .reader import Knobs

ORDERS = ("S0 S1 R0 R1 S2", "S0 R0 S1 R1 S2")
SMALL = 8
"""A sum of at most so many steps, such as over a filter's width, is not split."""
_MOST_UNROLLED = 16
_DEPTHS = (64, 128, 256, 512)


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


@dataclass(frozen=True, slots=True)
class Shape:
    """What the template chooses before any number comes in.

    Attributes
    ----------
    depth
        So many terms are added in registers, then to what was summed before; 0 for all at once.
    accumulator
        Whether sums have a place of their own, written back when they are complete.
    order
        Of the levels of loops, outermost first.
    unroll
        Which loops of the innermost tile are written out: "tile", "none" or "tile and sum".
    """

    depth: int
    accumulator: bool
    order: str
    unroll: str
    copies: dict[str, Copy]


class Tiles:
    """Spatial loops in three levels, sums in two, operands copied or packed where they are used.

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
        sums = [size for _, kind, size in plan.axes if kind == "reduce"]
        self._long = any(size > SMALL for size in sums)
        single = sums[0] if len(sums) == 1 and spatial else 0
        self._depths = [d for d in _DEPTHS if d < single and single % d == 0]

    @property
    def limits(self) -> list[Limit]:
        """The tile of registers must not be larger than the registers."""
        whole = prod(size for name, _, size in self.plan.axes if name == self._whole)
        most = self.plan.registers * self.plan.lanes / whole
        factors = tuple((name, -1) for name in self._split)
        return [Limit(factors, most)] if factors else []

    def __call__(self, sch: Any, knobs: Knobs) -> None:
        tiled = inlined(sch, self.plan, knobs)
        shape = self._shape(knobs)
        if shape.depth:
            self._in_parts(sch, shape, tiled, knobs)
        else:
            self._at_once(sch, shape, tiled, knobs)

    def _shape(self, knobs: Knobs) -> Shape:
        plan = self.plan
        if not plan.has_sum:
            return Shape(0, False, "S0 S1 S2", knobs.choose("unroll", ("tile", "none")), {})
        ways = {operand.name: copies(operand, plan.lanes) for operand in plan.reads}
        return Shape(
            depth=knobs.choose("depth", (0, *self._depths)) if self._depths else 0,
            accumulator=knobs.flag("accumulator"),
            order=knobs.choose("order", ORDERS if self._long else ORDERS[:1]),
            unroll=knobs.choose("unroll", ("tile", "none", "tile and sum")),
            copies={n: w[knobs.choose(f"{n}.copy", tuple(w))] for n, w in ways.items()},
        )

    # -------------------------------------------------------------- whole sums

    def _at_once(self, sch: Any, shape: Shape, tiled: list[str], knobs: Knobs) -> None:
        """A tile of the output, then the next."""
        plan, main = self.plan, self.plan.main
        self._pack(sch, main, shape)
        write = sch.cache_write(main, "local") if shape.accumulator else None
        levels = self._levels(sch, list(sch.loops(main)), knobs)
        nest = levels.nest(shape.order)
        if len(nest) > 1:
            sch.reorder(*nest)
        levels.spatial[0] = shared_out(sch, levels.spatial[0], knobs)
        shared = levels.spatial[0][-1] if levels.spatial[0] else None
        # A tile is finished only behind the last loop of its sum.
        early = bool(levels.spatial[1]) and not shape.order.startswith("S0 R0")
        tile = levels.spatial[1][-1] if early else shared
        behind = [write] if write is not None else []
        behind += list(plan.consumers[-1:])
        for block in behind:
            if tile is not None:
                moved = sch.reverse_compute_at(block, tile)
                write_out(sch, moved, unroll=early and shape.unroll != "none")
        self._stage(sch, main, shape, tiled, shared, (levels.sums[0] or [None])[-1])
        self._innermost(sch, levels, shape.unroll)
        sums = [loop for loop in nest if any(loop in level for level in levels.sums)]
        if sums:
            sch.decompose_reduction(main, sums[0])

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
        for size, loop in zip(reversed(sums), reversed(levels.sums[1]), strict=False):
            count *= size
            if size > SMALL or count > _MOST_UNROLLED:
                break
            found.append(loop)
        return found

    # ----------------------------------------------------------- sums in parts

    def _in_parts(self, sch: Any, shape: Shape, tiled: list[str], knobs: Knobs) -> None:
        """Some terms of the sums of a part of the output, tile by tile, then some more."""
        plan, main = self.plan, self.plan.main
        sums = [name for name, kind, _ in plan.axes if kind == "reduce"]
        knobs.ignore("accumulator", "order", *sums)
        *spatial, k = sch.loops(main)
        steps, inner = sch.split(k, [None, shape.depth])
        sch.reorder(steps, *spatial, inner)
        partial = sch.rfactor(main, steps)
        sch.annotate_block(main, "init_inside", True)
        self._pack(sch, partial, shape)
        *loops, steps = sch.loops(main)
        levels = self._levels(sch, loops, knobs)
        sch.reorder(*levels.spatial[0], steps, *levels.spatial[1], *levels.spatial[2])
        levels.spatial[0] = shared_out(sch, levels.spatial[0], knobs)
        shared = levels.spatial[0][-1]
        for block in plan.consumers[-1:]:
            write_out(sch, sch.reverse_compute_at(block, shared))
        *window, terms = sch.compute_at(partial, levels.spatial[1][-1])
        if window:
            sch.reorder(terms, *window)
            write_out(sch, window, unroll=shape.unroll != "none")
        self._stage(sch, partial, shape, tiled, shared, steps)
        self._innermost(sch, Levels(levels.spatial), shape.unroll)

    # ------------------------------------------------------------------ common

    def _levels(self, sch: Any, loops: list[Any], knobs: Knobs) -> Levels:
        """Split the loops of the main block."""
        plan, levels = self.plan, Levels()
        sums = [axis for axis in plan.axes if axis[1] == "reduce"]
        factors = {n: knobs.split(n, size, 2) for n, _, size in sums if size > SMALL}
        for (name, kind, size), loop in zip(plan.axes, loops, strict=False):
            if kind == "spatial":
                self._split_axis(sch, loop, (name, size), levels, knobs)
            elif size <= SMALL:
                levels.sums[1].append(loop)
            else:
                parts = sch.split(loop, factors[name])
                for level, part in zip(levels.sums, parts, strict=True):
                    level.append(part)
        if len(levels.spatial[2]) > 2 and knobs.flag("inner_backwards"):
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
                step=lanes if last else 1, tail=tail_policy(size, rows=not last),
            )  # fmt: skip
            for level, part in zip(levels.spatial, sch.split(loop, factors), strict=True):
                level.append(part)

    def _pack(self, sch: Any, reader: Any, shape: Shape) -> None:
        """Pack what is packed as a whole."""
        for operand in self.plan.reads:
            copy = shape.copies.get(operand.name)
            if copy is not None and copy.place == "whole":
                copy_whole(sch, reader, operand, copy)

    def _stage(
        self, sch: Any, reader: Any, shape: Shape, tiled: list[str], shared: Any, steps: Any
    ) -> None:
        """Copies of operands, and producers, where they are used."""
        for name in tiled:
            if shared is not None:
                write_out(sch, sch.compute_at(name, shared))
        places = {"sum": steps, "tile": shared}
        for operand in self.plan.reads:
            copy = shape.copies.get(operand.name, Copy("none"))
            if places.get(copy.place) is not None:
                copy_at(sch, reader, operand, copy, places[copy.place])
