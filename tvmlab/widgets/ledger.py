"""What is known of the speed of programs.

Measurements are kept by what a program is, not by where it stands in the history, so that coming
back to a state finds its figures again.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal

from tvmlab.inspect import (
    Measured,
    MeasurementReport,
    PlotReport,
    Point,
    measurement_report,
    plot_report,
)
from tvmlab.tune import MeasureResult

Pending = Literal["queued", "running"]


@dataclass(frozen=True, slots=True)
class PlottedSchedule:
    """A schedule of an exploration, or a state of the history, that was predicted and measured."""

    program_hash: str
    label: str
    predicted: float
    measured: float
    trace: str | None
    node: int | None


class Ledger:
    """Measurements, the one that is under way, and the points of the plot.

    Parameters
    ----------
    flops
        Operations of the computation, which all its schedules share.

    Attributes
    ----------
    remark
        What the plot's predictions stand on, or why there are none.
    seen
        Hashes of programs that the model has learned from: what it says of them is no prediction.
    """

    def __init__(self, flops: int | None) -> None:
        self.flops = flops
        self.points: list[PlottedSchedule] = []
        self.seen: set[str] = set()
        self.remark = ""
        self._results: dict[str, MeasureResult] = {}
        self._checked: dict[str, bool] = {}
        self._newest: str | None = None
        self._pending: tuple[str, Pending] | None = None

    def expect(self, program_hash: str, status: Pending) -> None:
        """A measurement waits ("queued") or is under way ("running")."""
        self._pending = (program_hash, status)

    def forget_expected(self) -> None:
        """What was expected is there, but not to be shown yet."""
        self._pending = None

    def enter(self, result: MeasureResult, program_hash: str, *, checked: bool) -> None:
        """Write down the result of a measurement, and forget that it was expected."""
        self._pending = None
        self._newest = program_hash
        self.file(result, program_hash, checked=checked)

    def file(self, result: MeasureResult, program_hash: str, *, checked: bool) -> None:
        """Keep a result for whenever its program is shown."""
        good = self._results.get(program_hash)
        if result.status == "cancelled" and good is not None:
            return  # the older figures still hold
        self._results[program_hash] = result
        self._checked[program_hash] = checked

    def file_aside(self, result: MeasureResult, program_hash: str) -> None:
        """Keep the result of a program that is no state of the history."""
        self._pending = None
        self.file(result, program_hash, checked=True)

    def measured(self, program_hash: str) -> Measured | None:
        """The times of a program, if it was measured well."""
        result = self._results.get(program_hash)
        return None if result is None else measured_of(result)

    def report(self, current: str) -> MeasurementReport:
        """The timing to show beside a program: its own, or the newest one marked as stale."""
        shown = current if current in self._results else self._newest_good()
        report = MeasurementReport("none")
        if shown is not None:
            report = self._of(shown, stale=shown != current)
        if self._pending is not None and (self._pending[0] == current or shown != current):
            status = self._pending[1]
            stale = report.stale or report.median is not None
            return replace(report, status=status, stale=stale, message=None)
        return report

    def plot(self, current: str, node: int) -> PlotReport:
        """Predicted against measured."""
        points = [
            Point(
                id=f"P{number}",
                node=None if p.node is None else str(p.node),
                label=p.label,
                measured=p.measured,
                predicted=p.predicted,
                current=p.program_hash == current and p.node in (None, node),
            )
            for number, p in enumerate(self.points)
        ]
        return plot_report(points, message=self.remark or None)

    def point(self, name: str) -> PlottedSchedule | None:
        """The schedule behind a point of the plot."""
        number = name[1:]
        if not name.startswith("P") or not number.isdigit() or int(number) >= len(self.points):
            return None
        return self.points[int(number)]

    def results(self) -> Iterator[tuple[str, MeasureResult, bool]]:
        """Everything that was measured: the program's hash, the result, whether it was checked."""
        for program_hash, result in self._results.items():
            yield program_hash, result, self._checked[program_hash]

    def good_results(self) -> Iterator[tuple[str, float]]:
        """Hashes and medians of all programs that were measured well."""
        for program_hash, result in self._results.items():
            if result.median is not None:
                yield program_hash, result.median

    def _newest_good(self) -> str | None:
        if self._newest is not None and self.measured(self._newest) is not None:
            return self._newest
        good = [h for h, _ in self.good_results()]
        return good[-1] if good else None

    def _of(self, program_hash: str, *, stale: bool) -> MeasurementReport:
        result, times = self._results[program_hash], self.measured(program_hash)
        if times is None:
            equal = False if result.status == "wrong_result" else None
            status = "none" if result.status == "cancelled" else "failed"
            return MeasurementReport(status, equal=equal, message=result.error)
        return measurement_report(
            times,
            flops=self.flops,
            # Whether an older program was right says nothing of this one.
            equal=True if self._checked[program_hash] and not stale else None,
            message="; ".join(result.disturbed) or "machine quiet",
            stale=stale,
        )


def measured_of(result: MeasureResult) -> Measured | None:
    """The times of a result; None if it is a failure."""
    if result.median is None or result.q1 is None or result.q3 is None:
        return None
    return Measured(result.median, result.q1, result.q3, len(result.seconds))
