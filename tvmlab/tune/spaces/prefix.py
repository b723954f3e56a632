"""Steps before numbers come in: each is taken once, on a real schedule, for all outlines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

from tvmlab.schedule import BlockRef, LoopRef, Schedule


class Prefix:
    """A state of a real schedule, with the states that steps lead to: each step is taken once.

    Outlines of one space take the same few steps again and again before numbers come in.
    """

    def __init__(self, schedule: Schedule) -> None:
        self.schedule = schedule
        self._after: dict[Any, tuple[Prefix, Any]] = {}

    def step(self, name: str, args: Sequence[Any], named: Mapping[str, Any]) -> tuple[Prefix, Any]:
        """The state after a step, and what the step returned.

        Raises
        ------
        ScheduleError
            If the step is refused.
        """
        key = (name, _plain(args), tuple((k, _plain(v)) for k, v in sorted(named.items())))
        if key not in self._after:
            fresh = self.schedule.copy()
            given = {k: moved(v, fresh) for k, v in named.items()}
            result = getattr(fresh, name)(*(moved(a, fresh) for a in args), **given)
            self._after[key] = (Prefix(fresh), result)
        return self._after[key]


def _plain(value: Any) -> Any:
    if isinstance(value, LoopRef):
        return value.var
    if isinstance(value, BlockRef):
        return value.symbol
    return (
        tuple(map(_plain, cast("list[Any]", value))) if isinstance(value, (list, tuple)) else value
    )


def moved(value: Any, schedule: Schedule) -> Any:
    """A reference, or several, into another state of the schedule."""
    if isinstance(value, LoopRef):
        return LoopRef(schedule, value.var)
    if isinstance(value, BlockRef):
        return BlockRef(schedule, value.symbol)
    if isinstance(value, (list, tuple)):
        return [moved(v, schedule) for v in cast("list[Any]", value)]
    return value
