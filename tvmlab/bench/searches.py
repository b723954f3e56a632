"""Searches beside each other: the best schedule after each trial, from several seeds.

Every run is a tuner of its own name in one log, and reads no other's trials: a comparison can be
ended at any moment and goes on from its log. It is done in stages: all searches on all workloads
with few trials first, seed by seed, then with more, so that a comparison that is cut says something
of everything.

>>> for run in run_searches(spaces, ("annealing", "random"), seeds=(0, 1), trials=100, log=path):
...     print(run.search, run.best)
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from statistics import median

from tvmlab.support import ParseError, ScheduleError
from tvmlab.tune import (
    Measurer,
    MeasureRequest,
    MeasureSettings,
    Space,
    Trial,
    Tuner,
    TuningLog,
    busy_workers,
    default_starts,
    workload_of,
)

_STARTED = "default"
DEFAULT = "default"
"""Stands for the schedule that tvmlab's operators give a workload, beside the searches."""
_AGAIN = "again"
_CAREFUL = MeasureSettings(repeats=10, repeat_seconds=0.01, budget_seconds=0.3)
_ROUNDS = 2


@dataclass(frozen=True, slots=True)
class SearchRun:
    """One search on one workload from one seed.

    Attributes
    ----------
    curve
        The best throughput after each measured trial, in GFLOP/s.
    again
        That of the best schedule, measured again with care beside those of the other runs: what a
        search chose as the fastest of many is in part a lucky measurement. 0 if it was not.
    """

    workload: str
    search: str
    seed: int
    curve: tuple[float, ...]
    again: float = 0.0

    @property
    def best(self) -> float:
        return self.again or (self.curve[-1] if self.curve else 0.0)

    def at(self, mark: int) -> float | None:
        """The best after so many trials; None if it has not come so far."""
        if self.search == DEFAULT:
            return self.best
        return self.curve[mark - 1] if len(self.curve) >= mark else None

    def trials_to(self, throughput: float) -> int | None:
        """After how many trials it had reached so much; None if it never did."""
        reached = (n for n, value in enumerate(self.curve, 1) if value >= throughput)
        return next(reached, None)


class Chapter(TuningLog):
    """The part of a log that one tuner wrote."""

    def __init__(self, path: str | os.PathLike[str], tuner: str) -> None:
        super().__init__(path)
        self.tuner = tuner

    def trials(
        self,
        *,
        workload: str | None = None,
        target: str | None = None,
        machine: str | None = None,
        kind: str | None = "trial",
    ) -> list[Trial]:
        """The trials that this tuner made, of those that fit."""
        found = super().trials(workload=workload, target=target, machine=machine, kind=kind)
        return [trial for trial in found if trial.tuner == self.tuner]


