"""The default schedule of a fused group: that of its anchor, or the one for any formula."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import tvmlab.topi as topi
from tvmlab.ir import const_int
from tvmlab.schedule import Schedule
from tvmlab.target import Target
from tvmlab.te import ComputeOp, PlaceholderOp, Tensor, operations_of

from .anchored import schedule_anchored

_TINY = 1 << 10
"""Iterations of all formulas together: below, no schedule gains what it costs to compile."""


def schedule_group(
    outputs: Sequence[Tensor], args: Sequence[Tensor], name: str, target: Target
) -> Schedule:
    """A schedule of the formulas of a group.

    Parameters
    ----------
    args
        The kernel's parameters: inputs, then outputs.
    name
        The kernel's symbol.
    """
    if _iterations(outputs) <= _TINY:
        return Schedule(list(outputs), args=list(args), name=name)
    anchored = schedule_anchored(outputs, args, name, target)
    if anchored is not None:
        return anchored
    return topi.schedule(list(outputs), target, args=list(args), name=name)


def _iterations(outputs: Sequence[Tensor]) -> int:
    """How often, in all, the formulas of a group are evaluated."""
    total = 0
    for op in operations_of(list(outputs)):
        if isinstance(op, ComputeOp):
            total += prod(const_int(a.extent) or _TINY for a in (*op.axis, *op.reduce_axis))
        elif not isinstance(op, PlaceholderOp):
            return _TINY + 1
    return total
