"""Products of bytes by weights that were packed once, by the processor's dot instructions.

Four neighbors along the sum lie together, in panels as wide as the register tile.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

import tvmlab.te as te
from tvmlab.intrin import KINDS, LANES, DotKind, dot_tile
from tvmlab.ir import Expr, Var, const_int
from tvmlab.schedule import Schedule
from tvmlab.support import ShapeError
from tvmlab.target import Target
from tvmlab.te import Tensor

from .default import schedule
from .dot_matmul import plan_dot_matmul

TAG = "packed_dot"
GROUP = 4
_MOST_ROWS = 12


def dot_panel(columns: int) -> int:
    """How many columns a panel of packed weights has."""
    return LANES * (2 if columns > LANES else 1)


def pack_dot(weights: NDArray[Any], width: int) -> NDArray[Any]:
    """A matrix (in, out) in panels, with groups of four rows side by side; filled up with zeros."""
    filled = np.pad(weights, [(0, -weights.shape[0] % GROUP), (0, -weights.shape[1] % width)])
    parts = filled.reshape(filled.shape[0] // GROUP, GROUP, -1, width)
    return np.ascontiguousarray(parts.transpose(2, 0, 3, 1))


def packed_dot(x: Tensor, weights: Tensor) -> Tensor:
    """`C[i, j] = sum over k of x[i, k] * w[k, j]` in int32, with weights from `pack_dot`.

    Raises
    ------
    ShapeError
        If the sizes do not fit.
    """
    panels, groups, width, group = (const_int(s) or 0 for s in weights.shape)
    rows, depth = (const_int(s) or 0 for s in x.shape)
    if group != GROUP or depth != groups * GROUP:
        raise ShapeError(f"weights packed for sums of {groups * group} do not take rows of {depth}")
    k = te.reduce_axis(depth, "k")

    def value(i: Var, j: Var) -> Expr:
        weight = weights[j // width, k // GROUP, j % width, k % GROUP]
        return te.sum(te.cast(x[i, k], "int32") * te.cast(weight, "int32"), axis=k)

    return te.compute((rows, panels * width), value, name=TAG, tag=TAG, attrs={"width": width})


def schedule_packed_dot(
    product: Tensor,
    target: Target | str = "cpu",
    *,
    args: Sequence[Tensor | Var] | None = None,
    name: str | None = None,
) -> Schedule:
    """A schedule of `packed_dot` by dot instructions; any schedule where the machine has none."""
    machine, kind = Target.of(target), _kind_of(product)
    if kind is None or not kind.runs_on(machine):
        return schedule(product, machine, args=args, name=name)
    m, n = (const_int(s) or 1 for s in product.shape)
    weights = product.op.input_tensors[1]
    k, width = (const_int(weights.shape[1]) or 1) * GROUP, const_int(weights.shape[2]) or LANES
    plan = plan_dot_matmul(m, n, k, kind, machine)
    rows = _divisor(m, _MOST_ROWS)
    depth = k // next((p for p in range(-(-k // plan.depth), 33) if k % (p * GROUP) == 0), 1)
    part = _divisor(m // rows, max(1, plan.row_part // rows))
    sch = Schedule(product, args=args, name=name or TAG)
    i, j, sums = sch.loops(product)
    ic, io, ii = sch.split(i, [None, part, rows])
    jo, ji = sch.split(j, [None, width])
    ko, ki = sch.split(sums, [None, depth])
    sch.reorder(ic, jo, ko, io, ii, ji, ki)
    sch.tensorize(ii, dot_tile(kind, rows, width // LANES, depth))
    sch.parallel(sch.fuse(ic, jo))
    return sch


def _divisor(size: int, most: int) -> int:
    """The largest divisor of a size up to a limit."""
    return next(d for d in range(min(size, most), 0, -1) if size % d == 0)


def _kind_of(product: Tensor) -> DotKind | None:
    types = (*(str(t.dtype) for t in product.op.input_tensors), str(product.dtype))
    return next((k for k in KINDS if (k.left, k.right, k.out) == types), None)
