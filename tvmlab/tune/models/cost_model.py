"""A learned cost model: which of two schedules is faster, and about how fast, without running them.

It starts with no data, is fitted again as measurements arrive, and learns from several workloads at
once: rows are only ranked against rows of their own workload.

>>> model = CostModel()
>>> model.predict(features) is None
True
>>> model.fit(features, gflops)
>>> model.predict_gflops(features)
array([...])
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeAlias, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tvmlab.support import ParseError, ShapeError, write_whole
from tvmlab.tune.features import feature_names

from .belief import Belief
from .booster import Booster, BoosterOptions, Matrix
from .calibration import Calibration
from .contribution import Contribution
from .prior import AnalyticModel
from .ranking import RankReport, rank_report

Numbers: TypeAlias = NDArray[np.float64]
FORMAT, VERSION = "tvmlab cost model", 1
LEAST_ROWS = 6
"""With fewer measured schedules there is no model."""
_FOLDS = 3
_LEAST_FOLDED = 12
_ALL = ""


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
class _Trained:
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
class _Data:
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


class CostModel:
    """Boosted trees over loop-nest features, trained on pairs, with a scale in GFLOP/s.

    Parameters
    ----------
    hold_out
        Whether each fit also trains models that leave rows out, for `held_out` and an honest scale;
        without, it is four times as quick.
    prior
        A model that needs no data, which this one corrects: so few rows go a long way. Without one
        it knows nothing but what it has learned.
    """

    def __init__(
        self,
        options: BoosterOptions | None = None,
        *,
        hold_out: bool = True,
        prior: AnalyticModel | None = None,
    ) -> None:
        self.options = options or BoosterOptions()
        self.hold_out = hold_out
        self.prior = prior
        self._trained: _Trained | None = None

    @property
    def trained(self) -> bool:
        return self._trained is not None

    @property
    def row_count(self) -> int:
        """How many measured schedules it has learned from."""
        return self._trained.rows if self._trained else 0

    @property
    def held_out(self) -> HeldOut | None:
        """Predictions for the fitted rows by models that had not seen them; None with few rows."""
        return self._trained.held_out if self._trained else None

    def fit(
        self, features: ArrayLike, gflops: ArrayLike, groups: Sequence[str] | None = None
    ) -> None:
        """Learn from measured schedules, from scratch. With too few rows nothing is learned.

        Parameters
        ----------
        features
            One row for each schedule, as `extract_batch` makes them.
        gflops
            Measured throughput; 0 for a schedule that failed, which is then worse than all others.
        groups
            The workload of each row; by default all rows are of one.

        Raises
        ------
        ShapeError
            If the arguments do not have one entry for each row, or rows of another length.
        OptionError
            If XGBoost is not installed.
        """
        rows = _matrix(features)
        throughput = np.asarray(gflops, np.float64).ravel()
        names = np.array(groups if groups is not None else [_ALL] * len(rows), dtype=np.str_)
        if not len(rows) == len(throughput) == len(names):
            raise ShapeError(
                f"{len(rows)} rows of features, {len(throughput)} throughputs and {len(names)} "
                f"workloads do not fit together"
            )
        if np.count_nonzero(throughput > 0) < LEAST_ROWS:
            return
        data = _Data(rows, throughput, names)
        self._trained = _train(data, self)

    def predict(self, features: ArrayLike) -> Numbers | None:
        """Scores, higher is faster; None before anything was learned. They have no unit."""
        return None if self._trained is None else self._trained.scores(_matrix(features))

    def predict_gflops(self, features: ArrayLike, group: str = _ALL) -> Numbers | None:
        """Throughput in GFLOP/s; None before anything was learned.

        Parameters
        ----------
        group
            The workload, if it is among those that were fitted; else the scale of all is used.
        """
        trained = self._trained
        if trained is None:
            return None
        scale = trained.calibrations.get(group, trained.calibrations[_ALL])
        return scale.predict(trained.scores(_matrix(features)))

    def explain(self, features: ArrayLike, most: int = 10) -> list[Contribution]:
        """The features of one schedule that move its score most, strongest first.

        The effects of all features and a constant sum to the score.
        """
        trained = self._trained
        if trained is None:
            return []
        row = _matrix(features)[:1]
        effects = trained.booster.contributions(row)[0, :-1] / trained.spread
        strongest: list[int] = np.argsort(-np.abs(effects), kind="stable")[:most].tolist()
        names = feature_names()
        found = [
            Contribution(names[n], float(row[0, n]), float(effects[n]))
            for n in strongest
            if effects[n] != 0
        ]
        if trained.belief is not None:
            found.append(trained.belief.contribution(row, trained.spread))
        return sorted(found, key=lambda c: -abs(c.effect))[:most]

    def to_json(self) -> dict[str, Any]:
        """The model as plain data; what it was fitted on is not kept."""
        trained = self._trained
        data: dict[str, Any] = {
            "format": FORMAT,
            "version": VERSION,
            "features": list(feature_names()),
            "rows": self.row_count,
        }
        if trained is not None:
            data["booster"] = trained.booster.to_json()
            data["scale"] = [trained.mean, trained.spread]
            data["calibrations"] = {k: c.to_json() for k, c in trained.calibrations.items()}
            if trained.belief is not None:
                data["belief"] = trained.belief.to_json()
        return data

    @staticmethod
    def from_json(data: object) -> CostModel:
        """The model that `to_json` wrote.

        Raises
        ------
        ParseError
            If the data is no model, or one for other features than this tvmlab has.
        """
        if not isinstance(data, dict) or cast("dict[str, Any]", data).get("format") != FORMAT:
            raise ParseError("this is no tvmlab cost model")
        fields = cast("dict[str, Any]", data)
        if fields.get("version") != VERSION or fields.get("features") != list(feature_names()):
            raise ParseError(
                "this cost model was made by another version of tvmlab, with other features",
                hint="fit a new one from the measurements",
            )
        model = CostModel()
        if "booster" in fields:
            mean, spread = (float(x) for x in fields["scale"])
            model._trained = _Trained(
                Booster.from_json(fields["booster"]),
                mean,
                spread,
                {k: Calibration.from_json(c) for k, c in fields["calibrations"].items()},
                int(fields["rows"]),
                belief=Belief.from_json(fields["belief"]) if "belief" in fields else None,
            )
        return model

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to a JSON file, whole or not at all."""
        write_whole(Path(path), json.dumps(self.to_json()))

    @staticmethod
    def load(path: str | os.PathLike[str]) -> CostModel:
        """Read a model that `save` wrote.

        Raises
        ------
        ParseError
            If the file holds no model that fits.
        """
        try:
            return CostModel.from_json(json.loads(Path(path).read_text()))
        except ValueError as error:
            raise ParseError(f"{path} holds no cost model: {error}") from error


