"""The template of products that dot instructions compute: bytes, and bfloat16."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tvmlab.intrin import KINDS, DotKind, dot_tile, interleave
from tvmlab.ir import Block, Load, Program, Store, walk
from tvmlab.target import Target

from .common import shared_out, spread, write_out
from .panels import Groups
from .plan import Plan, main_block
from .reader import Knobs

_TILES = ((12, 2), (14, 2), (8, 2), (6, 2), (4, 2), (24, 1), (16, 1), (8, 1), (6, 4), (4, 4))
"""Rows, and vectors of columns, whose sums fit 32 registers beside one vector of each operand."""
_ORDERS = ("S0 R S1", "S0 S1 R", "R S0 S1")
_LEAST_DEPTH = 64


@dataclass(frozen=True, slots=True)
class DotProduct:
    """The instruction for a product, and the name of its right operand."""

    kind: DotKind
    right: str


def dot_product(program: Program, machine: Target) -> DotProduct | None:
    """How a machine's dot instruction computes a program's main block, if it can.

    That block must be a product `C[i, j] += A[i, k] * B[k, j]` of parameters of the program.
    """
    block = main_block(program)
    if [it.kind for it in block.iters] != ["spatial", "spatial", "reduce"]:
        return None
    operands = _operands(block)
    if operands is None or not all(load.buffer in program.params for load in operands):
        return None
    left, right = operands
    types = (str(left.buffer.dtype), str(right.buffer.dtype), str(block.writes[0].buffer.dtype))
    found = (k for k in KINDS if (k.left, k.right, k.out) == types and k.runs_on(machine))
    return next((DotProduct(kind, right.buffer.name) for kind in found), None)


def _operands(block: Block) -> tuple[Load, Load] | None:
    """The loads `A[i, k]` and `B[k, j]`, if these are all that is read beside the sum."""
    i, j, k = (it.var for it in block.iters)
    if not isinstance(block.body, Store):
        return None
    sums = block.body.buffer
    loads = [n for n in walk(block.body) if isinstance(n, Load) and n.buffer is not sums]
    by_place = {load.indices: load for load in loads}
    if len(loads) != 2 or set(by_place) != {(i, k), (k, j)}:
        return None
    return by_place[(i, k)], by_place[(k, j)]


class DotTiles:
    """Tiles whose sums a tensor intrinsic keeps in registers, the right operand packed for it."""

    def __init__(self, plan: Plan, product: DotProduct) -> None:
        self.plan = plan
        self.kind = kind = product.kind
        self._right = product.right
        self._rows, self._columns, self._terms = (size for _, _, size in plan.axes)
        whole = -(-self._terms // kind.group) * kind.group
        parts = (whole // n for n in (1, 2, 4, 8, 16) if whole % (n * kind.group) == 0)
        self._depths = tuple(d for d in parts if d == whole or d >= _LEAST_DEPTH)

    def __call__(self, sch: Any, knobs: Knobs) -> None:
        plan, main = self.plan, self.plan.main
        rows, vectors = knobs.choose("tile", _TILES)
        depth = knobs.choose("depth", self._depths)
        order = knobs.choose("order", _ORDERS)
        backwards = knobs.flag("columns_first")
        for name in plan.consumers[:-1]:
            sch.compute_inline(name)
        columns = vectors * self.kind.lanes
        self._pack(sch, self._padded(sch, (rows, columns, depth)), columns)
        sizes = (rows, columns, depth)
        loops: list[Any] = list(sch.loops(main))
        parts = [sch.split(loop, [None, size]) for loop, size in zip(loops, sizes, strict=True)]
        outer, inner = [part[0] for part in parts], [part[1] for part in parts]
        sch.reorder(*outer, *inner)
        sch.tensorize(inner[0], dot_tile(self.kind, rows, vectors, depth))
        last = plan.consumers[-1:]
        where = knobs.choose("epilogue", ("whole", "part")) if last else "whole"
        shared = self._share(sch, outer, order, backwards, knobs)
        for name in last:
            if where == "part" and not order.startswith("R"):
                write_out(sch, sch.reverse_compute_at(name, shared))
            else:
                spread(sch, name)

    def _share(self, sch: Any, tiles: list[Any], order: str, backwards: bool, knobs: Knobs) -> Any:
        """Parts of tiles for threads; returns the innermost loop over parts."""
        i, j, steps = tiles
        i0, i1 = sch.split(i, [None, knobs.number("row_tiles", (1, 2, 4, 8, 16, 32))])
        j0, j1 = sch.split(j, [None, knobs.number("column_tiles", (1, 2, 4, 8, 16))])
        parts, within = ([j0, i0], [j1, i1]) if backwards else ([i0, j0], [i1, j1])
        levels = {"S0": parts, "S1": within, "R": [steps]}
        sch.reorder(*(loop for word in order.split() for loop in levels[word]))
        return shared_out(sch, parts, knobs)[-1]

    def _padded(self, sch: Any, tile: tuple[int, int, int]) -> Any:
        """Pad to whole tiles where needed; the buffer to take the right operand from."""
        right = self._right
        sizes = (self._rows, self._columns, self._terms)
        if not any(size % part for size, part in zip(sizes, tile, strict=True)):
            return right
        copies = list(sch.pad(self.plan.main, list(tile)))
        for copy in copies:
            spread(sch, copy)
        return next((c.name for c in copies if c.name.startswith(right)), right)

    def _pack(self, sch: Any, source: str, columns: int) -> None:
        """Copy the right operand to panels, groups of neighbors along the sum together."""
        group, main = self.kind.group, self.plan.main
        packed = sch.cache_read(main, source, "global")
        sch.transform_layout(main, packed.name, Groups(columns, group))
        k, j = sch.loops(packed)
        ko, ki = sch.split(k, [None, group])
        jo, ji = sch.split(j, [None, columns])
        sch.reorder(jo, ko, ki, ji)
        sch.tensorize(ki, interleave(self.kind, columns))
        sch.parallel(jo)
