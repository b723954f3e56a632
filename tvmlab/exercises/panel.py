"""An exercise as a view shows it: the task, goals as last checked, the last hint, a prediction.

The explorer finds it on the exercise's schedule, so neither package needs the other.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, Protocol

from tvmlab.schedule import Schedule
from tvmlab.support import UserError, shown

from .progress import Progress
from .report import CheckReport
from .task import Task

_GUESSES: dict[str, Literal["mine", "same", "start"]] = {
    "mine": "mine",
    "same": "same",
    "start": "start",
}


class _Solution(Protocol):
    @property
    def python(self) -> str: ...


class Work(Protocol):
    """What a panel needs of an exercise."""

    task: Task
    progress: Progress
    schedule: Schedule

    def check(self) -> CheckReport: ...
    def hint(self) -> object: ...
    def solution(self) -> _Solution: ...
    def predict(self, *, fewer: Literal["mine", "same", "start"]) -> object: ...


class Panel:
    """What a learner sees beside the nest; `turn` grows with everything that is done here."""

    def __init__(self, exercise: Work) -> None:
        self._exercise = exercise
        self._checked: CheckReport | None = None
        self._checked_program: object = None
        self._said: dict[str, str] = {"hint": "", "prediction": "", "solution": ""}
        self._doings: dict[str, Callable[[str], None]] = {
            "check": self._check,
            "hint": self._hint,
            "predict": self._predict,
            "solution": self._solution,
        }
        self.turn = 0

    @property
    def title(self) -> str:
        """The exercise in a few words."""
        return self._exercise.task.title

    def look(self) -> dict[str, Any]:
        """Everything as plain data."""
        task, record = self._exercise.task, self._exercise.progress[self._exercise.task.name]
        checked = self._checked
        goals = [{"title": g.title, "kind": g.kind, "met": None, "found": ""} for g in task.goals]
        if checked is not None:
            goals = [
                {"title": r.title, "kind": r.kind, "met": r.met, "found": r.found}
                for r in checked.results
            ]
        return {
            "title": task.title,
            "text": task.text,
            "goals": goals,
            "stale": checked is not None
            and self._checked_program is not self._exercise.schedule.program,
            "passed": checked is not None and checked.passed,
            "attempts": record.attempts,
            "solved": record.solved,
            "hints": len(task.hints),
            "hints_taken": record.hints,
            **self._said,
        }

    def do(self, what: str, value: str = "") -> None:
        """Check, hint, predict or show the solution.

        Raises
        ------
        UserError
            If there is no such thing to do, or it is too early for it.
        """
        if what not in self._doings:
            raise UserError(
                f"an exercise cannot {shown(what)}", hint=f"it can {', '.join(self._doings)}"
            )
        self._doings[what](value)
        self.turn += 1

    def _check(self, _: str) -> None:
        self._checked = self._exercise.check()
        self._checked_program = self._exercise.schedule.program

    def _hint(self, _: str) -> None:
        self._said["hint"] = str(self._exercise.hint())

    def _solution(self, _: str) -> None:
        self._said["solution"] = self._exercise.solution().python

    def _predict(self, guess: str) -> None:
        if guess not in _GUESSES:
            raise UserError(
                f"{shown(guess)} is no prediction", hint=f"say one of {', '.join(_GUESSES)}"
            )
        self._said["prediction"] = str(self._exercise.predict(fewer=_GUESSES[guess]))
