"""What a batch of equal-shaped nests touches at each loop level, as arrays.

Level `l` stands for the loops from the l-th inwards: level 0 is the whole nest, level L the body.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .forms import Floats, inner_products, loop_motions, motion_of
from .nest import AccessKey, Nest, NestKey

LINE = 64.0
"""Bytes of a cache line."""


@dataclass(frozen=True, slots=True)
class AccessGeometry:
    """One access over the levels of its nest. Arrays are (batch, L) or (batch, L + 1).

    Attributes
    ----------
    elements, lines
        Distinct elements and cache lines touched at each level.
    strides
        Elements that the address moves by when a loop takes one step.
    """

    key: AccessKey
    elements: Floats
    lines: Floats
    strides: Floats

    @property
    def bytes(self) -> Floats:
        return self.elements * self.key.itemsize


@dataclass(frozen=True, slots=True)
class Geometry:
    """A batch of nests that share a key.

    Attributes
    ----------
    extents : (batch, L)
    inner : (batch, L + 1)
        Iterations of the loops from each level inwards.
    outer : (batch, L + 1)
        Iterations of the loops outside each level.
    footprint : (batch, L + 1)
        Bytes of the cache lines that all accesses touch at each level.
    """

    key: NestKey
    extents: Floats
    inner: Floats
    outer: Floats
    accesses: tuple[AccessGeometry, ...]
    footprint: Floats

    @property
    def batch(self) -> int:
        return self.extents.shape[0]

    @property
    def depth(self) -> int:
        return self.extents.shape[1]


def geometry_of(nests: Sequence[Nest]) -> Geometry:
    """The geometry of nests that have one key."""
    key = nests[0].key
    numbers = np.array([nest.numbers for nest in nests], dtype=np.float64)
    extents = numbers[:, : len(key.loops)]
    inner = inner_products(extents)
    atoms = loop_motions(extents)
    atoms += [motion_of(form, atoms, numbers, extents) for form in key.iters]
    accesses: list[AccessGeometry] = []
    for access in key.accesses:
        motions = [motion_of(form, atoms, numbers, extents) for form in access.forms]
        sizes = numbers[:, access.shape : access.shape + len(access.forms)]
        steps = [m.steps for m in motions]
        distinct = [m.distinct(extents) for m in motions]
        ranges = [m.ranges for m in motions]
        accesses.append(_access(access, steps, distinct, ranges, sizes, inner))
    footprint = np.sum([a.lines for a in accesses], axis=0) * LINE
    return Geometry(key, extents, inner, inner[:, :1] / inner, tuple(accesses), footprint)


def _access(
    key: AccessKey,
    steps: list[Floats],
    distinct: list[Floats],
    ranges: list[Floats],
    sizes: Floats,
    inner: Floats,
) -> AccessGeometry:
    elements = np.ones_like(inner)
    rows = np.ones_like(inner)
    strides = np.zeros((inner.shape[0], inner.shape[1] - 1))
    row_stride = np.ones(inner.shape[0])
    for dim in reversed(range(len(steps))):
        strides = strides + steps[dim] * row_stride[:, None]
        row_stride = row_stride * sizes[:, dim]
        elements = elements * distinct[dim]
        if dim != len(steps) - 1:
            rows = rows * distinct[dim]
    elements = np.minimum(elements, inner)
    # Rows are taken to begin at a line: most do, and a straddled line more changes little.
    along = np.ceil((ranges[-1] + 1.0) * key.itemsize / LINE) if ranges else np.ones_like(inner)
    within = np.minimum(distinct[-1], along) if distinct else np.ones_like(inner)
    return AccessGeometry(key, elements, np.minimum(rows * within, elements), strides)
