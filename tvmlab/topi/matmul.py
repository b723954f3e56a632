"""Matrix product: formula, and a schedule for CPUs from public primitives.

The schedule is the classical one (Goto and van de Geijn, "Anatomy of High-Performance Matrix
Multiplication", ACM TOMS 2008): a tile of the output in registers, operands staged in panels that
the caches hold, threads over column panels.
"""

from __future__ import annotations

from tvmlab import te
from tvmlab.schedule import LoopRef, Schedule
from tvmlab.target import Target
from tvmlab.te import Tensor

_ROWS = 12
"""Rows of the register tile: with two vectors in a row, 24 of 32 registers hold sums, which leaves
room for the operands."""

_DEPTH = 256
"""Steps of the sum for which rows of A are staged: 12 rows of 1 KB fall into different cache sets,
where rows a power of two apart would evict each other."""


def matmul(m: int, n: int, k: int, dtype: str = "float32") -> tuple[Tensor, Tensor, Tensor]:
    """`C[i, j] = sum over k of A[i, k] * B[k, j]`.

    Returns
    -------
    A, B, C
        The inputs (m, k) and (k, n), and the output (m, n).
    """
    a = te.placeholder((m, k), dtype, name="A")
    b = te.placeholder((k, n), dtype, name="B")
    r = te.reduce_axis(k, "k")
    c = te.compute((m, n), lambda i, j: te.sum(a[i, r] * b[r, j], axis=r), name="C")
    return a, b, c


def schedule_matmul(c: Tensor, target: Target | str = "cpu") -> Schedule:
    """A schedule of `matmul` for CPUs with wide vectors.

    Parameters
    ----------
    c
        The output of `matmul`.
    target
        Decides the width of the register tile: two vectors.
    """
    machine = Target.of(target)
    columns = 2 * machine.lanes(c.dtype.bits)
    rows = _ROWS if machine.num_registers >= 32 else _ROWS // 2
    sch = Schedule(c, name="matmul")
    write = sch.cache_write("C", "local")
    i, j, k = sch.loops("C")
    io, ii = sch.split(i, [None, rows])
    jo, ji = sch.split(j, [None, columns])
    ko, ki = sch.split(k, [None, _DEPTH])
    sch.reorder(jo, io, ko, ki, ii, ji)
    tile = [[ii, ji], sch.reverse_compute_at(write, io)]
    panels = [
        sch.compute_at(sch.cache_read("C", "B"), jo),
        sch.compute_at(sch.cache_read("C", "A"), ko),
    ]
    init = sch.decompose_reduction("C", ko)
    tile.append(sch.loops(init)[2:])
    for loops in [*tile, *panels]:
        _vectorize_innermost(sch, loops)
    for loops in tile:
        for loop in loops[:-1]:
            sch.unroll(loop)
    sch.parallel(jo)
    return sch


def _vectorize_innermost(sch: Schedule, loops: list[LoopRef]) -> None:
    """Vectorize the last loop; a copy of a single element has none."""
    if loops:
        sch.vectorize(loops[-1])
