"""Searches beside each other: the best schedule after each trial, from several seeds.

Every run is a tuner of its own name in one log, and reads no other's trials: a comparison can be
ended at any moment and goes on from its log. It is done in stages: all searches get few trials
first, workload by workload with the cheapest first, then more, so that a comparison that is cut
has medians over all seeds of whole workloads. Within a sitting no program is measured twice; see
`Answers`.

>>> for run in run_searches(spaces, ("annealing", "random"), seeds=(0, 1), trials=100, log=path):
...     print(run.search, run.best)
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass, field, replace

from tvmlab.support import ParseError, ScheduleError
from tvmlab.tune import (
    Measurer,
    MeasureRequest,
    MeasureResult,
    MeasureSettings,
    Space,
    Trial,
    Tuner,
    TuningLog,
    busy_workers,
    default_starts,
    workload_of,
)

from .answers import Answers
from .search_run import AGAIN, DEFAULT, SearchRun, curve_of, own_name, parts_of, undisturbed

_CAREFUL = MeasureSettings(repeats=10, repeat_seconds=0.01, budget_seconds=0.3)
_ROUNDS = 2


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
        tuner: str | None = None,
    ) -> list[Trial]:
        """The trials that this tuner made, of those that fit."""
        return super().trials(
            workload=workload, target=target, machine=machine, kind=kind, tuner=tuner or self.tuner
        )


def stages_of(trials: int) -> tuple[int, ...]:
    """A quarter, half and all of the trials."""
    return tuple(sorted({max(1, trials // 4), max(1, trials // 2), trials}))


def cheap_first(names: Sequence[str], log: str | os.PathLike[str]) -> list[str]:
    """Workloads by how long a trial of theirs takes, as far as the log tells."""
    seconds: dict[str, list[float]] = {}
    with TuningLog(log) as opened:
        for trial in opened.trials(kind=None):
            stages: Mapping[str, float] = trial.result.get("stage_seconds", {})
            if stages:
                name = trial.tuner.split("/")[0]
                seconds.setdefault(name, []).append(sum(stages.values()))
    known = {name: sum(spent) / len(spent) for name, spent in seconds.items()}
    return sorted(names, key=lambda name: known.get(name, 0.0))


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
        Trials after which the next workload has its turn, until all have so many; by default each
        run is done to its end.
    """
    until = None if seconds is None else time.monotonic() + seconds
    with Measurer(busy_workers()) as runner:
        sitting = _Sitting(log, runner, until, starts)
        for stage in stages or (trials,):
            for name, space in spaces.items():
                sitting.begin(name, space)
                for seed in seeds:
                    for search in searches:
                        done = sitting.run(name, space, search, seed, stage)
                        if done is None:
                            return
                        yield done


@dataclass
class _Sitting:
    """What the runs of one comparison share until it ends."""

    log: str | os.PathLike[str]
    runner: Measurer
    until: float | None
    starts: bool
    answers: dict[str, Answers] = field(default_factory=dict[str, Answers])
    found: dict[str, list[Trial]] = field(default_factory=dict[str, list[Trial]])
    """By tuner, what the log had of the workload whose turn it is."""
    stale: bool = False
    """Whether the reference is to be measured before the next trial."""

    def begin(self, name: str, space: Space) -> None:
        """A workload has its turn."""
        self.answers.setdefault(name, Answers())
        self.stale = True
        self.found = {}
        with TuningLog(self.log) as opened:
            for trial in opened.trials(workload=workload_of(space.program).key):
                if trial.status != "refused":
                    self.found.setdefault(trial.tuner, []).append(trial)

    def run(self, name: str, space: Space, search: str, seed: int, trials: int) -> SearchRun | None:
        """One run up to so many trials; None if the time is over before."""
        own = own_name(name, search, seed, self.starts)
        before = self.found.get(own, [])
        if len(before) >= trials:
            return SearchRun(name, search, seed, curve_of(before[:trials]))
        answers = self.answers[name]
        self._read_clock(name, space)
        with Chapter(self.log, own) as chapter:
            tuner = Tuner(
                space, log=chapter, runner=self.runner, search=search, seed=seed, transfer=False,
                name=own, starts=None if self.starts else (), watch=0, known=answers.find,
            )  # fmt: skip
            for trial in tuner.run(max(0, trials - tuner.measured)):
                answers.note(trial)
                if self.until is not None and time.monotonic() > self.until:
                    return None
            done = [t for t in tuner.trials if t.status != "refused"][:trials]
        return SearchRun(name, search, seed, curve_of(done))

    def _read_clock(self, name: str, space: Space) -> None:
        """Measure the default schedule, the reference, once for each turn of a workload."""
        if not self.stale:
            return
        self.stale = False
        first = self.found.get(own_name(name, DEFAULT, 0, self.starts), [])[:1]
        with TuningLog(self.log) as opened:
            for again in _repeated(first, space, self.runner):
                opened.add(replace(again, kind="reference"))
                if again.seconds:
                    self.answers[name].read(again.seconds)


