"""The iterations of a block as points of a plane, in the order in which they run.

Two of the block's iteration variables are shown, the others stand still. Points that a tile has
beyond the block's domain are there too, marked: no iteration runs in them. Which iterations need
each other is found by following every element that they touch, so it holds for any access.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np

from tvmlab.arith import linear_form
from tvmlab.ir import (
    TRUE,
    Alloc,
    Block,
    Buffer,
    Expr,
    For,
    If,
    IterVar,
    Names,
    Program,
    Stmt,
    Var,
    const_int,
)
from tvmlab.schedule import index_of
from tvmlab.support import UserError

from .access_order import Access, Array, Moment, WalkLog, inner_stmts
from .dependences import Dependence, Touch, dependences

Part = Literal["start", "end"]
WINDOW = 32
"""How many values of a variable are shown at once."""
_MOST = 400_000


@dataclass(frozen=True, slots=True)
class Axis:
    """One direction of the picture.

    Attributes
    ----------
    first, count
        The values that are shown.
    extent
        The size of the domain; larger values have no iteration.
    tiles
        The sizes of the tiles into which loops divide it, largest first.
    """

    name: str
    kind: str
    first: int
    count: int
    extent: int
    tiles: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class IterationsReport:
    """The points in the order in which they run, those without an iteration included.

    Attributes
    ----------
    variables
        All that may be chosen as an axis.
    still
        What stands still, in words; empty if nothing does.
    xs, ys
        Where the points are.
    runs
        Whether there is an iteration in a point.
    """

    block: str
    row: str
    variables: tuple[str, ...]
    x: Axis
    y: Axis
    still: str
    xs: tuple[int, ...]
    ys: tuple[int, ...]
    runs: tuple[bool, ...]
    dependences: tuple[Dependence, ...]


def iterations_report(
    program: Program,
    block: Block,
    row: str,
    *,
    x: str | None = None,
    y: str | None = None,
    part: Part = "start",
) -> IterationsReport:
    """The iterations of a block of a program.

    Parameters
    ----------
    x, y
        Names of the block's variables; chosen well by default.
    part
        Whether to look at the first or at the last values of long variables.

    Raises
    ------
    UserError
        If there is no such variable, or how often loops run is known only at run time.
    """
    names = Names(program)
    known = {names[it.var]: it for it in block.iters}
    if not known:
        raise UserError(f"{block.symbol.name} has no iteration variables; it runs once")
    across, down = _axes(block, names, known, x, y)
    walk = _Walk(program, block, (across, down), part)
    walk.stmt(program.body, Moment({}, np.zeros((1, 0), np.int64)))
    points, inside, touches = walk.gathered()
    axes = [walk.axis(it, names[it.var]) for it in (across, down)]
    found = dependences(points, touches, axes[0].name, axes[1].name)
    still = [n for n, it in known.items() if it not in (across, down)]
    return IterationsReport(
        block.symbol.name,
        row,
        tuple(known),
        axes[0],
        axes[1],
        ", ".join(f"{name} = {walk.fixed[known[name].var]}" for name in still),
        tuple(points[:, 0].tolist()),
        tuple(points[:, 1].tolist()),
        tuple(inside.tolist()),
        found,
    )


def _axes(
    block: Block, names: Names, known: Mapping[str, IterVar], x: str | None, y: str | None
) -> tuple[IterVar, IterVar]:
    """The two variables to show: a sum's and a spatial one show most."""
    for name in (x, y):
        if name is not None and name not in known:
            raise UserError(
                f"{block.symbol.name} has no iteration variable {name!r}",
                hint=f"it has {', '.join(known)}",
            )
    long = [it for it in block.iters if const_int(it.extent) != 1] or list(block.iters)
    sums = [it for it in long if it.kind == "reduce"]
    across = known[x] if x is not None else (sums or long)[-1]
    others = [it for it in long if it is not across] or [across]
    down = known[y] if y is not None else others[0]
    return across, down


