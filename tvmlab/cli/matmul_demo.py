"""The demonstration of a matrix product as plain data, for the terminal and as JSON."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tvmlab.driver import build, count_flops
from tvmlab.inspect import (
    Gain,
    Measured,
    MeasurementReport,
    VerdictReport,
    gain_over,
    machine_report,
    measurement_report,
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
    unscheduled: MeasurementReport
    scheduled: MeasurementReport
    numpy: MeasurementReport
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
        unscheduled=_measured(slow_time),
        scheduled=_measured(fast_time),
        numpy=_measured(numpy_time),
        gain=gain_over(Measured.of(slow_time), Measured.of(fast_time)),
        check=_check(out, a.astype(np.float64) @ b.astype(np.float64)),
    )


def _measured(timing: Timing) -> MeasurementReport:
    return measurement_report(Measured.of(timing), flops=timing.flops, equal=None)


def _check(result: NDArray[Any], expected: NDArray[Any]) -> Check:
    """Sums of n products in float32 are off by about sqrt(n) roundings; ten times that is a bug."""
    eps = float(np.finfo(np.float32).eps)
    allowed = 10 * math.sqrt(len(expected)) * eps * float(np.abs(expected).max())
    largest = float(np.abs(result - expected).max())
    return Check(largest <= allowed, largest, allowed)
