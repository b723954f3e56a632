"""One tried schedule, as it is kept: what it computes, for what, where, how, what came out."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from functools import lru_cache
from typing import Any, cast

from tvmlab.driver import count_flops
from tvmlab.ir import Program, parse, structural_hash, to_text
from tvmlab.schedule import Schedule
from tvmlab.support import ParseError
from tvmlab.target import Target, machine_id
from tvmlab.tune.features import REVISION, feature_names
from tvmlab.tune.measure import MeasureResult

LOG_VERSION = 1


@lru_cache(maxsize=1)
def versions() -> dict[str, Any]:
    """What must be the same for an entry to be read as it was meant."""
    names = hashlib.sha256("\n".join(feature_names()).encode()).hexdigest()[:8]
    return {"log": LOG_VERSION, "features": f"{names}.{REVISION}"}


def throughput(status: str, gflops: float | None, seconds: float | None) -> float:
    """More is better, 0 for a failure; without arithmetic, runs in a nanosecond."""
    if status != "ok" or not seconds:
        return 0.0
    return gflops or 1e-9 / seconds


def target_key(target: Target) -> str:
    """A target as one line of text that differs where generated code may."""
    digest = hashlib.sha256(target.features.encode()).hexdigest()[:6]
    return f"{target.kind} {target.triple} {target.cpu} {digest} threads={target.num_threads}"


@dataclass(frozen=True, slots=True)
class Workload:
    """A computation to find schedules for.

    Attributes
    ----------
    key
        Hash of its unscheduled program: the same for the same formula and sizes.
    text
        That program.
    flops
        Floating-point operations of one run; 0 if there are none.
    """

    key: str
    name: str
    text: str
    flops: float

    @property
    def program(self) -> Program:
        return parse(self.text)


def workload_of(program: Program) -> Workload:
    """The workload of an unscheduled program."""
    return Workload(
        structural_hash(program), program.name, to_text(program), float(count_flops(program) or 0)
    )


@dataclass(frozen=True, slots=True)
class Trial:
    """One tried schedule.

    Attributes
    ----------
    workload, target, machine
        What it computes, what it was built for, where it ran.
    trace
        The steps, as `Schedule.replay` takes them; empty if they were refused.
    values
        The values of the knobs of its space.
    status, error
        "ok", or the kind of failure and its words; see `MeasureStatus`. "refused" is a point of the
        space whose steps are not allowed.
    seconds
        Median time of one run; None for a failure.
    gflops
        Throughput; None for a failure.
    predicted
        What the model expected, in GFLOP/s; None if there was none.
    kind
        "trial", or "reference" for a repeat that watches the clock.
    """

    workload: str
    target: str
    machine: str = field(default_factory=machine_id)
    trace: str = ""
    values: Mapping[str, Any] = field(default_factory=dict[str, Any])
    program_hash: str = ""
    status: str = "ok"
    error: str = ""
    seconds: float | None = None
    gflops: float | None = None
    predicted: float | None = None
    kind: str = "trial"
    result: Mapping[str, Any] = field(default_factory=dict[str, Any])
    versions: Mapping[str, Any] = field(default_factory=versions)
    tuner: str = ""
    when: float = field(default_factory=time.time)

    @property
    def ok(self) -> bool:
        return self.status == "ok"

    @property
    def foreign(self) -> bool:
        """Whether it was measured on another machine than this."""
        return self.machine != machine_id()

    @property
    def stale(self) -> bool:
        """Whether another version of tvmlab wrote it, in a form that this one may misread."""
        return self.versions.get("log") != LOG_VERSION

    def measurement(self) -> MeasureResult:
        """The whole measurement."""
        return MeasureResult.from_json(dict(self.result))

    def schedule(self, program: Program) -> Schedule:
        """Its schedule of the workload's program.

        Raises
        ------
        ScheduleError, ParseError
            If its steps no longer fit.
        """
        return Schedule.replay(program, self.trace)

    def to_json(self) -> dict[str, Any]:
        """The trial as plain data."""
        return asdict(self)

    @staticmethod
    def from_json(data: object) -> Trial:
        """The trial that `to_json` wrote; fields that this version does not know are left out.

        Raises
        ------
        ParseError
            If the data is no trial.
        """
        if not isinstance(data, dict):
            raise ParseError("a trial must be a JSON object")
        given = cast("dict[str, Any]", data)
        known = {f.name for f in fields(Trial)}
        try:
            trial = Trial(**{k: v for k, v in given.items() if k in known})
        except TypeError as error:
            raise ParseError(f"this is no trial: {error}") from error
        texts = (trial.workload, trial.target, trial.machine, trial.trace, trial.status)
        numbers = (trial.seconds, trial.gflops, trial.predicted)
        if not all(isinstance(t, str) for t in texts) or not all(  # pyright: ignore[reportUnnecessaryIsInstance]
            n is None or isinstance(n, (int, float))  # pyright: ignore[reportUnnecessaryIsInstance]
            for n in numbers
        ):
            raise ParseError("a trial has a field of the wrong type")
        return trial


def compact(data: Any) -> str:
    """JSON without spaces, for a column of the log."""
    return json.dumps(data, separators=(",", ":"), allow_nan=False)
