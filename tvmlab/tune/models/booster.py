"""Gradient-boosted trees that learn to rank: the one place that imports XGBoost, on first need."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from tvmlab.support import OptionError, shown

OBJECTIVES = ("rank", "regression")
Matrix: TypeAlias = NDArray[np.float32]
Numbers: TypeAlias = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class BoosterOptions:
    """How trees are grown: shallow ones in small steps, for there are few data and many features.

    Parameters
    ----------
    objective
        "rank" learns which of two rows is better, "regression" how much better than the best.
    partners
        With how many others of its group each row is compared; all of them if there are no more.
    threads
        One by default: the data are small, and more threads wait for each other on a busy machine.
    """

    objective: str = "rank"
    rounds: int = 80
    depth: int = 4
    rate: float = 0.1
    min_child: float = 0.1
    row_share: float = 0.8
    column_share: float = 0.5
    l2: float = 5.0
    partners: int = 128
    seed: int = 0
    threads: int = 1

    def __post_init__(self) -> None:
        if self.objective not in OBJECTIVES:
            raise OptionError(
                f"a model cannot learn by {shown(self.objective)}",
                hint=f"objectives are {' and '.join(OBJECTIVES)}",
            )


class Booster:
    """Trained trees."""

    def __init__(self, handle: Any, columns: int) -> None:
        self._handle = handle
        self.columns = columns

    @staticmethod
    def train(
        rows: Matrix,
        labels: Numbers,
        groups: Sequence[int],
        options: BoosterOptions,
        margin: Numbers | None = None,
        start: Booster | None = None,
    ) -> Booster:
        """Learn to order the rows of each group by their labels; rows of two groups never compete.

        With a margin the trees learn what is to be added to it; with trees to start with, what is
        to be added to those, which the result has too.

        The loss of a pair is `log(1 + exp(score of the worse - score of the better))`, summed over
        pairs as in RankNet (Burges et al., 2005). XGBoost's own `rank:pairwise` draws too few pairs
        to learn from a hundred rows.
        """
        params = {
            "disable_default_eval_metric": True,
            "base_score": 0.0,
            "max_depth": options.depth,
            "eta": options.rate,
            "min_child_weight": options.min_child,
            "subsample": options.row_share,
            "colsample_bytree": options.column_share,
            "lambda": options.l2,
            "seed": options.seed,
            # XGBoost seeds before its first tree only: those that follow others would be drawn by
            # whatever was drawn last in this process.
            "seed_per_iteration": start is not None,
            "tree_method": "hist",
            "nthread": options.threads,
            "verbosity": 0,
        }
        xgboost = require_xgboost()
        data = xgboost.DMatrix(rows, label=labels.astype(np.float32), nthread=options.threads)
        if margin is not None:
            data.set_base_margin(margin)
        if options.objective == "rank":
            loss = _loss(_pairs(labels, groups, options), len(rows))
        else:
            loss = _squared(_shortfalls(labels, groups))
        known = None if start is None else start._handle
        handle = xgboost.train(
            params, data, num_boost_round=options.rounds, obj=loss, xgb_model=known
        )
        return Booster(handle, rows.shape[1])

    def scores(self, rows: Matrix) -> Numbers:
        """One score for each row; higher is better."""
        return np.asarray(self._handle.inplace_predict(rows), dtype=np.float64)

    def contributions(self, rows: Matrix) -> Numbers:
        """What each feature adds to each score; the last column is the base.

        They sum to the score (TreeSHAP, Lundberg et al., 2018).
        """
        data = require_xgboost().DMatrix(rows, nthread=BoosterOptions().threads)
        return np.asarray(self._handle.predict(data, pred_contribs=True), dtype=np.float64)

    def to_json(self) -> dict[str, Any]:
        """The trees as XGBoost's own JSON."""
        return {"columns": self.columns, "trees": json.loads(self._handle.save_raw("json"))}

    @staticmethod
    def from_json(data: dict[str, Any]) -> Booster:
        """The trees that `to_json` wrote."""
        handle = require_xgboost().Booster()
        handle.load_model(bytearray(json.dumps(data["trees"]).encode()))
        handle.set_param({"nthread": BoosterOptions().threads})
        return Booster(handle, int(data["columns"]))


