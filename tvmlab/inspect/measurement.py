"""A measurement as views show it, and the comparison of two of them.

A speed-up is a range, from the quartiles of both timings. Where that range contains 1, the two are
not told apart and the gain is called noise.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from tvmlab.runtime import Timing

from .wording import duration, times

MeasurementStatus = Literal["none", "queued", "running", "done", "failed"]
GainKind = Literal["gain", "loss", "noise"]


@dataclass(frozen=True, slots=True)
class Measured:
    """The times of one program on this machine."""

    median: float
    lower: float
    upper: float
    repeats: int

    @staticmethod
    def of(timing: Timing) -> Measured:
        """From a timing taken in this process."""
        lower, upper = timing.quartiles
        return Measured(timing.median, lower, upper, timing.repeats)

    def __str__(self) -> str:
        return (
            f"{duration(self.median)} median of {self.repeats}, "
            f"quartiles {duration(self.lower)} to {duration(self.upper)}"
        )


@dataclass(frozen=True, slots=True)
class Gain:
    """How much faster than the state it is compared with."""

    ratio: float
    low: float
    high: float
    kind: GainKind

    def __str__(self) -> str:
        return f"{times(self.ratio)} in noise" if self.kind == "noise" else times(self.ratio)


@dataclass(frozen=True, slots=True)
class MeasurementReport:
    """The newest timing; the fields are those of the protocol's `Measurement`."""

    status: MeasurementStatus
    median: float | None = None
    lower: float | None = None
    upper: float | None = None
    repeats: int | None = None
    gflops: float | None = None
    stale: bool = False
    equal: bool | None = None
    message: str | None = None

    def __str__(self) -> str:
        if self.median is None or self.lower is None or self.upper is None:
            return self.message or "not measured"
        parts = [str(Measured(self.median, self.lower, self.upper, self.repeats or 0))]
        if self.gflops is not None:
            parts.append(f"{self.gflops:.1f} GFLOP/s")
        if self.equal is not None:
            parts.append(equality_words(self.equal))
        if self.message:
            parts.append(self.message)
        return " · ".join(parts)


def measurement_report(
    measured: Measured,
    *,
    flops: float | None,
    equal: bool | None,
    message: str | None = None,
    stale: bool = False,
) -> MeasurementReport:
    """A finished measurement.

    Parameters
    ----------
    flops
        Operations of the computation, for the throughput; None or 0 if there is none to tell.
    equal
        Whether the result was compared with the unscheduled program's, and agreed.
    """
    return MeasurementReport(
        "done",
        measured.median,
        measured.lower,
        measured.upper,
        measured.repeats,
        flops / measured.median / 1e9 if flops and measured.median > 0 else None,
        stale,
        equal,
        message,
    )


def equality_words(equal: bool) -> str:
    """What the check against the unscheduled program says."""
    return "equal to the unscheduled program" if equal else "NOT equal to the unscheduled program"


def gain_over(base: Measured | None, new: Measured | None) -> Gain | None:
    """How much faster `new` is than `base`; None while either is unmeasured."""
    if base is None or new is None or min(new.lower, new.median, base.lower) <= 0:
        return None
    low, high = base.lower / new.upper, base.upper / new.lower
    kind: GainKind = "gain" if low > 1 else "loss" if high < 1 else "noise"
    return Gain(base.median / new.median, low, high, kind)