def measure_defaults(
    spaces: Mapping[str, Space], log: str | os.PathLike[str], *, starts: bool = False
) -> None:
    """Measure the default schedule of each workload that the log has none of."""
    with Measurer(busy_workers()) as runner:
        for name, space in spaces.items():
            own = own_name(name, DEFAULT, 0, starts)
            with Chapter(log, own) as chapter:
                if chapter.trials(workload=workload_of(space.program).key):
                    continue
                found = default_starts(space)
                tuner = Tuner(
                    space, log=chapter, runner=runner, search="random", transfer=False, name=own,
                    starts=found, watch=0, settings=_CAREFUL,
                )  # fmt: skip
                if found:
                    for _ in tuner.run(1):
                        pass


def measure_again(
    spaces: Mapping[str, Space], log: str | os.PathLike[str], *, starts: bool = False
) -> None:
    """Measure the best schedule of each run with care, those of one workload beside each other.

    Runs that ended with the same program share a measurement. What was disturbed does not count.
    """
    best = _best_trials(log, starts)
    with Measurer(busy_workers()) as runner, TuningLog(log) as opened:
        for name, space in spaces.items():
            of_workload = {own: t for own, t in best.items() if own.split("/")[0] == name}
            different = {t.program_hash: t for t in of_workload.values()}
            for _ in range(_ROUNDS):
                found = {t.program_hash: t for t in _repeated(different.values(), space, runner)}
                for own, trial in of_workload.items():
                    if trial.program_hash in found:
                        opened.add(replace(found[trial.program_hash], tuner=own))


def _repeated(trials: Iterable[Trial], space: Space, runner: Measurer) -> Iterator[Trial]:
    """Trials measured again with care; those with steps of another version are left out."""
    under_way: list[tuple[Trial, Future[MeasureResult]]] = []
    flops = workload_of(space.program).flops
    for trial in trials:
        with suppress(ParseError, ScheduleError):
            program = trial.schedule(space.program).program
            request = MeasureRequest.of(program, space.target, settings=_CAREFUL)
            under_way.append((trial, runner.submit(request)))
    for trial, future in under_way:
        result = future.result()
        yield replace(
            trial, kind=AGAIN, status=result.status, error=result.error, seconds=result.median,
            result=result.to_json(), gflops=result.gflops(flops), when=time.time(),
        )  # fmt: skip


def _best_trials(log: str | os.PathLike[str], starts: bool) -> dict[str, Trial]:
    """The fastest trial of each run whose best one was not measured again yet."""
    with TuningLog(log) as opened:
        repeats = [t for t in opened.trials(kind=AGAIN) if undisturbed(t)]
        again = {(t.tuner, t.program_hash) for t in repeats}
        fastest: dict[str, Trial] = {}
        for trial in opened.trials():
            if parts_of(trial.tuner, starts) and trial.trace and trial.ok and trial.seconds:
                known = fastest.get(trial.tuner)
                if known is None or trial.seconds < (known.seconds or 0.0):
                    fastest[trial.tuner] = trial
    return {own: t for own, t in fastest.items() if (own, t.program_hash) not in again}
