"""What a measurement says: a distribution of times, or a classified failure. Plain frozen data.

>>> result = MeasureResult("ok", seconds=(2e-3, 1e-3, 3e-3))
>>> result.median, result.gflops(2e6)
(0.002, 1.0)
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Literal, cast, get_args

from tvmlab.support import ParseError

MeasureStatus = Literal[
    "ok",
    "parse_error",
    "compile_error",
    "run_error",
    "crash",
    "timeout",
    "wrong_result",
    "memory",
    "cancelled",
]
"""How a measurement ended; everything but "ok" says in `error` what happened."""

Stage = Literal["start", "parse", "build", "reference", "wait", "run", "compare", ""]
"""Where a worker was; "wait" is waiting for the machine to be quiet."""


@dataclass(frozen=True, slots=True)
class MeasureResult:
    """One measurement of one program on one machine.

    Attributes
    ----------
    status
        "ok", or the kind of failure.
    seconds
        Time of one call, once per repeat, in the order measured; empty unless "ok".
    calls_per_repeat
        How many calls each repeat averages over.
    error
        What happened, for people; empty if "ok".
    stage
        Where it failed.
    signal
        Name of the signal that ended the worker, such as "SIGSEGV".
    program_hash, machine
        What was measured, and where.
    stage_seconds
        Time of each stage of the work: parse, build, check, run ...
    disturbed
        Sentences on what may have spoilt the times, such as other processes that took the CPU.
    taken_from
        The tuner that measured it, if it is the answer to another that asked for the same program.
    """

    status: MeasureStatus
    seconds: tuple[float, ...] = ()
    calls_per_repeat: int = 1
    error: str = ""
    stage: Stage = ""
    signal: str = ""
    program_hash: str = ""
    machine: str = ""
    stage_seconds: Mapping[str, float] = field(default_factory=dict[str, float])
    disturbed: tuple[str, ...] = ()
    taken_from: str = ""

    @property
    def ok(self) -> bool:
        return self.status == "ok"

    @property
    def median(self) -> float | None:
        """The middle time; None for a failure."""
        return self._quantile(0.5)

    @property
    def q1(self) -> float | None:
        """A quarter of the repeats were at least as quick."""
        return self._quantile(0.25)

    @property
    def q3(self) -> float | None:
        """Three quarters of the repeats were at least as quick."""
        return self._quantile(0.75)

    @property
    def spread(self) -> float | None:
        """Distance of the quartiles over the median: 0.01 is quiet, 0.2 is noise."""
        if self.median is None or self.q1 is None or self.q3 is None or self.median == 0:
            return None
        return (self.q3 - self.q1) / self.median

    def gflops(self, flops: float) -> float | None:
        """Throughput for a number of floating-point operations, by the median time."""
        return flops / self.median / 1e9 if self.median else None

    def _quantile(self, share: float) -> float | None:
        if not self.seconds:
            return None
        ordered = sorted(self.seconds)
        place = share * (len(ordered) - 1)
        low = math.floor(place)
        high = min(low + 1, len(ordered) - 1)
        return ordered[low] + (place - low) * (ordered[high] - ordered[low])

    def to_json(self) -> dict[str, Any]:
        """The result as plain data for `json.dumps`."""
        data = asdict(self)
        data["seconds"] = list(self.seconds)
        data["disturbed"] = list(self.disturbed)
        data["stage_seconds"] = dict(self.stage_seconds)
        return data

    @staticmethod
    def from_json(data: object) -> MeasureResult:
        """The result that `to_json` wrote; unknown fields of a newer version are left out.

        Raises
        ------
        ParseError
            If the data is no result.
        """
        if not isinstance(data, dict):
            raise ParseError("a measurement must be a JSON object")
        fields = cast("dict[str, Any]", data)
        if fields.get("status") not in get_args(MeasureStatus):
            raise ParseError(f"a measurement cannot have the status {fields.get('status')!r}")
        try:
            return MeasureResult(
                status=fields["status"],
                seconds=tuple(float(x) for x in fields.get("seconds", ())),
                calls_per_repeat=int(fields.get("calls_per_repeat", 1)),
                error=str(fields.get("error", "")),
                stage=fields.get("stage", ""),
                signal=str(fields.get("signal", "")),
                program_hash=str(fields.get("program_hash", "")),
                machine=str(fields.get("machine", "")),
                stage_seconds={k: float(v) for k, v in fields.get("stage_seconds", {}).items()},
                disturbed=tuple(str(x) for x in fields.get("disturbed", ())),
                taken_from=str(fields.get("taken_from", "")),
            )
        except (TypeError, ValueError, AttributeError) as error:
            raise ParseError(f"a measurement has a field of the wrong type: {error}") from error