class _Walk(WalkLog):
    """Walks the loops around one block and keeps only what the picture shows."""

    def __init__(
        self, program: Program, block: Block, shown: tuple[IterVar, IterVar], part: Part
    ) -> None:
        self.block_of = block
        self.shown = shown
        self.index = index_of(program)
        self.around = self.index.loops_around(block)
        self.bounds = self.index.bounds_around(block)
        self.extents = {loop.var: _extent(loop) for loop in self.around}
        self.fixed: dict[Var, int] = {}
        self.windows = {it.var: self._window(it, part) for it in block.iters}
        self.known: set[Var] = set()
        self._id = Var("iteration")
        self._inside = False
        self._points: list[Array] = []
        self._times: list[Array] = []
        self._runs: list[Array] = []
        self._touches: list[Touch] = []

    # ------------------------------------------------------------- the picture

    def axis(self, it: IterVar, name: str) -> Axis:
        first, last = self.windows[it.var]
        steps = {abs(c) for c in self._terms(it).values() if abs(c) > 1}
        count = last - first
        return Axis(name, it.kind, first, count, _size(it), tuple(sorted(steps, reverse=True)))

    def gathered(self) -> tuple[Array, Array, list[Touch]]:
        """The points in order, whether an iteration runs in each, and what it touches."""
        if not self._points:
            raise UserError(f"{self.block_of.symbol.name} never runs")
        points, runs = np.concatenate(self._points), np.concatenate(self._runs)
        order = np.lexsort(np.concatenate(self._times).T[::-1])
        place = np.empty(len(order), np.int64)
        place[order] = np.arange(len(order))
        touches = [Touch(t.buffer, t.element, place[t.iteration], t.write) for t in self._touches]
        return points[order], runs[order], touches

    def _terms(self, it: IterVar) -> dict[Var, int]:
        """The loops that a variable is a sum of, with their factors."""
        form = linear_form(self._binding(it), self.bounds)
        return {v: c for v, c in form.terms.items() if isinstance(v, Var)}

    def _binding(self, it: IterVar) -> Expr:
        return self.block_of.bindings[self.block_of.iters.index(it)]

    def _window(self, it: IterVar, part: Part) -> tuple[int, int]:
        """The values to show: a few of a long variable, and those that a last tile has beyond."""
        if it not in self.shown:
            self.fixed[it.var] = 0
            return 0, 1
        reach = max(_size(it), self._reach(it))
        if part == "start" or reach <= WINDOW:
            return 0, min(reach, WINDOW)
        return max(0, reach - WINDOW), reach

    def _reach(self, it: IterVar) -> int:
        """One more than the largest value that the loops around give."""
        form = linear_form(self._binding(it), self.bounds)
        if not all(isinstance(atom, Var) for atom in form.terms):
            return _size(it)
        steps = self._terms(it).items()
        return 1 + form.const + sum(max(0, c * (self.extents[v] - 1)) for v, c in steps)

    # ------------------------------------------------------------- the walk

    def stmt(self, stmt: Stmt, now: Moment) -> None:
        if stmt is self.block_of:
            self._enter(now)
        elif self._inside:
            super().stmt(stmt, now)
        elif isinstance(stmt, For):
            if stmt in self.around:
                self.known.add(stmt.var)
                self.stmt(stmt.body, self._near(now.turns(stmt)))
        elif isinstance(stmt, If):
            if self._holds(stmt.then):
                self.stmt(stmt.then, now.where(stmt.cond))
        elif isinstance(stmt, Alloc):
            self.stmt(stmt.body, now)
        else:
            for place, child in enumerate(inner_stmts(stmt)):
                if self._holds(child):
                    self.stmt(child, now.then(place))

    def _holds(self, stmt: Stmt) -> bool:
        """Whether the block is a statement, or lies in it."""
        return stmt is self.block_of or any(self._holds(c) for c in inner_stmts(stmt))

    def _near(self, now: Moment) -> Moment:
        """Without the turns from which no shown value can be reached."""
        for it in self.block_of.iters:
            low, high = self._range(it, now)
            first, last = self.windows[it.var]
            kept = np.flatnonzero((high >= first) & (low < last))
            if len(kept) < len(now.time):
                now = Moment({v: a[kept] for v, a in now.values.items()}, now.time[kept])
        if len(now.time) > _MOST:
            raise UserError("these iterations are too many to draw; choose other variables")
        return now

    def _range(self, it: IterVar, now: Moment) -> tuple[Array, Array]:
        """What a variable can still become: exact for sums of loops, all values for others."""
        form = linear_form(self._binding(it), self.bounds)
        size = len(now.time)
        if not all(isinstance(atom, Var) for atom in form.terms):
            if all(loop.var in self.known for loop in self.around):
                value = now.value(self._binding(it))
                return value, value
            return np.zeros(size, np.int64), np.full(size, max(_size(it), self._reach(it)))
        low = np.full(size, form.const)
        high = low.copy()
        for atom, factor in form.terms.items():
            assert isinstance(atom, Var)
            if atom in self.known:
                low, high = low + factor * now.values[atom], high + factor * now.values[atom]
            else:
                spread = factor * (self.extents[atom] - 1)
                low, high = low + min(0, spread), high + max(0, spread)
        return low, high

    def _enter(self, now: Moment) -> None:
        block = self.block_of
        values = {
            it.var: now.value(binding)
            for it, binding in zip(block.iters, block.bindings, strict=True)
        }
        # A plane of a point for each iteration; what lies outside the domain has no iteration.
        guard = now.value(block.predicate) if block.predicate != TRUE else np.ones(len(now.time))
        runs = guard.astype(bool)
        for it in block.iters:
            runs &= (values[it.var] >= 0) & (values[it.var] < _size(it))
        start = sum(len(p) for p in self._points)
        self._points.append(np.column_stack([values[it.var] for it in self.shown]))
        self._times.append(now.time)
        self._runs.append(runs)
        kept = np.flatnonzero(runs)
        inside = Moment({v: a[kept] for v, a in now.values.items()}, now.time[kept])
        self._inside = True
        self.block(block, inside.knowing({self._id: start + kept}))
        self._inside = False

    def note(self, buffer: Buffer, access: Access, indices: tuple[Expr, ...], now: Moment) -> None:
        element = np.zeros(len(now.time), np.int64)
        for index, extent in zip(indices, buffer.const_shape or (), strict=True):
            element = element * extent + now.value(index)
        self._touches.append(Touch(buffer.name, element, now.values[self._id], access == "write"))


def _extent(loop: For) -> int:
    extent = const_int(loop.extent)
    if extent is None:
        raise UserError(
            f"how often loop {loop.var.name} runs is known only at run time",
            hint="look at the same schedule with constant sizes",
        )
    return extent


def _size(it: IterVar) -> int:
    size = const_int(it.extent)
    if size is None:
        raise UserError(f"the size of {it.var.name} is known only at run time")
    return size
