"""What a batch of equal-shaped nests touches at each loop level, as arrays.

Level `l` stands for the loops from the l-th inwards: level 0 is the whole nest, level L the body.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .forms import Floats, Motion, inner_products, loop_motions, motion_of
from .nest import AccessKey, NestKey

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


def extents_of(key: NestKey, numbers: Floats) -> Floats:
    """The extents of the loops: (batch, L)."""
    return numbers[:, : len(key.loops)]


def accesses_of(key: NestKey, numbers: Floats) -> list[AccessGeometry]:
    """What nests of one key touch; `numbers` is (batch, n)."""
    extents = extents_of(key, numbers)
    atoms = loop_motions(extents)
    atoms += [motion_of(form, atoms, numbers, extents) for form in key.iters]
    return [
        access_geometry(
            access,
            [motion_of(form, atoms, numbers, extents) for form in access.forms],
            numbers[:, access.shape : access.shape + len(access.forms)],
            extents,
        )
        for access in key.accesses
    ]


def access_geometry(
    key: AccessKey, motions: Sequence[Motion], sizes: Floats, extents: Floats
) -> AccessGeometry:
    """What one access touches, from how its indices move.

    Parameters
    ----------
    sizes : (batch, dimensions)
        The shape of its buffer.
    """
    inner = inner_products(extents)
    elements = np.ones_like(inner)
    rows = np.ones_like(inner)
    strides = np.zeros_like(extents)
    row_stride = np.ones(len(extents))
    distinct = [m.distinct(extents) for m in motions]
    for dim in reversed(range(len(motions))):
        # An index that moves once in many steps stands still in most of them.
        strides = strides + np.floor(motions[dim].steps) * row_stride[:, None]
        row_stride = row_stride * sizes[:, dim]
        elements = elements * distinct[dim]
        if dim != len(motions) - 1:
            rows = rows * distinct[dim]
    elements = np.minimum(elements, inner)
    if not motions:
        return AccessGeometry(key, elements, np.minimum(rows, elements), strides)
    # Rows are taken to begin at a line: most do, and a straddled line more changes little.
    along = np.ceil((motions[-1].ranges + 1.0) * key.itemsize / LINE)
    within = np.minimum(distinct[-1], along)
    return AccessGeometry(key, elements, np.minimum(rows * within, elements), strides)
