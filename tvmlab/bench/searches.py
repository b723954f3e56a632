"""Searches beside each other: the best schedule after each trial, from several seeds.

Every run is a tuner of its own name in one log, and reads no other's trials: a comparison can be
ended at any moment and goes on from its log.

>>> for run in run_searches(spaces, ("annealing", "random"), seeds=(0, 1), trials=100, log=path):
...     print(run.search, run.best)
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

from tvmlab.tune import Measurer, Space, Trial, Tuner, TuningLog, busy_workers

from .plot import page_of, plotly_objects

_STARTED = "default"


@dataclass(frozen=True, slots=True)
class SearchRun:
    """One search on one workload from one seed.

    Attributes
    ----------
    curve
        The best throughput after each measured trial, in GFLOP/s.
    """

    workload: str
    search: str
    seed: int
    curve: tuple[float, ...]

    @property
    def best(self) -> float:
        return self.curve[-1] if self.curve else 0.0

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


def run_searches(
    spaces: Mapping[str, Space],
    searches: Sequence[str],
    *,
    seeds: Sequence[int],
    trials: int,
    log: str | os.PathLike[str],
    seconds: float | None = None,
    starts: bool = False,
) -> Iterator[SearchRun]:
    """Run what the log lacks, seed by seed; yields each run when it has all its trials.

    Parameters
    ----------
    seconds
        End after so long; a run that is not complete then is not yielded.
    starts
        Whether each search begins with the default schedule.
    """
    until = None if seconds is None else time.monotonic() + seconds
    with Measurer(busy_workers()) as runner:
        for seed in seeds:
            for name, space in spaces.items():
                for search in searches:
                    run = _run(name, space, search, seed, trials, log, runner, until, starts)
                    if run is None:
                        return
                    yield run


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
    """One run to its end; None if the time is over before."""
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


def read_runs(log: str | os.PathLike[str], *, starts: bool = False) -> list[SearchRun]:
    """All runs that a log has, complete or not."""
    with TuningLog(log) as opened:
        trials = opened.trials()
    by_tuner: dict[str, list[Trial]] = {}
    for trial in trials:
        if trial.status != "refused":
            by_tuner.setdefault(trial.tuner, []).append(trial)
    runs: list[SearchRun] = []
    for own, found in by_tuner.items():
        words = own.split("/")
        if len(words) == 4 and (words[3] == _STARTED) == starts:
            runs.append(SearchRun(words[0], words[1], int(words[2]), _curve(found)))
    return runs


def summary_rows(runs: Sequence[SearchRun], marks: Sequence[int]) -> list[tuple[str, ...]]:
    """A table: for each workload and search the median over seeds, after so many trials each."""
    rows = [("workload", "search", "seeds", *(f"after {mark}" for mark in marks))]
    for (workload, search), group in _grouped(runs).items():
        cells = [_shown(_median_at(group, mark)) for mark in marks]
        rows.append((workload, search, str(len(group)), *cells))
    return rows


def curves_html(runs: Sequence[SearchRun]) -> str:
    """A page with a plot for each workload: the median of the seeds after each trial.

    Raises
    ------
    OptionError
        If plotly is not installed.
    """
    objects = plotly_objects()
    figures: list[Any] = []
    for workload in dict.fromkeys(run.workload for run in runs):
        figure = objects.Figure()
        for (name, search), group in _grouped(runs).items():
            if name != workload:
                continue
            most = max(len(run.curve) for run in group)
            values = [_median_at(group, n) for n in range(1, most + 1)]
            figure.add_scatter(name=search, x=list(range(1, most + 1)), y=values, mode="lines")
        figure.update_layout(
            title=workload, xaxis_title="trials", yaxis_title="GFLOP/s", template="plotly_white"
        )
        figures.append(figure)
    return page_of("searches", figures)


def _grouped(runs: Sequence[SearchRun]) -> dict[tuple[str, str], list[SearchRun]]:
    groups: dict[tuple[str, str], list[SearchRun]] = {}
    for run in runs:
        groups.setdefault((run.workload, run.search), []).append(run)
    return groups


def _median_at(runs: Sequence[SearchRun], mark: int) -> float | None:
    """The median best after so many trials, over the runs that came so far."""
    values = [run.curve[mark - 1] for run in runs if len(run.curve) >= mark]
    return median(values) if values else None


def _shown(value: float | None) -> str:
    return "-" if value is None else f"{value:.1f}"


def _own_name(name: str, search: str, seed: int, starts: bool) -> str:
    return f"{name}/{search}/{seed}/{_STARTED if starts else 'alone'}"


def _curve(trials: Sequence[Trial]) -> tuple[float, ...]:
    top, curve = 0.0, list[float]()
    for trial in trials:
        if trial.ok and trial.seconds:
            top = max(top, trial.gflops or 1.0 / trial.seconds)
        curve.append(top)
    return tuple(curve)
