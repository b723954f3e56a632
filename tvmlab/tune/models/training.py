"""Fitting a cost model: trees on top of what is believed, their scale, and how good they are.

Rows are left out of some fits, so that what is told of the model's skill is not what it was shown.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from .belief import Belief
from .booster import Booster, BoosterOptions, Matrix
from .calibration import Calibration
from .prior import AnalyticModel
from .ranking import RankReport, rank_report

Numbers: TypeAlias = NDArray[np.float64]
LEAST_ROWS = 6
"""With fewer measured schedules there is no model."""
_FOLDS = 3
_LEAST_FOLDED = 12
ALL = ""
"""The name of the only workload, and of the scale for all of them."""


@dataclass(frozen=True, slots=True)
class HeldOut:
    """Predictions for measured rows by models that had not seen them.

    Attributes
    ----------
    predicted
        Throughput, one for each row that was fitted, in its order.
    report
        How well these order the measurements; over one workload, or the mean of several.
    """

    predicted: Numbers
    report: RankReport


@dataclass(frozen=True, slots=True)
class Trained:
    """Everything that predictions need; replaced as a whole, so that readers see old or new."""

    booster: Booster
    mean: float
    spread: float
    calibrations: Mapping[str, Calibration]
    rows: int
    held_out: HeldOut | None = None
    belief: Belief | None = None

    def scores(self, rows: Matrix) -> Numbers:
        raw = self.booster.scores(rows)
        if self.belief is not None:
            raw = raw + self.belief.scores(rows)
        return (raw - self.mean) / self.spread


@dataclass(slots=True)
class Data:
    """Measured rows, sorted so that each workload's rows stand together."""

    rows: Matrix
    throughput: Numbers
    groups: NDArray[np.str_]
    order: NDArray[np.intp] = field(init=False)

    def __post_init__(self) -> None:
        self.order = np.argsort(self.groups, kind="stable")
        self.rows = self.rows[self.order]
        self.throughput = self.throughput[self.order]
        self.groups = self.groups[self.order]

    def sizes(self, chosen: NDArray[np.bool_]) -> list[int]:
        return [int(n) for n in np.unique(self.groups[chosen], return_counts=True)[1]]


@dataclass(frozen=True, slots=True)
class Training:
    """How a model is fitted.

    Attributes
    ----------
    start
        What was fitted before, to go on from.
    prior
        What is believed without data, where nothing was fitted before.
    """

    options: BoosterOptions
    hold_out: bool
    start: Trained | None = None
    prior: AnalyticModel | None = None


def train(data: Data, how: Training) -> Trained:
    """Learn from measured schedules."""
    final = _fit_rows(data, np.ones(len(data.rows), dtype=bool), how)
    if len(data.rows) < _LEAST_FOLDED or not how.hold_out:
        scores = final.scores(data.rows)
        return replace(final, calibrations=_calibrations(data, scores))
    scores = _held_out_scores(data, how)
    calibrations = _calibrations(data, scores)
    predicted = np.empty(len(scores))
    predicted[data.order] = _on_scale(data, scores, calibrations)
    held_out = HeldOut(predicted, _report(data, scores))
    return replace(final, calibrations=calibrations, held_out=held_out)


def _fit_rows(data: Data, chosen: NDArray[np.bool_], how: Training) -> Trained:
    rows, sizes = data.rows[chosen], data.sizes(chosen)
    start, belief = None, None
    if how.start is not None:
        start, belief = how.start.booster, how.start.belief
    elif how.prior is not None:
        belief = Belief.of(how.prior, rows, sizes)
    margin = None if belief is None else belief.scores(rows)
    booster = Booster.train(rows, data.throughput[chosen], sizes, how.options, margin, start)
    plain = Trained(booster, 0.0, 1.0, {}, len(rows), belief=belief)
    scores = plain.scores(rows)
    return replace(plain, mean=float(scores.mean()), spread=float(scores.std()) or 1.0)


def _held_out_scores(data: Data, how: Training) -> Numbers:
    """A score for each row by a model that was trained without it, all on one scale."""
    scores = np.zeros(len(data.rows))
    fold = np.random.default_rng(how.options.seed).permutation(len(data.rows)) % _FOLDS
    for number in range(_FOLDS):
        inside = fold == number
        scores[inside] = _fit_rows(data, ~inside, how).scores(data.rows[inside])
    return scores


def _calibrations(data: Data, scores: Numbers) -> dict[str, Calibration]:
    """A scale for all rows, and one for each workload with enough of them. Failures have none."""
    valid = data.throughput > 0
    scales = {ALL: Calibration.fit(scores[valid], data.throughput[valid])}
    for name in np.unique(data.groups):
        of_group = valid & (data.groups == name)
        if name != ALL and np.count_nonzero(of_group) >= LEAST_ROWS:
            scales[str(name)] = Calibration.fit(scores[of_group], data.throughput[of_group])
    return scales


def _on_scale(data: Data, scores: Numbers, scales: Mapping[str, Calibration]) -> Numbers:
    result = np.empty(len(scores))
    for name in np.unique(data.groups):
        chosen = data.groups == name
        result[chosen] = scales.get(str(name), scales[ALL]).predict(scores[chosen])
    return result


def _report(data: Data, scores: Numbers) -> RankReport:
    """The report over one workload; over several, the mean weighted by their rows."""
    parts: list[RankReport] = []
    for name in np.unique(data.groups):
        chosen = data.groups == name
        parts.append(rank_report(scores[chosen], data.throughput[chosen]))
    return parts[0] if len(parts) == 1 else RankReport.mean(parts)