def _matrix(features: ArrayLike) -> Matrix:
    rows = np.atleast_2d(np.asarray(features, np.float32))
    width = len(feature_names())
    if rows.size == 0:
        return rows.reshape(0, width)
    if rows.shape[1] != width:
        raise ShapeError(
            f"a row of features has {width} entries, not {rows.shape[1]}",
            hint="make rows with tvmlab.tune.extract_batch",
        )
    return rows


def _train(data: _Data, model: CostModel) -> _Trained:
    final = _fit_rows(data, np.ones(len(data.rows), dtype=bool), model)
    if len(data.rows) < _LEAST_FOLDED or not model.hold_out:
        scores = final.scores(data.rows)
        return replace(final, calibrations=_calibrations(data, scores))
    scores = _held_out_scores(data, model)
    calibrations = _calibrations(data, scores)
    predicted = np.empty(len(scores))
    predicted[data.order] = _on_scale(data, scores, calibrations)
    held_out = HeldOut(predicted, _report(data, scores))
    return replace(final, calibrations=calibrations, held_out=held_out)


def _fit_rows(data: _Data, chosen: NDArray[np.bool_], model: CostModel) -> _Trained:
    rows, sizes = data.rows[chosen], data.sizes(chosen)
    belief = None if model.prior is None else Belief.of(model.prior, rows, sizes)
    margin = None if belief is None else belief.scores(rows)
    booster = Booster.train(rows, data.throughput[chosen], sizes, model.options, margin)
    plain = _Trained(booster, 0.0, 1.0, {}, len(rows), belief=belief)
    scores = plain.scores(rows)
    return replace(plain, mean=float(scores.mean()), spread=float(scores.std()) or 1.0)


def _held_out_scores(data: _Data, model: CostModel) -> Numbers:
    """A score for each row by a model that was trained without it, all on one scale."""
    scores = np.zeros(len(data.rows))
    fold = np.random.default_rng(model.options.seed).permutation(len(data.rows)) % _FOLDS
    for number in range(_FOLDS):
        inside = fold == number
        scores[inside] = _fit_rows(data, ~inside, model).scores(data.rows[inside])
    return scores


def _calibrations(data: _Data, scores: Numbers) -> dict[str, Calibration]:
    """A scale for all rows, and one for each workload with enough of them. Failures have none."""
    valid = data.throughput > 0
    scales = {_ALL: Calibration.fit(scores[valid], data.throughput[valid])}
    for name in np.unique(data.groups):
        of_group = valid & (data.groups == name)
        if name != _ALL and np.count_nonzero(of_group) >= LEAST_ROWS:
            scales[str(name)] = Calibration.fit(scores[of_group], data.throughput[of_group])
    return scales


def _on_scale(data: _Data, scores: Numbers, scales: Mapping[str, Calibration]) -> Numbers:
    result = np.empty(len(scores))
    for name in np.unique(data.groups):
        chosen = data.groups == name
        result[chosen] = scales.get(str(name), scales[_ALL]).predict(scores[chosen])
    return result


def _report(data: _Data, scores: Numbers) -> RankReport:
    """The report over one workload; over several, the mean weighted by their rows."""
    parts: list[RankReport] = []
    for name in np.unique(data.groups):
        chosen = data.groups == name
        parts.append(rank_report(scores[chosen], data.throughput[chosen]))
    return parts[0] if len(parts) == 1 else RankReport.mean(parts)
