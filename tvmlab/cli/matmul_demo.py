"""The demonstration of a matrix product as plain data, for the terminal and as JSON."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tvmlab.driver import build, count_flops
from tvmlab.inspect import (
    Gain,
    Measured,
    VerdictReport,
    gain_over,
    machine_report,
    nest_report,
    nest_text,
    verdict_report,
    workload_report,
)
from tvmlab.runtime import Timing, measure
from tvmlab.schedule import Schedule
from tvmlab.target import Target
from tvmlab.topi import matmul, schedule_matmul

_REPEATS = 10
_SLOW_REPEATS = 3
"""The nest as written is slow and steady; few repeats tell its time."""


@dataclass(frozen=True, slots=True)
class Timed:
    """A timing: seconds at the median and quartiles, and throughput."""

    median: float
    quartiles: tuple[float, float]
    gflops: float | None


@dataclass(frozen=True, slots=True)
class Check:
    """The comparison with NumPy: the largest difference, and what rounding can explain."""

    agrees: bool
    largest_difference: float
    allowed_difference: float

    def __str__(self) -> str:
        verb = "agrees" if self.agrees else "does NOT agree"
        return (
            f"The result {verb} with NumPy: the largest difference is "
            f"{self.largest_difference:.1e}, rounding explains up to {self.allowed_difference:.1e}."
        )


@dataclass(frozen=True, slots=True)
class MatmulDemo:
    """Everything that the demonstration shows."""

    workload: str
    machine: str
    operations: int
    before: str
    refused_step: str
    refused: VerdictReport
    python: str
    after: str
    unscheduled: Timed
    scheduled: Timed
    numpy: Timed
    gain: Gain | None
    check: Check


def run_matmul(size: int) -> MatmulDemo:
    """Schedule, build and measure a square matrix product."""
    _, _, c = matmul(size, size, size)
    plain, fast = Schedule(c, name="matmul"), schedule_matmul(c)
    k = plain.loops("C")[2]
    rng = np.random.default_rng(0)
    a, b = (rng.standard_normal((size, size), dtype=np.float32) for _ in range(2))
    out = np.empty_like(a)
    slow_time = build(plain).time(a, b, out, repeats=_SLOW_REPEATS)
    out.fill(np.nan)  # so that only the scheduled kernel can make the check pass
    fast_time = build(fast).time(a, b, out, repeats=_REPEATS)
    expected = np.empty_like(a)
    operations = count_flops(plain.program) or 0
    numpy_time = measure(
        lambda: np.matmul(a, b, out=expected), repeats=_REPEATS, flops=float(operations)
    )
    return MatmulDemo(
        workload=workload_report(plain.program).summary,
        machine=machine_report(Target.host()).summary,
        operations=operations,
        before=nest_text(nest_report(plain)),
        refused_step="parallel(k)",
        refused=verdict_report(plain.check("parallel", k)),
        python=fast.trace.to_python(),
        after=nest_text(nest_report(fast)),
        unscheduled=_timed(slow_time),
        scheduled=_timed(fast_time),
        numpy=_timed(numpy_time),
        gain=gain_over(Measured.of(slow_time), Measured.of(fast_time)),
        check=_check(out, a.astype(np.float64) @ b.astype(np.float64)),
    )


def _timed(timing: Timing) -> Timed:
    return Timed(timing.median, timing.quartiles, timing.gflops)


def _check(result: np.ndarray, expected: np.ndarray) -> Check:
    """Sums of n products in float32 are off by about sqrt(n) roundings; ten times that is a bug."""
    size = len(expected)
    rounding = 10 * np.sqrt(size) * np.finfo(np.float32).eps * np.abs(expected).max()
    difference = float(np.abs(result - expected).max())
    return Check(difference <= rounding, difference, float(rounding))
