"""The best schedule that is known for a computation: what operators and graphs ask for.

>>> schedule = best(C)                       # from the log of this user
>>> find = lookup("tuning.sqlite")           # a function to hand to the graph compiler
>>> find(program, "cpu")
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import TypeAlias

from tvmlab.ir import Program, structural_hash
from tvmlab.schedule import Schedule
from tvmlab.support import TvmlabError
from tvmlab.target import Target, TargetLike, machine_id
from tvmlab.te import Tensor, create_program

from .database import TuningLog, default_log_path
from .trial import Trial, target_key
from .twins import replay_on_twin

Lookup: TypeAlias = Callable[[Program, TargetLike], Schedule | None]
LogLike: TypeAlias = TuningLog | str | os.PathLike[str] | None


def best(
    workload: Tensor | Sequence[Tensor] | Program,
    target: TargetLike = "cpu",
    *,
    log: LogLike = None,
    machine: str | None = None,
) -> Schedule | None:
    """The fastest schedule in a log for a computation; None if there is none.

    Parameters
    ----------
    workload
        Output tensors, or an unscheduled program.
    log
        A log or its file; by default that of this user.
    machine
        Where it must have been measured; by default here.
    """
    found = best_trial(workload, target, log=log, machine=machine)
    return None if found is None else found[1]


def best_trial(
    workload: Tensor | Sequence[Tensor] | Program,
    target: TargetLike = "cpu",
    *,
    log: LogLike = None,
    machine: str | None = None,
) -> tuple[Trial, Schedule] | None:
    """The fastest trial whose steps still fit, and its schedule."""
    if not isinstance(log, TuningLog):
        path = default_log_path() if log is None else log
        if not os.path.exists(path):
            return None
        with TuningLog(path) as opened:
            return best_trial(workload, target, log=opened, machine=machine)
    program = workload if isinstance(workload, Program) else _program(workload)
    trials = log.best_trials(
        structural_hash(program), target_key(Target.of(target)), machine or machine_id()
    )
    for trial in trials:
        schedule = None if trial.stale else _replayed(trial, program, log)
        if schedule is not None:
            return trial, schedule
    return None


def lookup(log: LogLike = None) -> Lookup:
    """A function from an unscheduled program and a target to the best schedule in a log."""

    def find(program: Program, target: TargetLike = "cpu") -> Schedule | None:
        return best(program, target, log=log)

    return find


def _program(tensors: Tensor | Sequence[Tensor]) -> Program:
    return create_program([tensors] if isinstance(tensors, Tensor) else list(tensors))


def _replayed(trial: Trial, program: Program, log: TuningLog) -> Schedule | None:
    """The schedule, if its steps still make the program that was measured."""
    try:
        schedule = trial.schedule(program)
        if structural_hash(schedule.program) == trial.program_hash:
            return schedule
    except TvmlabError:
        pass  # its steps may name what is named otherwise here
    try:
        first, schedule = replay_on_twin(trial.trace, log.program(trial.workload), program)
    except TvmlabError:
        return None
    return schedule if structural_hash(first.program) == trial.program_hash else None