@dataclass(frozen=True, slots=True)
class _Pairs:
    """Rows of which the first is better than the second, and the weight of each pair."""

    better: NDArray[np.intp]
    worse: NDArray[np.intp]
    weight: Numbers


def _pairs(labels: Numbers, groups: Sequence[int], options: BoosterOptions) -> _Pairs:
    rng = np.random.default_rng(options.seed)
    first: list[NDArray[np.intp]] = []
    second: list[NDArray[np.intp]] = []
    weight: list[Numbers] = []
    start = 0
    for size in groups:
        a, b = _candidates(size, options.partners, rng)
        a, b = a + start, b + start
        order = np.sign(labels[a] - labels[b])
        a, b = np.where(order > 0, a, b)[order != 0], np.where(order > 0, b, a)[order != 0]
        first.append(a)
        second.append(b)
        # Each row counts alike, however many partners it has.
        weight.append(np.full(len(a), 2.0 * size / max(len(a), 1)))
        start += size
    return _Pairs(np.concatenate(first), np.concatenate(second), np.concatenate(weight))


def _candidates(
    size: int, partners: int, rng: np.random.Generator
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """All pairs of a group, or so many random partners for each of its rows."""
    if size - 1 <= partners:
        a, b = np.triu_indices(size, 1)
        return a, b
    a = np.repeat(np.arange(size), partners)
    return a, (a + rng.integers(1, size, len(a))) % size


def _loss(pairs: _Pairs, size: int) -> Callable[[Any, Any], tuple[Numbers, Numbers]]:
    """Gradient and curvature of the pairwise loss, as XGBoost asks for them."""

    def derivatives(scores: Any, _data: Any) -> tuple[Numbers, Numbers]:
        margin = np.asarray(scores, np.float64)
        margin = margin[pairs.better] - margin[pairs.worse]
        doubt = 1.0 / (1.0 + np.exp(np.clip(margin, -60.0, 60.0)))
        pull, bend = pairs.weight * doubt, pairs.weight * doubt * (1.0 - doubt)
        gradient = _per_row(pairs.worse, pull, size) - _per_row(pairs.better, pull, size)
        curvature = _per_row(pairs.worse, bend, size) + _per_row(pairs.better, bend, size)
        return gradient, np.maximum(curvature, 1e-6)

    return derivatives


def _shortfalls(labels: Numbers, groups: Sequence[int]) -> Numbers:
    """How far each row falls short of the best of its group, as a logarithm; failures most."""
    found: list[Numbers] = []
    start = 0
    for size in groups:
        own = labels[start : start + size]
        valid = own[own > 0]
        low, high = (float(valid.min()), float(valid.max())) if len(valid) else (1.0, 1.0)
        found.append(np.log2(np.where(own > 0, own, low / 2.0) / high))
        start += size
    return np.concatenate(found)


def _squared(wanted: Numbers) -> Callable[[Any, Any], tuple[Numbers, Numbers]]:
    """Gradient and curvature of half the squared error."""

    def derivatives(scores: Any, _data: Any) -> tuple[Numbers, Numbers]:
        return np.asarray(scores, np.float64) - wanted, np.ones_like(wanted)

    return derivatives


def _per_row(rows: NDArray[np.intp], values: Numbers, size: int) -> Numbers:
    """Sums of the values that belong to each row."""
    return np.bincount(rows, values, size).astype(np.float64)


def has_xgboost() -> bool:
    """Whether models can be fitted here; nothing is imported to find out."""
    return find_spec("xgboost") is not None


def require_xgboost() -> Any:
    """The package, imported.

    Raises
    ------
    OptionError
        If it is not installed.
    """
    try:
        import xgboost
    except ImportError as error:
        raise OptionError(
            "the learned cost model needs XGBoost, which is not installed",
            hint='pip install "tvmlab[tune]"',
        ) from error
    return cast(Any, xgboost)
