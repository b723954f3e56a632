"""What an exercise consists of."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tvmlab.ir import Program
from tvmlab.schedule import Schedule
from tvmlab.te import Tensor

from .goals import Goal


@dataclass(frozen=True)
class Task:
    """An exercise before anybody works on it.

    Attributes
    ----------
    start
        Makes what is to be scheduled. Keep it small: the result is checked by the interpreter,
        and misses are counted over the whole run.
    goals
        What is asked beyond legal steps and the right result, which every exercise asks.
    hints
        From a nudge to nearly the answer; one is given at a time.
    solve
        Takes the steps of one solution.
    level
        The misses that are predicted are those of this level and all before it; 0 is the nearest.
    """

    name: str
    title: str
    text: str
    start: Callable[[], Tensor | Program]
    goals: tuple[Goal, ...]
    hints: tuple[str, ...]
    solve: Callable[[Schedule], None]
    level: int = 0

    def solved(self) -> Schedule:
        """A schedule with the steps of the solution."""
        schedule = Schedule(self.start())
        self.solve(schedule)
        return schedule
