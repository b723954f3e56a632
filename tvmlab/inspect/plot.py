"""Predicted against measured: the points, and how well the order was told."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tvmlab.tune import spearman

_LEAST_POINTS = 3


@dataclass(frozen=True, slots=True)
class Point:
    """One schedule that was predicted before it was measured."""

    id: str
    node: str | None
    label: str
    measured: float
    predicted: float
    current: bool


@dataclass(frozen=True, slots=True)
class PlotReport:
    """The fields are those of the protocol's `Plot`."""

    unit: str
    points: tuple[Point, ...]
    rank_correlation: float | None
    message: str | None = None


def plot_report(
    points: Sequence[Point], *, unit: str = "GFLOP/s", message: str | None = None
) -> PlotReport:
    """A plot of the points with their rank correlation, Spearman's; None below three points."""
    rho = None
    if len(points) >= _LEAST_POINTS:
        rho = spearman([p.predicted for p in points], [p.measured for p in points])
    return PlotReport(unit, tuple(points), rho, message)
