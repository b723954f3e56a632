"""What a learned model believes before it has learned: the analytic model's score, to be corrected.

The trees are grown on top of it, so that a few measured rows are spent on what the analytic model
has wrong, and far from all rows it still has the last word.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .contribution import Contribution
from .prior import AnalyticModel

Numbers = NDArray[np.float64]
PRIOR = "analytic model"
_TRUST = 1.5
"""How much a standard deviation of its score counts, as logarithm of the odds of being faster."""


@dataclass(frozen=True, slots=True)
class Belief:
    """A model without data, on the scale of a raw score.

    Attributes
    ----------
    trust
        The weight of its score.
    center
        Its mean score over the rows that were learned from.
    """

    prior: AnalyticModel
    trust: float
    center: float

    @staticmethod
    def of(prior: AnalyticModel, rows: NDArray[np.float32], groups: Sequence[int]) -> Belief:
        """The belief on rows of several workloads, which stand together; `groups` are their sizes.

        Scores are compared within a workload only, and so is how far they spread.
        """
        scores = prior.predict(rows)
        parts = np.split(scores, np.cumsum(groups)[:-1])
        spread = float(np.concatenate([part - part.mean() for part in parts]).std())
        return Belief(prior, _TRUST / (spread or 1.0), float(scores.mean()))

    def scores(self, rows: ArrayLike) -> Numbers:
        """What is believed of rows; higher is better."""
        return self.trust * (self.prior.predict(rows) - self.center)

    def contribution(self, row: NDArray[np.float32], spread: float) -> Contribution:
        """What it adds to the score of one row, in units of the spread of scores."""
        value = float(self.prior.predict(row)[0])
        return Contribution(PRIOR, value, self.trust * (value - self.center) / spread)

    def to_json(self) -> dict[str, Any]:
        """The belief as plain data."""
        return {"model": self.prior.to_json(), "trust": self.trust, "center": self.center}

    @staticmethod
    def from_json(data: dict[str, Any]) -> Belief:
        """The belief that `to_json` wrote."""
        prior = AnalyticModel.from_json(data["model"])
        return Belief(prior, float(data["trust"]), float(data["center"]))
