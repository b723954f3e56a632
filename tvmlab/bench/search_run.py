"""Runs of a comparison of searches: what a log tells of them.

>>> for run in read_runs("searches.sqlite"):
...     print(run.workload, run.search, run.seed, run.best)
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from tvmlab.tune import Trial, TuningLog

_STARTED = "default"
DEFAULT = "default"
"""Stands for the schedule that tvmlab's operators give a workload, beside the searches."""
AGAIN = "again"
"""The kind of a trial that measures the best of a run once more."""


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


def read_runs(log: str | os.PathLike[str], *, starts: bool = False) -> list[SearchRun]:
    """All runs that a log has, complete or not."""
    with TuningLog(log) as opened:
        trials, again = opened.trials(), opened.trials(kind=AGAIN)
    by_tuner: dict[str, list[Trial]] = {}
    for trial in trials:
        if trial.status != "refused":
            by_tuner.setdefault(trial.tuner, []).append(trial)
    runs: list[SearchRun] = []
    for own, found in by_tuner.items():
        words = parts_of(own, starts)
        if words:
            fastest = max(found, key=throughput_of)
            repeats = [
                throughput_of(t)
                for t in again
                if t.tuner == own and t.program_hash == fastest.program_hash and undisturbed(t)
            ]
            known = median(repeats) if repeats else 0.0
            runs.append(SearchRun(words[0], words[1], int(words[2]), curve_of(found), known))
    return runs


def undisturbed(trial: Trial) -> bool:
    """Whether nothing is known to have spoilt its times."""
    return not trial.result.get("disturbed")


def parts_of(own: str, starts: bool) -> list[str]:
    """Workload, search, seed and kind of a run by its name; empty if it is none of these."""
    words = own.split("/")
    return words if len(words) == 4 and (words[3] == _STARTED) == starts else []


def throughput_of(trial: Trial) -> float:
    """More is better, 0 for a failure."""
    return (trial.gflops or 1.0 / trial.seconds) if trial.ok and trial.seconds else 0.0


def own_name(name: str, search: str, seed: int, starts: bool) -> str:
    """What the tuner of a run is called in the log."""
    return f"{name}/{search}/{seed}/{_STARTED if starts else 'alone'}"


def curve_of(trials: Sequence[Trial]) -> tuple[float, ...]:
    """The best throughput after each trial."""
    top, curve = 0.0, list[float]()
    for trial in trials:
        top = max(top, throughput_of(trial))
        curve.append(top)
    return tuple(curve)
