"""Matrix product: formula, and a schedule for CPUs from public primitives.

The schedule is the classical one (Goto and van de Geijn, "Anatomy of High-Performance Matrix
Multiplication", ACM TOMS 2008): a tile of the output in registers, panels of the operands that the
caches hold, copied where their rows lie badly in memory, threads over parts of the output.
"""

from __future__ import annotations

from dataclasses import dataclass

from tvmlab import te
from tvmlab.ir import const_int
from tvmlab.schedule import LoopRef, Schedule
from tvmlab.target import Target
from tvmlab.te import ComputeOp, Tensor

_PAGE = 4096
"""Bytes. Addresses a page apart fall into one set of the first-level cache, and each page of a
panel takes an entry of the address translation buffer."""


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


@dataclass(frozen=True, slots=True)
class MatmulPlan:
    """Sizes of a blocked matrix product, in elements.

    Attributes
    ----------
    rows, columns
        The register tile.
    depth
        Steps of the sum between which the tile is written back.
    row_part, column_part
        The part of the output that one thread works on at a time; for each `depth`, its panel of
        B should stay in the second-level cache.
    copy_a, copy_b
        Whether panels are copied to neighbouring rows first.
    """

    rows: int
    columns: int
    depth: int
    row_part: int
    column_part: int
    copy_a: bool
    copy_b: bool


def plan_matmul(m: int, n: int, k: int, itemsize: int, machine: Target) -> MatmulPlan:
    """The sizes for a product of (m, k) by (k, n) matrices on a machine."""
    columns = 2 * machine.lanes(8 * itemsize)
    rows = _tile_rows(m, 12 if machine.num_registers >= 32 else 6)
    sizes = {cache.level: cache.size for cache in machine.caches}
    first, second = sizes.get(1, 32 << 10), sizes.get(2, 512 << 10)
    depth = max(64, min(k, first // 2 // (rows * itemsize) // 64 * 64, 256))
    row_part, column_part = m, max(columns, second // 2 // (depth * itemsize) // columns * columns)
    threads = machine.num_threads
    if n >= 2 * columns * threads:
        column_part = min(column_part, _even_part(n, columns, threads))
    else:
        row_part = _even_part(m, rows, threads)
    tall = m >= 4 * rows
    return MatmulPlan(
        rows,
        columns,
        depth,
        row_part,
        column_part,
        copy_a=n >= 4 * columns and k * itemsize % _PAGE == 0,
        copy_b=tall and n * itemsize > _PAGE // 2 and k > depth // 2,
    )


def schedule_matmul(c: Tensor, target: Target | str = "cpu") -> Schedule:
    """A schedule of `matmul` for CPUs with wide vectors.

    Parameters
    ----------
    c
        The output of `matmul`.
    target
        Its registers, caches and threads decide the sizes: see `plan_matmul`.
    """
    m, n, k = _sizes(c)
    plan = plan_matmul(m, n, k, c.dtype.itemsize, Target.of(target))
    sch = Schedule(c, name="matmul")
    i, j, k_loop = sch.loops("C")
    ic, io, ii = sch.split(i, [None, -(-plan.row_part // plan.rows), plan.rows])
    jc, jo, ji = sch.split(j, [None, -(-plan.column_part // plan.columns), plan.columns])
    ko, ki = sch.split(k_loop, [None, plan.depth])
    sch.reorder(ic, jc, ko, io, jo, ki, ii, ji)
    init = sch.decompose_reduction("C", ko)
    if plan.copy_b:
        _vectorize_innermost(sch, sch.compute_at(sch.cache_read("C", "B"), ko))
    if plan.copy_a:
        _vectorize_innermost(sch, sch.compute_at(sch.cache_read("C", "A"), io))
    _vectorize_innermost(sch, sch.loops(init)[2:])
    sch.vectorize(ji)
    sch.unroll(ii)
    sch.parallel(sch.fuse(ic, jc))
    return sch


def _sizes(c: Tensor) -> list[int]:
    """The extents of the output and of the sum."""
    assert isinstance(c.op, ComputeOp)
    return [const_int(axis.extent) or 1 for axis in (*c.op.axis, *c.op.reduce_axis)]


def _tile_rows(m: int, most: int) -> int:
    """Rows of the register tile: of the larger ones, that which leaves the shortest last tile."""
    candidates = range(most, most // 2 - 1, -1)
    return min(m, min(candidates, key=lambda rows: -m % rows))


def _even_part(extent: int, step: int, threads: int) -> int:
    """The part of an extent for each thread, in whole steps."""
    return -(-extent // (step * threads)) * step


def _vectorize_innermost(sch: Schedule, loops: list[LoopRef]) -> None:
    """Vectorize the last loop; a copy of a single element has none."""
    if loops:
        sch.vectorize(loops[-1])
