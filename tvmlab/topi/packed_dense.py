"""Matrix products with weights that were packed beforehand, and their schedule.

Weights stand in panels of some columns: (panels, rows of the matrix, columns of a panel), so that a
register tile reads them one after another.

>>> w = pack_columns(weights, 32)                            # an array, once
>>> y = packed_dense(x, te.placeholder(w.shape, name="W"), 1000)
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

import tvmlab.te as te
from tvmlab.ir import Expr, Var, const_int
from tvmlab.schedule import LoopRef, Schedule
from tvmlab.support import ShapeError
from tvmlab.target import Target
from tvmlab.te import Operation, Tensor

from .conv_plan import even_tile
from .steps import write_out

TAG = "packed_dense"
_MOST_ROWS = 16
_FEW_ROWS = 4
"""Up to so many rows, reading weights takes the time, and wide panels read them faster."""


_SAME_LINES = 256
"""Rows that lie a multiple of so many elements apart take the same few lines of the first cache."""


def panel_width(
    rows: int, columns: int, target: Target | str = "cpu", depth: int = _SAME_LINES
) -> int:
    """How many columns a panel should have for a product with so many rows.

    Parameters
    ----------
    depth
        Elements of a row.
    """
    machine = Target.of(target)
    lanes = machine.lanes(32)
    vectors = 4 if rows <= _FEW_ROWS else 2
    # All rows at once read each weight only once, as it comes from memory.
    if _MOST_ROWS // 2 < rows <= min(_MOST_ROWS, machine.num_registers - 2) and (
        depth % _SAME_LINES
    ):
        vectors = 1
    return min(vectors, -(-columns // lanes)) * lanes


def pack_columns(weights: NDArray[Any], width: int) -> NDArray[Any]:
    """A matrix (in, out) in panels of columns; the last one is filled up with zeros."""
    filled = np.pad(weights, [(0, 0), (0, -weights.shape[1] % width)])
    return np.ascontiguousarray(filled.reshape(weights.shape[0], -1, width).swapaxes(0, 1))


def packed_dense(x: Tensor, weights: Tensor, columns: int) -> Tensor:
    """Each row of the last dimension times a packed matrix.

    Parameters
    ----------
    columns
        Of the result; the last panel may have more.

    Raises
    ------
    ShapeError
        If the sizes do not fit.
    """
    panels, depth, width = (const_int(s) or 0 for s in weights.shape)
    if const_int(x.shape[-1]) != depth or not (panels - 1) * width < columns <= panels * width:
        raise ShapeError(
            f"weights of {panels} panels, {depth} by {width}, do not take rows of "
            f"{const_int(x.shape[-1])} elements to {columns}"
        )
    k = te.reduce_axis(depth, "k")

    def value(*at: Any) -> Expr:
        *rows, column = at
        return te.sum(x[(*rows, k)] * weights[column // width, k, column % width], axis=k)

    shape = (*x.shape[:-1], columns)
    return te.compute(shape, value, name=TAG, tag=TAG, attrs={"width": width})


def schedule_packed_dense(
    outputs: Tensor | Sequence[Tensor],
    target: Target | str = "cpu",
    *,
    args: Sequence[Tensor | Var] | None = None,
    name: str | None = None,
) -> Schedule:
    """A schedule of `packed_dense` with what follows it element by element.

    Parameters
    ----------
    args, name
        Order of the parameters and name of the kernel, as for `Schedule`.
    """
    results = [outputs] if isinstance(outputs, Tensor) else list(outputs)
    sch = Schedule(results, args=args, name=name or TAG)
    product = _product(results[-1])
    # References, because operators of one kind have one name.
    *before, write = sch.blocks()
    for block in before:
        if block.name != TAG:
            sch.compute_inline(block)
    if product is results[-1]:
        write = sch.cache_write(product, "local")
    *rows, column, k = sch.loops(product)
    outer, row, inner, lanes, threads = _tile(sch, product, rows, column, Target.of(target))
    sch.reorder(outer, row, k, inner, lanes)
    if _waits_for_memory(product, Target.of(target)):
        sch.prefetch(product.op.input_tensors[1], k, _AHEAD)
    written = sch.reverse_compute_at(write, row)
    init = sch.decompose_reduction(product, k)
    for loops in ([inner, lanes], written, sch.loops(init)[2:]):
        write_out(sch, loops)
    if threads:
        sch.parallel(outer)
    return sch


def _tile(
    sch: Schedule, product: Tensor, rows: list[LoopRef], column: LoopRef, machine: Target
) -> tuple[LoopRef, LoopRef, LoopRef, LoopRef, bool]:
    """Loops over panels, over tiles of rows, inside a tile; whether threads are worth it."""
    width = int(product.op.attrs["width"])
    *sizes, columns = (const_int(s) or 1 for s in product.shape)
    count, vectors = prod(sizes), -(-width // machine.lanes(32))
    most = min(_MOST_ROWS, max(1, (max(machine.num_registers, 8) - vectors - 1) // vectors))
    whole = sch.fuse(*rows) if len(rows) > 1 else rows[0]
    row, inner = sch.split(whole, [None, even_tile(count, most)])
    outer, lanes = sch.split(column, [None, width])
    depth = const_int(product.op.input_tensors[1].shape[1]) or 1
    return outer, row, inner, lanes, count * columns * depth >= _WORTH_THREADS


_AHEAD = 48
"""Rows of a panel that are asked for before they are needed."""

_SOME_ROWS = 48
"""With more rows, each weight is used so often that reading it does not count."""


def _waits_for_memory(product: Tensor, machine: Target) -> bool:
    """Whether weights come from behind the second cache, and computing takes too long for the
    processor to look ahead by itself.
    """
    weights = product.op.input_tensors[1]
    rows = prod(const_int(s) or 1 for s in product.shape[:-1])
    size = prod(const_int(s) or 1 for s in weights.shape) * weights.dtype.itemsize
    second = next((c.size for c in machine.caches if c.level == 2), 512 << 10)
    return size > 2 * second and _FEW_ROWS < rows <= _SOME_ROWS


_WORTH_THREADS = 1 << 15
"""Products: fewer are done before another thread has begun."""


def _product(last: Tensor) -> Tensor:
    """The product that a tensor is computed from, element by element."""
    seen: set[Operation] = set()
    stack = [last.op]
    while stack:
        op = stack.pop()
        if op.tag == TAG:
            return op.output(0)
        if op not in seen:
            seen.add(op)
            stack += [t.op for t in op.input_tensors]
    raise ShapeError(f"{last.op.name} is computed from no packed_dense")
