"""Predicted against measured: the points, and how well the order was told."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


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
    """A plot of the points with their rank correlation."""
    rho = spearman([p.predicted for p in points], [p.measured for p in points])
    return PlotReport(unit, tuple(points), rho, message)


def spearman(a: Sequence[float], b: Sequence[float]) -> float | None:
    """Rank correlation, -1 to 1; ties share their mean rank.

    None below three pairs, or if one side is all equal: then there is no order to compare.
    """
    if len(a) != len(b):
        raise ValueError(f"{len(a)} predictions and {len(b)} measurements are no pairs")
    if len(a) < 3:
        return None
    x, y = _ranks(a), _ranks(b)
    x, y = x - x.mean(), y - y.mean()
    norm = float(np.sqrt((x * x).sum() * (y * y).sum()))
    return float((x * y).sum() / norm) if norm > 0 else None


def _ranks(values: Sequence[float]) -> NDArray[np.float64]:
    array = np.asarray(values, np.float64)
    _, inverse, counts = np.unique(array, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    mean_rank = last - (counts - 1) / 2
    return mean_rank[inverse]
