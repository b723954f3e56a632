"""Nests of any structure as rows of the same arrays, so that all are looked at together.

Loops are aligned at the innermost. A loop of one iteration is no loop: it moves outside, where rows
with fewer loops are filled up, so a schedule that has one and a schedule without it look the same.
Level `l` stands for the loops from the l-th inwards; the last level is the body.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from .forms import Floats, inner_products
from .geometry import LINE, AccessGeometry
from .nest import KINDS, OPERATIONS

SLOTS = ("out", "in0", "in1", "in2", "in3")
_LOOP_ROWS = ("extent", "kind", "reducing", "writing")
_LEVEL_ROWS = ("footprint", "loaded")
_FLAT_ROWS = (*OPERATIONS, "conditions", "has_init", "accesses")
_ACCESS_ROWS = ("itemsize", "local", "read", "written")

Column: TypeAlias = Floats | float


@dataclass(frozen=True, slots=True)
class Part:
    """A batch of nests with the same loops, before it is joined with others.

    Attributes
    ----------
    loops : (batch, rows, L)
        Extent, kind, whether it moves the sum and the output, then the stride of each access.
    levels : (batch, rows, L + 1)
        Footprint, elements read, then elements and lines of each access.
    flat : (batch, rows)
        Operation counts and the like, then item size and flags of each access.
    """

    loops: Floats
    levels: Floats
    flat: Floats

    @property
    def batch(self) -> int:
        return self.loops.shape[0]


def part_of(
    extents: Floats,
    loops: Sequence[tuple[Column, bool, bool]],
    accesses: Sequence[AccessGeometry],
    operations: Sequence[float],
    conditions: Column,
    has_init: bool,
) -> Part:
    """A batch of nests that share everything but numbers.

    Parameters
    ----------
    extents : (batch, L)
    loops
        For each its kind (a place in `KINDS`), whether it moves the sum, and the output.
    accesses
        The written one first.
    conditions
        Conditions of the body.
    """
    batch, depth = extents.shape
    slots = accesses[: len(SLOTS)]
    looped = np.zeros((batch, len(_LOOP_ROWS) + len(SLOTS), depth))
    looped[:, 0] = extents
    for n, (kind, reducing, writing) in enumerate(loops):
        looped[:, 1, n] = kind
        looped[:, 2, n] = reducing
        looped[:, 3, n] = writing
    levels = np.zeros((batch, len(_LEVEL_ROWS) + 2 * len(SLOTS), depth + 1))
    levels[:, 0] = np.sum([a.lines for a in accesses], axis=0) * LINE
    if len(accesses) > 1:
        levels[:, 1] = np.sum([a.elements for a in accesses[1:]], axis=0)
    flat = np.zeros((batch, len(_FLAT_ROWS) + len(_ACCESS_ROWS) * len(SLOTS)))
    flat[:, : len(OPERATIONS)] = operations
    flat[:, len(OPERATIONS)] = conditions
    flat[:, len(OPERATIONS) + 1] = has_init
    flat[:, len(OPERATIONS) + 2] = len(accesses)
    for n, access in enumerate(slots):
        looped[:, len(_LOOP_ROWS) + n] = access.strides
        place = len(_LEVEL_ROWS) + 2 * n
        levels[:, place], levels[:, place + 1] = access.elements, access.lines
        start = len(_FLAT_ROWS) + len(_ACCESS_ROWS) * n
        key = access.key
        flat[:, start : start + 4] = (key.itemsize, key.local, key.read, key.written)
    return _compact(looped, levels, flat)


def _compact(loops: Floats, levels: Floats, flat: Floats) -> Part:
    """Loops of one iteration moved outside, where they stand for nothing."""
    real = loops[:, 0] > 1
    if real.all():
        return Part(loops, levels, flat)
    order = np.argsort(real, axis=1, kind="stable")
    moved = np.take_along_axis(loops, order[:, None, :], axis=2)
    empty = moved[:, 0] <= 1
    moved[:, 1:] = np.where(empty[:, None, :], 0.0, moved[:, 1:])
    places = np.where(empty, 0, order)
    body = np.full((len(places), 1), loops.shape[2])
    places = np.concatenate([places, body], axis=1)
    return Part(moved, np.take_along_axis(levels, places[:, None, :], axis=2), flat)


@dataclass(slots=True)
class Dense:
    """Nests of any structure, one row each. `L` is the largest number of loops.

    Attributes
    ----------
    inner, outer : (batch, L + 1)
        Iterations of the loops from each level inwards, and of those outside it.
    """

    loops: Floats
    levels: Floats
    flat: Floats
    inner: Floats = field(init=False)
    outer: Floats = field(init=False)
    depth: NDArray[np.int64] = field(init=False)
    rows: NDArray[np.int64] = field(init=False)

    def __post_init__(self) -> None:
        self.inner = inner_products(self.extents)
        self.outer = self.inner[:, :1] / self.inner
        self.depth = np.count_nonzero(self.extents > 1, axis=1)
        self.rows = np.arange(len(self.flat))

    @property
    def batch(self) -> int:
        return len(self.flat)

    @property
    def size(self) -> int:
        """Number of loops in each row, empty ones included."""
        return self.loops.shape[2]

    @property
    def extents(self) -> Floats:
        return self.loops[:, 0]

    @property
    def reducing(self) -> NDArray[np.bool_]:
        return self.loops[:, 2] > 0

    @property
    def writing(self) -> NDArray[np.bool_]:
        return self.loops[:, 3] > 0

    def of_kind(self, kind: str) -> NDArray[np.bool_]:
        """Which loops run in a way."""
        return self.loops[:, 1] == KINDS.index(kind)

    @property
    def footprint(self) -> Floats:
        return self.levels[:, 0]

    @property
    def loaded(self) -> Floats:
        return self.levels[:, 1]

    def strides(self, slot: int) -> Floats:
        return self.loops[:, len(_LOOP_ROWS) + slot]

    def elements(self, slot: int) -> Floats:
        return self.levels[:, len(_LEVEL_ROWS) + 2 * slot]

    def lines(self, slot: int) -> Floats:
        return self.levels[:, len(_LEVEL_ROWS) + 2 * slot + 1]

    def scalar(self, name: str) -> Floats:
        """One number of each nest."""
        return self.flat[:, _FLAT_ROWS.index(name)]

    def of_access(self, name: str, slot: int) -> Floats:
        """One number of an access."""
        place = len(_FLAT_ROWS) + len(_ACCESS_ROWS) * slot + _ACCESS_ROWS.index(name)
        return self.flat[:, place]

    def chosen(self, rows: NDArray[np.intp]) -> Dense:
        """Some of the nests."""
        return Dense(self.loops[rows], self.levels[rows], self.flat[rows])

    @property
    def work(self) -> Floats:
        """Arithmetic of all iterations; a copy counts a little, so that it can be the main one."""
        counts = self.flat[:, :6].sum(axis=1) + self.flat[:, 0]
        return self.inner[:, 0] * (counts + 0.01)


def joined(parts: Sequence[Part]) -> Dense:
    """All nests of several batches, in their order."""
    size = max((part.loops.shape[2] for part in parts), default=0)
    batch = sum(part.batch for part in parts)
    loops = np.zeros((batch, len(_LOOP_ROWS) + len(SLOTS), size))
    levels = np.zeros((batch, len(_LEVEL_ROWS) + 2 * len(SLOTS), size + 1))
    flat = np.zeros((batch, len(_FLAT_ROWS) + len(_ACCESS_ROWS) * len(SLOTS)))
    loops[:, 0] = 1.0
    start = 0
    for part in parts:
        rows = slice(start, start + part.batch)
        gap = size - part.loops.shape[2]
        loops[rows, :, gap:] = part.loops
        levels[rows, :, gap:] = part.levels
        levels[rows, :, :gap] = part.levels[:, :, :1]
        flat[rows] = part.flat
        start += part.batch
    return Dense(loops, levels, flat)
