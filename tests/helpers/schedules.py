"""Schedules that many tests start from."""

from tvmlab import te
from tvmlab.schedule import Schedule


def matmul_schedule(m: int, n: int, k: int) -> Schedule:
    """An unscheduled matrix product of float32, with blocks and loops named as in textbooks."""
    a = te.placeholder((m, k), name="A")
    b = te.placeholder((k, n), name="B")
    r = te.reduce_axis(k, "k")
    c = te.compute((m, n), lambda i, j: te.sum(a[i, r] * b[r, j], axis=r), name="C")
    return Schedule(c, name="matmul")


def tiled_schedule(m: int = 64, n: int = 64, k: int = 64) -> Schedule:
    """The same with a register tile, every kind of loop and a local buffer."""
    sch = matmul_schedule(m, n, k)
    i, j, r = sch.loops("C")
    io, ii = sch.split(i, [None, 12])
    jo, ji = sch.split(j, [None, 16])
    sch.reorder(io, jo, r, ii, ji)
    write = sch.cache_write("C")
    sch.reverse_compute_at(write, jo)
    sch.decompose_reduction("C", r)
    sch.unroll(ii)
    sch.vectorize(ji)
    sch.parallel(io)
    return sch
