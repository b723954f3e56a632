"""Which step bought what: the gain of each step on a path, and what the end loses without it.

The gain of a step depends on those before it. So beside it stands the ratio of the final time
without this one step to the final time with it, where the other steps are allowed without it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import pairwise

from tvmlab.ir import Program
from tvmlab.schedule import History, program_without
from tvmlab.support import ScheduleError

from .history import step_label
from .measurement import Gain, Measured, gain_over

MeasuredOf = Callable[[Program], "Measured | None"]


@dataclass(frozen=True, slots=True)
class Without:
    """The end of a path without one step: not possible for a reason, or as fast as measured."""

    possible: bool
    reason: str
    seconds: float | None
    worth: Gain | None
    """How much faster the end is with the step; None while either is unmeasured."""


@dataclass(frozen=True, slots=True)
class StepGain:
    """One step of the path: the time after it, and what it gained over the state before."""

    node: str
    label: str
    seconds: float | None
    gain: Gain | None
    without: Without


@dataclass(frozen=True, slots=True)
class GainsReport:
    """The path from the start, whose time is `start`, to the current state."""

    start: float | None
    steps: tuple[StepGain, ...]
    unmeasured: int
    """How many programs a full answer still needs the times of."""


def gains_report(
    history: History, measured: Mapping[int, Measured], of_program: MeasuredOf
) -> GainsReport:
    """The waterfall of the current path.

    Parameters
    ----------
    measured
        Times of states, by id.
    of_program
        The times of any program, if it was measured.
    """
    path = history.path()
    end = measured.get(path[-1].id)
    steps: list[StepGain] = []
    missing = sum(node.id not in measured for node in path)
    for before, node in pairwise(path):
        own = measured.get(node.id)
        without = _without(history, node.id, end, of_program)
        missing += without.possible and without.seconds is None and node is not path[-1]
        steps.append(
            StepGain(
                str(node.id),
                node.label or step_label(node.step),
                None if own is None else own.median,
                gain_over(measured.get(before.id), own),
                without,
            )
        )
    start = measured.get(0)
    return GainsReport(None if start is None else start.median, tuple(steps), missing)


def programs_without(history: History) -> list[tuple[str, Program]]:
    """The ends of the current path without one step each, by its label, as far as possible."""
    found: list[tuple[str, Program]] = []
    for node in history.path()[1:]:
        try:
            found.append((node.label or step_label(node.step), program_without(history, node.id)))
        except ScheduleError:
            continue
    return found


def _without(history: History, node: int, end: Measured | None, of_program: MeasuredOf) -> Without:
    try:
        program = program_without(history, node)
    except ScheduleError as error:
        return Without(False, error.message, None, None)
    times = of_program(program)
    seconds = None if times is None else times.median
    return Without(True, "", seconds, gain_over(times, end))
