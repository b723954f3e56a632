"""Schedules of groups around a convolution, pooling, attention or a product with packed weights."""

from __future__ import annotations

from collections.abc import Sequence

from tvmlab.schedule import Schedule
from tvmlab.target import Target
from tvmlab.te import Tensor, operations_of
from tvmlab.topi import (
    schedule_attention,
    schedule_conv,
    schedule_packed_dense,
    schedule_packed_dot,
    schedule_patches,
)
from tvmlab.topi.attention import TAG as ATTENTION
from tvmlab.topi.packed_dense import TAG as PACKED_DENSE
from tvmlab.topi.packed_dot import TAG as PACKED_DOT
from tvmlab.topi.patches import TAG as PATCHES


def schedule_anchored(
    outputs: Sequence[Tensor], args: Sequence[Tensor], name: str, target: Target
) -> Schedule | None:
    """The schedule of a group with such an operation in it; None if it has none."""
    operations = operations_of(list(outputs))
    if any("conv" in op.attrs for op in operations):
        return schedule_conv(list(outputs), target, args=list(args), name=name)
    if any(op.tag == PACKED_DENSE for op in operations):
        return schedule_packed_dense(list(outputs), target, args=list(args), name=name)
    if len(outputs) == 1 and outputs[0].op.tag == PACKED_DOT:
        return schedule_packed_dot(outputs[0], target, args=list(args), name=name)
    if len(outputs) == 1 and outputs[0].op.tag == PATCHES:
        return schedule_patches(outputs[0], target, args=list(args), name=name)
    if len(outputs) == 1 and outputs[0].op.tag == ATTENTION:
        return schedule_attention(outputs[0], target, args=list(args), name=name)
    return None
