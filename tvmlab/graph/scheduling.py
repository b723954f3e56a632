"""The default schedule of a fused group: that of its anchor, or the one for any formula."""

from __future__ import annotations

from collections.abc import Sequence

from tvmlab import topi
from tvmlab.schedule import Schedule
from tvmlab.target import Target
from tvmlab.te import Tensor

from .anchored import schedule_anchored


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
    anchored = schedule_anchored(outputs, args, name, target)
    if anchored is not None:
        return anchored
    return topi.schedule(list(outputs), target, args=list(args), name=name)
