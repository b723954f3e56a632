"""Matrix products with nests of 4, 8 and 12 loops and more, for views to show."""

from __future__ import annotations

import tvmlab as tl
from tvmlab import te


def product(size: int = 128) -> tl.Schedule:
    """Three loops and a block."""
    left = te.placeholder((size, size), name="A")
    right = te.placeholder((size, size), name="B")
    k = te.reduce_axis(size, "k")
    out = te.compute((size, size), lambda i, j: te.sum(left[i, k] * right[k, j], axis=k), name="C")
    return tl.Schedule(out, name="matmul")


def tiled(size: int = 512) -> tl.Schedule:
    """Eight lines, of every common kind, with two names in the history."""
    sch = product(size)
    sch.checkpoint("naive")
    i, j, k = sch.loops("C")
    io, ii = sch.split(i, [None, 14])
    jo, ji = sch.split(j, [None, 32])
    ko, ki = sch.split(k, [None, 128])
    sch.reorder(io, jo, ko, ki, ii, ji)
    sch.checkpoint("tiled")
    sch.vectorize(ji)
    sch.unroll(ii)
    sch.parallel(io)
    return sch


def deep(size: int = 512) -> tl.Schedule:
    """Twelve loops around one block, four for each axis."""
    sch = product(size)
    for loop in sch.loops("C"):
        outer, inner = sch.split(loop, [None, 16])
        sch.split(outer, [None, 4])
        sch.split(inner, [None, 4])
    return sch
