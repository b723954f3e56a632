"""Random schedules of one computation, each predicted, then measured: the data of the scatter plot.

A prediction is made before its schedule is measured, by a model that has not seen it, so the plot
is honest by construction.

>>> for record in explore_space(C, n=100, seed=0):
...     print(record.predicted_gflops, record.gflops)
"""

from __future__ import annotations

import json
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from concurrent.futures import TimeoutError as NotYet
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any

from tvmlab.driver import count_flops
from tvmlab.ir import Program, structural_hash
from tvmlab.schedule import Schedule
from tvmlab.support import ScheduleError
from tvmlab.target import Target, TargetLike

from .features import Features, extract_features
from .log import RecordLog
from .measure.measurer import Measurer, Runner
from .measure.request import MeasureRequest, MeasureSettings
from .measure.result import MeasureResult
from .models.learner import Learner
from .models.ranking import rank_report
from .search import RandomSearch
from .spaces import Outputs, Space, generic_space

_POLL_SECONDS = 0.05


@dataclass(frozen=True, slots=True)
class Record:
    """One schedule: how it was made, what was predicted, what was measured.

    Attributes
    ----------
    values
        Of the knobs of the generic space.
    trace
        The steps, as `Schedule.replay` takes them.
    predicted_gflops
        Made before the measurement; None while there was no model.
    model_rows
        How many measured schedules the model had learned from then.
    gflops
        Measured throughput; None if the measurement failed.
    """

    index: int
    program_hash: str
    values: Mapping[str, Any]
    trace: str
    predicted_gflops: float | None
    model_rows: int
    gflops: float | None
    result: MeasureResult
    features: Features = field(repr=False, compare=False)

    def to_json(self) -> dict[str, Any]:
        """The record as plain data, without the features, which the trace gives again."""
        return {
            "index": self.index,
            "program_hash": self.program_hash,
            "values": dict(self.values),
            "trace": json.loads(self.trace),
            "predicted_gflops": self.predicted_gflops,
            "model_rows": self.model_rows,
            "gflops": self.gflops,
            "result": self.result.to_json(),
        }


def explore_space(
    outputs: Outputs,
    n: int,
    seed: int = 0,
    callback: Callable[[Record], None] | None = None,
    *,
    target: TargetLike = "cpu",
    measurer: Runner | None = None,
    learner: Learner | None = None,
    settings: MeasureSettings | None = None,
    check: bool = True,
    cancel: threading.Event | None = None,
    log: RecordLog | None = None,
) -> Iterator[Record]:
    """Draw, predict and measure up to `n` different schedules; yields each as it is done.

    Parameters
    ----------
    outputs
        Output tensors, or an unscheduled program.
    seed
        Decides which schedules are drawn.
    callback
        Called with each record too, before it is yielded.
    measurer
        Where to measure; by default workers of its own, ended when the exploration ends.
    learner
        The model to use and to keep up to date, with what it has learned already.
    check
        Compare each result with that of the unscheduled program.
    cancel
        When set, the exploration ends soon, and a measurement under way with it.
    log
        Gets each record too.
    """
    space = generic_space(outputs, target)
    stop = cancel or threading.Event()
    with ExitStack() as stack:
        runner = measurer or stack.enter_context(Measurer())
        task = _Task(space, Target.of(target), runner, learner or Learner(), settings, check, stop)
        for record in task.records(n, RandomSearch(space, seed)):
            if log is not None:
                log.append(record.to_json())
            if callback is not None:
                callback(record)
            yield record


@dataclass
class _Task:
    space: Space
    target: Target
    runner: Runner
    learner: Learner
    settings: MeasureSettings | None
    check: bool
    stop: threading.Event

    def __post_init__(self) -> None:
        self.flops = count_flops(self.space.program) or 0
        self.group = structural_hash(self.space.program)

    def records(self, count: int, search: RandomSearch) -> Iterator[Record]:
        for index, (values, schedule, key) in enumerate(self._fresh(count, search)):
            features = extract_features(schedule.program, self.target.num_threads)
            rows = self.learner.model.row_count
            predicted = self.learner.model.predict_gflops(features, self.group)
            result = self._measure(schedule.program)
            if result.status == "cancelled":
                return
            gflops = result.gflops(self.flops)
            self.learner.add(features, gflops, self.group)
            yield Record(
                index=index,
                program_hash=key,
                values=values,
                trace=schedule.trace.to_json(),
                predicted_gflops=None if predicted is None else float(predicted[0]),
                model_rows=rows,
                gflops=gflops,
                result=result,
                features=features,
            )
            self.learner.refit_if_due()

    def _fresh(
        self, count: int, search: RandomSearch
    ) -> Iterator[tuple[dict[str, Any], Schedule, str]]:
        """Schedules whose programs were not drawn before; fewer if the space is small."""
        seen: set[str] = set()
        while len(seen) < count and not self.stop.is_set():
            points = search.ask(1)
            if not len(points):
                return
            try:
                schedule = self.space.schedule(points[0])
            except ScheduleError:
                continue
            key = structural_hash(schedule.program)
            if key not in seen:
                seen.add(key)
                yield self.space.plain_values(points[0]), schedule, key

    def _measure(self, program: Program) -> MeasureResult:
        """Measure, and look up now and then whether to stop."""
        reference = self.space.program if self.check else None
        request = MeasureRequest.of(
            program, self.target, reference=reference, settings=self.settings
        )
        future: Future[MeasureResult] = self.runner.submit(request)
        try:
            while True:
                try:
                    return future.result(timeout=_POLL_SECONDS)
                except NotYet:
                    if self.stop.is_set():
                        self.runner.cancel(future)
        finally:
            self.runner.cancel(future)


def predicted_vs_measured(records: Sequence[Record]) -> dict[str, Any]:
    """The scatter plot's data, in GFLOP/s, and how well the predictions order the measurements.

    Only predictions made before their measurement are in it.
    """
    points = [
        {
            "index": r.index,
            "program_hash": r.program_hash,
            "predicted": r.predicted_gflops,
            "measured": r.gflops,
            "status": r.result.status,
            "model_rows": r.model_rows,
        }
        for r in records
    ]
    both = [
        (r.predicted_gflops, r.gflops)
        for r in records
        if r.predicted_gflops is not None and r.gflops is not None
    ]
    report = rank_report([p for p, _ in both], [m for _, m in both])
    failures = Counter(r.result.status for r in records if not r.result.ok)
    return {
        "unit": "GFLOP/s",
        "points": points,
        "failures": dict(failures),
        "rank": report.to_json(),
    }
