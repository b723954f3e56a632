"""Default schedules: what is element-wise is inlined into what reads it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tvmlab.compat.tvm.missing import missing
from tvmlab.compat.tvm.te.schedule import AutoInlineInjective
from tvmlab.schedule import TeSchedule
from tvmlab.te import Tensor

_missing = missing("tvm.topi.generic")


def default_schedule(outs: Tensor | Sequence[Tensor], auto_inline: bool = True) -> TeSchedule:
    """A schedule of the outputs, with element-wise stages inlined."""
    many = [outs] if isinstance(outs, Tensor) else list(outs)
    s = TeSchedule([t.op for t in many])
    if auto_inline:
        AutoInlineInjective(s)
    return s


schedule_injective = default_schedule


def __getattr__(name: str) -> Callable[..., Any]:
    return default_schedule if name.startswith("schedule_") else _missing(name)
