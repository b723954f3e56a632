"""How well predictions order measurements: rank correlations and top-k recall.

>>> rank_report([1, 2, 3, 4], [10, 20, 30, 40]).spearman
1.0
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tvmlab.support import OptionError

Numbers: TypeAlias = NDArray[np.float64]
TOP_SHARES = (0.05, 0.1, 0.25)


@dataclass(frozen=True, slots=True)
class RankReport:
    """How well a prediction orders `count` measured schedules.

    Attributes
    ----------
    spearman, kendall
        1 for the same order, -1 for the reverse, about 0 for guessing; None if there is nothing to
        compare (fewer than two, or all equal).
    top_recall
        By share of the schedules: of the truly fastest ones, how many are among as many predicted
        fastest. Guessing recalls the share itself.
    best_of_top
        By the same shares: the best measured among the predicted fastest, in proportion to the best
        of all. It is what a search loses by trusting the model.
    """

    count: int
    spearman: float | None
    kendall: float | None
    top_recall: Mapping[float, float]
    best_of_top: Mapping[float, float]

    @staticmethod
    def mean(parts: Sequence[RankReport]) -> RankReport:
        """The mean of reports on several workloads, weighted by their schedules."""

        def over(values: Sequence[float | None]) -> float | None:
            known = [(v, p.count) for v, p in zip(values, parts, strict=True) if v is not None]
            total = sum(count for _, count in known)
            return sum(v * count for v, count in known) / total if total else None

        def by_share(maps: Sequence[Mapping[float, float]]) -> dict[float, float]:
            means = {share: over([m.get(share) for m in maps]) for share in TOP_SHARES}
            return {share: value for share, value in means.items() if value is not None}

        return RankReport(
            count=sum(p.count for p in parts),
            spearman=over([p.spearman for p in parts]),
            kendall=over([p.kendall for p in parts]),
            top_recall=by_share([p.top_recall for p in parts]),
            best_of_top=by_share([p.best_of_top for p in parts]),
        )

    def to_json(self) -> dict[str, Any]:
        """The report as plain data; shares become percentages such as "10 %"."""
        return {
            "count": self.count,
            "spearman": self.spearman,
            "kendall": self.kendall,
            "top_recall": {f"{k:.0%}": v for k, v in self.top_recall.items()},
            "best_of_top": {f"{k:.0%}": v for k, v in self.best_of_top.items()},
        }


def rank_report(predicted: ArrayLike, measured: ArrayLike) -> RankReport:
    """Compare predictions with measurements; in both, more is better.

    Raises
    ------
    OptionError
        If there are not as many of the one as of the other.
    """
    x, y = _pair(predicted, measured)
    tops = {share: max(1, round(share * len(x))) for share in TOP_SHARES} if len(x) else {}
    return RankReport(
        count=len(x),
        spearman=spearman(x, y),
        kendall=kendall(x, y),
        top_recall={share: top_recall(x, y, k) for share, k in tops.items()},
        best_of_top={share: best_of_top(x, y, k) for share, k in tops.items()},
    )


def spearman(predicted: ArrayLike, measured: ArrayLike) -> float | None:
    """Correlation of the ranks; ties share the mean of their ranks."""
    x, y = _pair(predicted, measured)
    a, b = _ranks(x), _ranks(y)
    a, b = a - a.mean() if len(a) else a, b - b.mean() if len(b) else b
    scale = float(np.sqrt((a @ a) * (b @ b)))
    return float(a @ b) / scale if scale > 0 else None


def kendall(predicted: ArrayLike, measured: ArrayLike) -> float | None:
    """Kendall's tau-b: pairs in the same order minus pairs in the reverse, ties accounted for."""
    x, y = _pair(predicted, measured)
    a, b = np.sign(x[:, None] - x[None, :]), np.sign(y[:, None] - y[None, :])
    scale = float(np.sqrt(np.sum(a * a) * np.sum(b * b)))
    return float(np.sum(a * b)) / scale if scale > 0 else None


def top_recall(predicted: ArrayLike, measured: ArrayLike, k: int) -> float:
    """Of the k best measured, the share that is among the k best predicted."""
    x, y = _pair(predicted, measured)
    return len(set(_best(x, k)) & set(_best(y, k))) / k


def best_of_top(predicted: ArrayLike, measured: ArrayLike, k: int) -> float:
    """The best measurement among the k best predicted, over the best of all."""
    x, y = _pair(predicted, measured)
    top = float(y.max())
    return float(y[_best(x, k)].max()) / top if top > 0 else 1.0


def _best(values: Numbers, k: int) -> Sequence[int]:
    return [int(n) for n in np.argsort(-values, kind="stable")[:k]]


def _ranks(values: Numbers) -> Numbers:
    _, place, counts = np.unique(values, return_inverse=True, return_counts=True)
    ends = np.cumsum(counts)
    return (ends - (counts - 1) / 2.0)[place].astype(np.float64)


def _pair(predicted: ArrayLike, measured: ArrayLike) -> tuple[Numbers, Numbers]:
    x, y = np.asarray(predicted, np.float64).ravel(), np.asarray(measured, np.float64).ravel()
    if len(x) != len(y):
        raise OptionError(f"{len(x)} predictions cannot be compared with {len(y)} measurements")
    return x, y
