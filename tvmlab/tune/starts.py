"""What a search begins with: the schedule that tvmlab's operators give a computation by default."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tvmlab.schedule import Schedule
from tvmlab.support import TvmlabError
from tvmlab.target import Target
from tvmlab.te import Tensor
from tvmlab.topi import schedule, schedule_conv, schedule_matmul

from .spaces import Space


def default_starts(space: Space) -> tuple[Schedule, ...]:
    """The default schedule of a space's computation, if it was given by its tensors.

    The first of the operators' schedules that knows the computation: of a product, of a
    convolution, else that of any formulas.
    """
    if not space.outputs:
        return ()
    for make in (_of_product, schedule_conv, schedule):
        found = _tried(make, space.outputs, space.target)
        if found is not None:
            return (found,)
    return ()


def _of_product(outputs: Sequence[Tensor], target: Target) -> Schedule:
    [output] = outputs
    return schedule_matmul(output, target)


def _tried(
    make: Callable[[Sequence[Tensor], Target], Schedule], outputs: Sequence[Tensor], target: Target
) -> Schedule | None:
    """A schedule, unless this way of making one does not fit the computation."""
    try:
        return make(outputs, target)
    except (TvmlabError, ValueError):
        return None
