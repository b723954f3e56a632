"""The default schedule of a fused group."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from math import prod

from tvmlab.ir import const_int
from tvmlab.schedule import BlockRef, RefusedError, Schedule
from tvmlab.target import Target
from tvmlab.te import ComputeOp, Tensor, operations_of

from .anchored import schedule_anchored

_WORTH_THREADS = 1 << 15
"""Elements of the output times the length of sums: below, starting threads costs more."""


def schedule_group(
    outputs: Sequence[Tensor], args: Sequence[Tensor], name: str, target: Target
) -> Schedule:
    """A schedule of formulas: element-wise stages inline, outer loops parallel, inner vectors."""
    anchored = schedule_anchored(outputs, args, name, target)
    if anchored is not None:
        return anchored
    sch = Schedule(list(outputs), args=list(args), name=name)
    _inline(sch, outputs)
    for block in sch.blocks():
        _spread(sch, block, target)
    return sch


def _inline(sch: Schedule, outputs: Sequence[Tensor]) -> None:
    """Write element-wise stages into their readers; a margin stays, as it is read many times."""
    results = {t.op for t in outputs}
    for op in operations_of(list(outputs)):
        inner = isinstance(op, ComputeOp) and not op.reduce_axis and op not in results
        if inner and "pad" not in op.name:
            with suppress(RefusedError):
                sch.compute_inline(op.output(0))


def _spread(sch: Schedule, block: BlockRef, target: Target) -> None:
    loops = sch.loops(block)
    if not loops:
        return
    extents = [const_int(sch.loop_of(l).extent) or 1 for l in loops]
    if prod(extents) < _WORTH_THREADS:
        return
    try:
        sch.parallel(loops[0])
    except RefusedError:
        return
