"""An exercise while somebody works on it: the live schedule, checks, hints and predictions."""

from __future__ import annotations

import math
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any, Literal

from tvmlab.schedule import RefusedError, Schedule, Verdict
from tvmlab.schedule.refs import Ref
from tvmlab.support import OptionError, UserError

from .catalog import TASKS
from .grading import fewer_misses, grade
from .panel import Panel
from .progress import Progress
from .report import CheckReport
from .task import Task

Fewer = Literal["start", "mine", "same"]


class _Text:
    """Something to read, in a console or a notebook."""

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        return f'<pre style="white-space:pre-wrap">{escape(str(self))}</pre>'


@dataclass(frozen=True, repr=False)
class Hint(_Text):
    """A hint; with the verdict if it is about a refused step."""

    text: str
    verdict: Verdict | None = None

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, repr=False)
class Prediction(_Text):
    """What the learner expected of the misses, and what was found.

    `said` and `found` are factors, or which of the two has fewer misses.
    """

    said: float | str
    found: float | str
    misses: tuple[int, int]
    spread: str

    def __str__(self) -> str:
        before, after = self.misses
        said, found = (
            f"{v:.3g} times fewer" if isinstance(v, float) else v for v in (self.said, self.found)
        )
        lines = [f"you said: {said}; it is: {found} ({before} misses at the start, {after} now)"]
        return "\n".join([*lines, self.spread] if self.spread else lines)


@dataclass(frozen=True, repr=False)
class Solution(_Text):
    """One solution: its steps as Python, and the schedule that they make."""

    python: str
    schedule: Schedule

    def __str__(self) -> str:
        return f"{self.python}\n\n{self.schedule}"


class _Watched(Schedule):
    """A schedule that remembers the refusal of the last step, for a hint about it."""

    refused: Verdict | None = None
    tutor: Panel | None = None

    def apply(self, primitive: str, *args: Any, **named: Any) -> list[Ref]:
        try:
            refs = super().apply(primitive, *args, **named)
        except RefusedError as error:
            self.refused = error.verdict
            raise
        self.refused = None
        return refs


class Exercise(_Text):
    """A task and one learner's work on it; `schedule` is live."""

    def __init__(self, task: Task, progress: Path | str | None = None) -> None:
        self.task = task
        self.progress = Progress(progress)
        watched = _Watched(task.start())
        watched.tutor = Panel(self)
        self.schedule: Schedule = watched
        self._start = self.schedule.program
        self._predicted = False

    def check(self, schedule: Schedule | None = None) -> CheckReport:
        """Grade the schedule, or another one; only one's own counts as an attempt."""
        own = schedule is None or schedule is self.schedule
        graded = self.schedule if schedule is None else schedule
        results = grade(graded, self._start, self.task.goals, show_counts=self._predicted)
        report = CheckReport(self.task.name, results)
        if own:
            record = self.progress[self.task.name]
            record.attempts += 1
            record.best = max(record.best, report.met)
            record.solved = record.solved or report.passed
            self.progress.put(self.task.name, record)
        return report

    def hint(self) -> Hint:
        """What helps next: about the step that was just refused, else the next of the ladder."""
        if isinstance(self.schedule, _Watched) and self.schedule.refused is not None:
            verdict, self.schedule.refused = self.schedule.refused, None
            return Hint(f"Your last step was {verdict}", verdict)
        record = self.progress[self.task.name]
        number, ladder = record.hints, self.task.hints
        if number >= len(ladder):
            last = ladder[-1] if ladder else "This exercise has no hints."
            return Hint(f"{last}\nThat was the last hint. ex.solution() shows one way.")
        record.hints += 1
        self.progress.put(self.task.name, record)
        return Hint(f"Hint {number + 1} of {len(ladder)}: {ladder[number]}")

    def solution(self) -> Solution:
        """One way to do it; there are others.

        Raises
        ------
        UserError
            Before the first attempt.
        """
        if not self.progress[self.task.name].attempts:
            raise UserError(
                "the solution is shown after an attempt of your own",
                hint="take a step, then call ex.check()",
            )
        schedule = self.task.solved()
        return Solution(schedule.trace.to_python(), schedule)

    def predict(self, factor: float | None = None, *, fewer: Fewer | None = None) -> Prediction:
        """Say what your steps do to the misses in the teaching caches, then see the figure.

        Parameters
        ----------
        factor
            How many times fewer misses the schedule has now than at the start.
        fewer
            Or only which one has fewer: "start", "mine", or "same".
        """
        _require_prediction(factor, fewer)
        ratio, counts = fewer_misses(self.schedule, self._start, self.task.level)
        self._predicted = True
        if factor is None:
            found = "same" if counts[0] == counts[1] else "mine" if ratio > 1 else "start"
            return Prediction(str(fewer), found, counts, "")
        record = self.progress[self.task.name]
        record.guesses.append((float(factor), max(ratio, 1e-9)))
        self.progress.put(self.task.name, record)
        return Prediction(float(factor), ratio, counts, self.progress.spread())

    def __str__(self) -> str:
        goals = "\n".join(f"  - {goal.title}" for goal in self.task.goals)
        return f"{self.task.title}\n\n{self.task.text}\n\nGoals:\n{goals}\n\n{self.schedule}"


def _require_prediction(factor: float | None, fewer: Fewer | None) -> None:
    if (factor is None) == (fewer is None):
        raise OptionError(
            "a prediction is one of two things: a factor, or which has fewer misses",
            hint='for example ex.predict(2.0), or ex.predict(fewer="mine")',
        )
    if factor is not None and not (math.isfinite(factor) and factor > 0):
        raise OptionError(
            f"{factor} is no factor", hint="2.0 says half the misses; 1.0 as many as before"
        )
    if fewer not in (None, "start", "mine", "same"):
        raise OptionError(f"{fewer!r} is neither of the two", hint='say "start", "mine" or "same"')


def exercise(task: str | Task, *, progress: Path | str | None = None) -> Exercise:
    """Begin an exercise: one that comes with tvmlab, by name, or a `Task` of your own.

    Parameters
    ----------
    task
        A name of `tvmlab.exercises.TASKS`, or the task itself.
    progress
        The file that progress is kept in; by default one in the user's data folder.

    Raises
    ------
    OptionError
        If there is no exercise of that name.
    """
    if isinstance(task, Task):
        return Exercise(task, progress)
    if task not in TASKS:
        raise OptionError(
            f"there is no exercise {task!r}", hint=f"exercises are: {', '.join(TASKS)}"
        )
    return Exercise(TASKS[task], progress)
