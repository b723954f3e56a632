"""What every exercise asks: that all steps were accepted, and that the result is right."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tvmlab.codegen import InterpreterFailure, interpret
from tvmlab.inspect.wording import plural
from tvmlab.ir import Buffer, Program, structural_equal
from tvmlab.schedule import Schedule
from tvmlab.support import TvmlabError

from .goals import Finding, Goal
from .report import GoalResult
from .traffic import misses

_SEED = 20
_RTOL = 1e-4
HIDDEN = "the count shows after ex.predict(...)"


def grade(
    schedule: Schedule, start: Program, goals: tuple[Goal, ...], *, show_counts: bool
) -> tuple[GoalResult, ...]:
    """Each goal with whether it is met; counts of misses stay hidden until they are predicted."""
    legal = _legal(schedule, start)
    results = [
        GoalResult("legality", "every step was accepted, from the given start", *legal),
        GoalResult(
            "value", "the result is that of the start, on random data", *_value(schedule, start)
        ),
    ]
    for goal in goals:
        met, words = goal.look(schedule)
        hidden = goal.kind == "traffic" and not show_counts
        results.append(GoalResult(goal.kind, goal.title, met, HIDDEN if hidden else words))
    return tuple(results)


def fewer_misses(schedule: Schedule, start: Program, level: int) -> tuple[float, tuple[int, int]]:
    """By what factor a schedule misses a level of the caches less, and both counts."""
    before, after = misses(start)[level], misses(schedule.program)[level]
    return before / max(after, 1), (before, after)


def _legal(schedule: Schedule, start: Program) -> Finding:
    """Steps are accepted by construction; what is looked at is that nothing else happened."""
    if not structural_equal(schedule.history.nodes[0].program, start):
        return False, "this schedule starts from another program"
    try:
        again = Schedule.replay(start, schedule.trace)
    except TvmlabError as error:
        return False, f"a step could not be taken again: {error}"
    if not structural_equal(again.program, schedule.program):
        return False, "the steps, taken again, lead elsewhere"
    return True, plural(len(schedule.trace), "step")


def _value(schedule: Schedule, start: Program) -> Finding:
    if _shapes(schedule.program) != _shapes(start):
        return False, "its parameters are others"
    given = _random(start)
    expected, found = [a.copy() for a in given], [a.copy() for a in given]
    interpret(start, expected)
    try:
        interpret(schedule.program, found)
    except InterpreterFailure as error:
        return False, str(error)
    worst = max(float(np.max(np.abs(a - b))) for a, b in zip(expected, found, strict=True))
    met = all(
        np.allclose(a, b, rtol=_RTOL, atol=_RTOL) for a, b in zip(expected, found, strict=True)
    )
    return met, f"largest difference {worst:.1e}"


def _shapes(program: Program) -> list[tuple[str, object, str]]:
    return [(b.name, b.const_shape, str(b.dtype)) for b in _buffers(program)]


def _buffers(program: Program) -> list[Buffer]:
    return [p for p in program.params if isinstance(p, Buffer)]


def _random(program: Program) -> list[NDArray[Any]]:
    rng = np.random.default_rng(_SEED)
    return [rng.random(b.const_shape or ()).astype(str(b.dtype)) for b in _buffers(program)]
