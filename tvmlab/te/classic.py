"""`te.create_schedule`, the classical way to schedule; the schedule package provides it.

Schedules stand a floor above the tensor language, so they are handed down instead of imported.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tvmlab.support import InternalError

from .tensor import Operation, Tensor

Factory = Callable[[Sequence[Operation | Tensor]], Any]
_factories: list[Factory] = []


def provide_schedules(factory: Factory) -> None:
    """Say how `create_schedule` makes a schedule; the schedule package calls this on import."""
    _factories[:] = [factory]


def create_schedule(ops: Operation | Tensor | Sequence[Operation | Tensor]) -> Any:
    """A classical schedule of the operations and all that they need, one stage for each.

    Before::

        s = te.create_schedule(C.op)
        xo, xi = s[C].split(C.op.axis[0], factor=32)
        s[C].parallel(xo)

    After `tl.lower(s, [A, C], simple_mode=True)`::

        for i_outer in parallel(32):
            for i_inner in range(32):
                C[i_outer * 32 + i_inner] = ...

    Parameters
    ----------
    ops
        One operation or several, such as `C.op`; a tensor stands for its operation.

    Returns
    -------
    tvmlab.schedule.TeSchedule
        Steps are written down as they are called for, and taken when the schedule is lowered.
    """
    if not _factories:
        raise InternalError("tvmlab.schedule was not imported, which provides te schedules")
    many = list(ops) if isinstance(ops, Sequence) else [ops]
    return _factories[0](many)