def stages_of(trials: int) -> tuple[int, ...]:
    """A quarter, half and all of the trials."""
    return tuple(sorted({max(1, trials // 4), max(1, trials // 2), trials}))


def run_searches(
    spaces: Mapping[str, Space],
    searches: Sequence[str],
    *,
    seeds: Sequence[int],
    trials: int,
    log: str | os.PathLike[str],
    seconds: float | None = None,
    starts: bool = False,
    stages: Sequence[int] = (),
) -> Iterator[SearchRun]:
    """Run what the log lacks; yields each run when it has all the trials of a stage.

    Parameters
    ----------
    seconds
        End after so long; a run that is not complete then is not yielded.
    starts
        Whether each search begins with the default schedule.
    stages
        Trials after which the next run has its turn, until all have so many; by default each run
        is done to its end.
    """
    until = None if seconds is None else time.monotonic() + seconds
    with Measurer(busy_workers()) as runner:
        for stage in stages or (trials,):
            for seed in seeds:
                for name, space in spaces.items():
                    for search in searches:
                        done = _run(name, space, search, seed, stage, log, runner, until, starts)
                        if done is None:
                            return
                        yield done


def _run(
    name: str,
    space: Space,
    search: str,
    seed: int,
    trials: int,
    log: str | os.PathLike[str],
    runner: Measurer,
    until: float | None,
    starts: bool,
) -> SearchRun | None:
    """One run up to so many trials; None if the time is over before."""
    own = _own_name(name, search, seed, starts)
    with Chapter(log, own) as chapter:
        tuner = Tuner(
            space, log=chapter, runner=runner, search=search, seed=seed, transfer=False, name=own,
            starts=None if starts else (), watch=0,
        )  # fmt: skip
        for _ in tuner.run(max(0, trials - tuner.measured)):
            if until is not None and time.monotonic() > until:
                return None
        done = [t for t in tuner.trials if t.status != "refused"][:trials]
    return SearchRun(name, search, seed, _curve(done))


def measure_defaults(
    spaces: Mapping[str, Space], log: str | os.PathLike[str], *, starts: bool = False
) -> None:
    """Measure the default schedule of each workload that the log has none of."""
    with Measurer(busy_workers()) as runner:
        for name, space in spaces.items():
            own, found = _own_name(name, DEFAULT, 0, starts), default_starts(space)
            with Chapter(log, own) as chapter:
                tuner = Tuner(
                    space, log=chapter, runner=runner, search="random", transfer=False, name=own,
                    starts=found, watch=0, settings=_CAREFUL,
                )  # fmt: skip
                if found and not tuner.measured:
                    for _ in tuner.run(1):
                        pass


def measure_again(
    spaces: Mapping[str, Space], log: str | os.PathLike[str], *, starts: bool = False
) -> None:
    """Measure the best schedule of each run with care, those of one workload beside each other."""
    best = {own: t for own, t in _best_trials(log, starts).items() if own.split("/")[0] in spaces}
    with Measurer(busy_workers()) as runner, TuningLog(log) as opened:
        for name, space in spaces.items():
            of_workload = {own: t for own, t in best.items() if own.split("/")[0] == name}
            for _ in range(_ROUNDS):
                for own, trial in of_workload.items():
                    with suppress(ParseError, ScheduleError):  # steps of another version
                        opened.add(_repeated(own, trial, space, runner))


def _repeated(own: str, trial: Trial, space: Space, runner: Measurer) -> Trial:
    schedule = trial.schedule(space.program)
    request = MeasureRequest.of(schedule.program, space.target, settings=_CAREFUL)
    result = runner.submit(request).result()
    return replace(
        trial, kind=_AGAIN, tuner=own, status=result.status, error=result.error,
        seconds=result.median, result=result.to_json(),
        gflops=result.gflops(workload_of(space.program).flops),
    )  # fmt: skip


def _best_trials(log: str | os.PathLike[str], starts: bool) -> dict[str, Trial]:
    """The fastest trial of each run whose best one was not measured again yet."""
    with TuningLog(log) as opened:
        again = {(t.tuner, t.program_hash) for t in opened.trials(kind=_AGAIN)}
        fastest: dict[str, Trial] = {}
        for trial in opened.trials():
            if _parts(trial.tuner, starts) and trial.ok and trial.seconds:
                known = fastest.get(trial.tuner)
                if known is None or trial.seconds < (known.seconds or 0.0):
                    fastest[trial.tuner] = trial
    return {own: t for own, t in fastest.items() if (own, t.program_hash) not in again}


def read_runs(log: str | os.PathLike[str], *, starts: bool = False) -> list[SearchRun]:
    """All runs that a log has, complete or not."""
    with TuningLog(log) as opened:
        trials, again = opened.trials(), opened.trials(kind=_AGAIN)
    by_tuner: dict[str, list[Trial]] = {}
    for trial in trials:
        if trial.status != "refused":
            by_tuner.setdefault(trial.tuner, []).append(trial)
    runs: list[SearchRun] = []
    for own, found in by_tuner.items():
        words = _parts(own, starts)
        if words:
            fastest = max(found, key=_throughput)
            repeats = [
                _throughput(t)
                for t in again
                if t.tuner == own and t.program_hash == fastest.program_hash
            ]
            known = median(repeats) if repeats else 0.0
            runs.append(SearchRun(words[0], words[1], int(words[2]), _curve(found), known))
    return runs


def _parts(own: str, starts: bool) -> list[str]:
    """Workload, search, seed and kind of a run by its name; empty if it is none of these."""
    words = own.split("/")
    return words if len(words) == 4 and (words[3] == _STARTED) == starts else []


def _throughput(trial: Trial) -> float:
    return (trial.gflops or 1.0 / trial.seconds) if trial.ok and trial.seconds else 0.0


def _own_name(name: str, search: str, seed: int, starts: bool) -> str:
    return f"{name}/{search}/{seed}/{_STARTED if starts else 'alone'}"


def _curve(trials: Sequence[Trial]) -> tuple[float, ...]:
    top, curve = 0.0, list[float]()
    for trial in trials:
        top = max(top, _throughput(trial))
        curve.append(top)
    return tuple(curve)
