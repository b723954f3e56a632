"""`Tuner`: asks a search for points, measures their schedules, keeps the log, teaches the model.

>>> tuner = Tuner(space, log=TuningLog("tuning.sqlite"))
>>> for trial in tuner.run(200):
...     print(trial.gflops)
>>> tuner.best
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tvmlab.schedule import Schedule
from tvmlab.support import OptionError
from tvmlab.target import machine_id

from .candidate import Candidate, out_of_patience
from .chooser import Chooser
from .clock import Clock
from .log import Trial, TuningLog, target_key, workload_of
from .measure import (
    Measurer,
    MeasureRequest,
    MeasureResult,
    MeasureSettings,
    Runner,
    busy_workers,
)
from .models import AnalyticModel, CostModel, Learner, corrected, pretrained_model
from .relatives import related_points
from .search import Search, make_search
from .spaces import Points, Space
from .starts import default_starts

_POLL_SECONDS = 0.1
TUNING_SETTINGS = MeasureSettings(repeats=5, repeat_seconds=0.002, budget_seconds=0.1)
"""Quick ones: a search looks at many schedules, and the best are measured again."""


@dataclass
class Tuner:
    """A search over one space, step by step; what is in the log already counts.

    Parameters
    ----------
    log
        Where trials are kept and found again; None keeps them in memory only.
    runner
        Where to measure; by default worker processes of its own for each `run`.
    search
        The search, or its name: see `SEARCHES`.
    learner
        The model, with what it knows; by default a new one that corrects `prior`. It also learns
        from the trials of other workloads in the log, if they are of the same target and machine.
    prior
        What a new model begins with: by default the one that tvmlab comes with, and the analytic
        model where the search asks none.
    seed
        Decides all that is random, but not how long things take.
    check
        Compare each result with that of the unscheduled program.
    batch
        So many points are chosen at a time.
    patience
        Stop when so many trials in a row brought no gain; None to go on.
    transfer
        Whether to learn from other workloads in the log, and to try what was best for those that
        have the same knobs.
    settings
        How carefully to measure.
    starts
        Schedules of the same computation that are measured first. By default the one that tvmlab's
        operators give it, if the space was made from tensors; () to begin with nothing.
    name
        Of this tuner, for the log.
    watch
        After so many trials the first good one is measured again, to see whether the machine has
        changed its speed meanwhile; 0 never.
    known
        `known(program hash, best seconds so far)` is asked before a program is measured: a result
        that somebody has of it already, or None.
    """

    space: Space
    log: TuningLog | None = None
    runner: Runner | None = None
    search: Search | str = "annealing"
    learner: Learner | None = None
    prior: CostModel | AnalyticModel | None = None
    seed: int = 0
    check: bool = True
    batch: int = 16
    patience: int | None = None
    transfer: bool = True
    settings: MeasureSettings = TUNING_SETTINGS
    starts: Sequence[Schedule] | None = None
    name: str = ""
    watch: int = 25
    known: Callable[[str, float], MeasureResult | None] | None = None
    trials: list[Trial] = field(init=False, default_factory=list[Trial])
    """All trials of this workload on this machine, those found in the log first."""

    def __post_init__(self) -> None:
        self.workload = workload_of(self.space.program)
        self.target = target_key(self.space.target)
        search = (
            make_search(self.search, self.space, self.seed)
            if isinstance(self.search, str)
            else self.search
        )
        learner = self.learner or Learner(corrected(self.prior or self._beginning(search)))
        self._chooser = Chooser(self.space, search, learner, self.workload.key, self.batch)
        self._clock = Clock(self.watch)
        self.stop = threading.Event()
        for schedule in default_starts(self.space) if self.starts is None else self.starts:
            self._chooser.add_schedule(schedule)
        if self.log is not None:
            self.log.add_workload(self.workload)
            self._resume(self.log)

    def _beginning(self, search: Search) -> CostModel | AnalyticModel:
        """What a new model corrects. Searches that ask none do without XGBoost this way."""
        target = self.space.target
        return pretrained_model(target) if search.needs_model else AnalyticModel(target)

    # ---------------------------------------------------------------- results

    @property
    def best(self) -> Trial | None:
        """The fastest trial so far."""
        valid = [t for t in self.trials if t.ok and t.seconds is not None]
        return min(valid, key=lambda t: t.seconds or 0.0, default=None)

    @property
    def best_schedule(self) -> Schedule | None:
        """The schedule of the fastest trial."""
        trial = self.best
        return None if trial is None else trial.schedule(self.space.program)

    @property
    def measured(self) -> int:
        """Trials that were built and run, or tried to; refused points cost nothing."""
        return sum(t.status != "refused" for t in self.trials)

    def failures(self) -> list[tuple[str, int, str]]:
        """Causes of failure, the most frequent first: kind, how often, the first one's words."""
        groups: dict[str, list[str]] = {}
        for trial in self.trials:
            if not trial.ok:
                groups.setdefault(trial.status, []).append(trial.error)
        ordered = sorted(groups.items(), key=lambda item: -len(item[1]))
        return [(status, len(errors), errors[0]) for status, errors in ordered]

    @property
    def waiting(self) -> int:
        """How many candidates are chosen and not being measured yet."""
        return self._chooser.waiting

    @property
    def drift(self) -> float | None:
        """How much slower (or faster, if below 0) the first schedule runs than at first: 0.1 is
        10 %. None until it has been measured again.
        """
        return self._clock.drift

    # ---------------------------------------------------------------- running

    def run(self, count: int) -> Iterator[Trial]:
        """Try until `count` more have been measured; yields each trial as it is done.

        It ends earlier if the space is used up, `stop` is set, or patience is at an end. Leaving
        the loop early ends what is being measured.
        """
        with ExitStack() as stack:
            runner = self.runner or stack.enter_context(Measurer(busy_workers()))
            if isinstance(runner, Measurer):
                runner.start()  # meanwhile the first points are chosen
            pending: dict[Future[MeasureResult], Candidate] = {}
            stack.callback(lambda: [runner.cancel(future) for future in pending])
            left = count
            ahead = 2 * busy_workers()
            while not self.stop.is_set():
                while (
                    left > 0
                    and len(pending) < ahead
                    and not out_of_patience(self.trials, self.patience)
                ):
                    candidate = self._chooser.next(runner, self.stop)
                    if candidate is None:
                        left = 0
                    elif candidate.schedule is None:
                        yield self._file(candidate, None)
                    elif (answer := self._answer(candidate)) is not None:
                        left -= 1
                        yield self._file(candidate, answer)
                    else:
                        pending[runner.submit(self._request(candidate.schedule))] = candidate
                        left -= 1
                if not pending:
                    break
                done, _ = wait(pending, _POLL_SECONDS, FIRST_COMPLETED)
                for future in [f for f in pending if f in done]:  # as they were chosen
                    candidate, result = pending.pop(future), future.result()
                    if candidate.reference:
                        self._note_drift(candidate, result)
                    elif result.status != "cancelled":
                        yield self._file(candidate, result)
                        if (again := self._clock.due(candidate, result)) is not None:
                            pending[runner.submit(self._request(again.schedule))] = again

    def _answer(self, candidate: Candidate) -> MeasureResult | None:
        """What is known of a candidate without measuring it."""
        if self.known is None:
            return None
        return self.known(candidate.program_hash, self._settings().rival_seconds)

    def _request(self, schedule: Schedule | None) -> MeasureRequest:
        assert schedule is not None
        return MeasureRequest.of(
            schedule.program,
            self.space.target,
            reference=self.space.program if self.check else None,
            settings=self._settings(),
        )

    def _settings(self) -> MeasureSettings:
        """How carefully to measure now that some schedule is known."""
        best = self.best
        rival = self.settings.rival_seconds or (best.seconds if best is not None else None)
        return replace(self.settings, rival_seconds=rival or 0.0)

    def _note_drift(self, candidate: Candidate, result: MeasureResult) -> None:
        """Keep a repeated measurement, and how it differs from the first."""
        if self._clock.note(result) and self.log is not None:
            self.log.add(replace(self._trial(candidate, result), kind="reference"))

    # ----------------------------------------------------------------- filing

    def _file(self, candidate: Candidate, result: MeasureResult | None) -> Trial:
        """Keep a trial, in the log first; teach the search and the model."""
        trial = self._trial(candidate, result)
        if self.log is not None:
            self.log.add(trial, candidate.features)
        self._take_in(trial, candidate.point, candidate.features)
        return trial

    def _trial(self, candidate: Candidate, result: MeasureResult | None) -> Trial:
        common: dict[str, Any] = {
            "workload": self.workload.key,
            "target": self.target,
            "values": {} if candidate.point is None else self.space.plain_values(candidate.point),
            "predicted": candidate.predicted,
            "tuner": self.name,
        }
        if result is None or candidate.schedule is None:
            return Trial(**common, status="refused", error=candidate.error)
        return Trial(
            **common,
            machine=result.machine or machine_id(),
            trace=candidate.schedule.trace.to_json(),
            program_hash=candidate.program_hash,
            status=result.status,
            error=result.error,
            seconds=result.median,
            gflops=result.gflops(self.workload.flops) if self.workload.flops else None,
            result=result.to_json(),
        )

    def _take_in(
        self, trial: Trial, point: Points | None, features: NDArray[np.float32] | None
    ) -> None:
        self.trials.append(trial)
        self._chooser.take_in(trial, point, features)

    def _resume(self, log: TuningLog) -> None:
        """Take in what the log has of this workload and, to learn from, of others."""
        machine = machine_id()
        if self.transfer:
            rows, throughput, workloads = log.rows(target=self.target, machine=machine)
            for n, workload in enumerate(workloads):
                if workload != self.workload.key:
                    self._chooser.learner.add(rows[n], float(throughput[n]), workload)
            self._chooser.add_points(
                related_points(self.space, self.workload, log, self.target, machine)
            )
        own = log.trials(workload=self.workload.key, target=self.target, machine=machine)
        fitting = [t for t in own if not t.stale]
        points = [self._point_of(trial) for trial in fitting]
        known = [p for p in points if p is not None]
        rows = iter(self.space.features(np.stack(known)) if known else [])
        for trial, point in zip(fitting, points, strict=True):
            self._take_in(trial, point, None if point is None else next(rows))

    def _point_of(self, trial: Trial) -> Points | None:
        """The point of a trial, if it came from a space with the same knobs."""
        try:
            return self.space.point(trial.values)
        except OptionError:
            return None
