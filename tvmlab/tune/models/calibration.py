"""From a model's score to GFLOP/s: the best monotone map, so that predictions have a unit.

A ranking model's score has no unit and no scale. The map from score to the logarithm of throughput
is fitted by pooling adjacent violators (isotonic regression) and drawn straight between its steps.

>>> Calibration.fit([0.0, 1.0, 2.0], [1.0, 10.0, 100.0]).predict([1.5]).round(1)
array([31.6])
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tvmlab.support import ParseError

_LEAST = 1e-6


@dataclass(frozen=True, slots=True)
class Calibration:
    """A rising line of knots: scores, and the logarithm of the throughput at each."""

    scores: tuple[float, ...]
    logs: tuple[float, ...]

    @staticmethod
    def fit(scores: ArrayLike, throughput: ArrayLike) -> Calibration:
        """The map that fits best among those that never fall."""
        x = np.asarray(scores, np.float64).ravel()
        y = np.log(np.maximum(np.asarray(throughput, np.float64).ravel(), _LEAST))
        knots = _pooled(x, y)
        return Calibration(tuple(k[0] for k in knots), tuple(k[1] for k in knots))

    def predict(self, scores: ArrayLike) -> NDArray[np.float64]:
        """Throughput for scores; outside of the fitted ones it stays at the ends."""
        return np.exp(np.interp(np.asarray(scores, np.float64), self.scores, self.logs))

    def to_json(self) -> dict[str, Any]:
        return {"scores": list(self.scores), "logs": list(self.logs)}

    @staticmethod
    def from_json(data: Mapping[str, Any]) -> Calibration:
        """The map that `to_json` wrote.

        Raises
        ------
        ParseError
            If the knots do not fit together.
        """
        scores, logs = tuple(map(float, data["scores"])), tuple(map(float, data["logs"]))
        if len(scores) != len(logs) or not scores:
            raise ParseError("a calibration needs as many scores as logarithms, and at least one")
        return Calibration(scores, logs)


def _pooled(x: NDArray[np.float64], y: NDArray[np.float64]) -> list[tuple[float, float]]:
    """Pool neighbors that would make the map fall; each pool becomes a knot at its mean score."""
    order = np.lexsort((y, x))
    pools: list[tuple[float, float, int]] = []  # sum of scores, sum of values, count
    for score, value in zip(x[order].tolist(), y[order].tolist(), strict=True):
        pool = (score, value, 1)
        while pools and _not_above(pools[-1], pool):
            last = pools.pop()
            pool = (last[0] + pool[0], last[1] + pool[1], last[2] + pool[2])
        pools.append(pool)
    return [(score / count, value / count) for score, value, count in pools]


def _not_above(last: tuple[float, float, int], pool: tuple[float, float, int]) -> bool:
    """Whether a pool must join the one before: not higher, or at the same score."""
    lower = pool[1] / pool[2] <= last[1] / last[2]
    return lower or pool[0] / pool[2] <= last[0] / last[2]
