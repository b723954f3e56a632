"""Exercises in scheduling, graded by facts that do not depend on the machine.

>>> ex = tl.exercise("reorder")
>>> i, j, k = ex.schedule.loops("C")
>>> ex.schedule.reorder(i, k, j)
>>> print(ex.check())
"""

from .catalog import TASKS
from .exercise import Exercise, Hint, Prediction, Solution, exercise
from .goals import (
    Goal,
    computed_at_most,
    innermost_runs_over,
    is_kind,
    misses_at_most,
    no_guard_around,
    room_at_most,
    tile_at_most,
)
from .progress import Progress, Record, progress_path
from .report import CheckReport, GoalResult
from .task import Task

__all__ = [
    "TASKS",
    "CheckReport",
    "Exercise",
    "Goal",
    "GoalResult",
    "Hint",
    "Prediction",
    "Progress",
    "Record",
    "Solution",
    "Task",
    "computed_at_most",
    "exercise",
    "innermost_runs_over",
    "is_kind",
    "misses_at_most",
    "no_guard_around",
    "progress_path",
    "room_at_most",
    "tile_at_most",
]
