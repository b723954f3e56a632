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


def deep(size: int = 512, loops: int = 12) -> tl.Schedule:
    """So many loops around one block: the longest is split until there are enough."""
    sch = product(size)
    while len(found := sch.loops("C")) < loops:
        sch.split(max(found, key=lambda loop: loop.extent or 0), [None, 4])
    return sch


def long_history(steps: int, size: int = 256) -> tl.Schedule:
    """A tiled product whose history has so many steps: marks set and taken away by turns."""
    sch = product(size)
    i, j, _ = sch.loops("C")
    sch.split(i, [None, 8])
    sch.split(j, [None, 16])
    loop = sch.loops("C")[0]
    while len(sch.trace) < steps:
        sch.unroll(loop)
        sch.serial(loop)
    return sch


def many_lines(lines: int) -> tl.Schedule:
    """A chain of element-wise stages, each a loop and a block, with so many lines in all."""
    tensor = te.placeholder((64,), name="X")
    for number in range(lines // 2):
        tensor = _next(tensor, number)
    return tl.Schedule(tensor, name="chain")


def _next(tensor: te.Tensor, number: int) -> te.Tensor:
    return te.compute((64,), lambda i: tensor[i] + 1.0, name=f"T{number}")
