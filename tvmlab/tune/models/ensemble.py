"""Several models of the same data: where they disagree, none of them knows.

>>> models = Ensemble(4)
>>> models.fit(features, gflops)
>>> models.doubt(features)
array([...])
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tvmlab.support import OptionError

from .booster import BoosterOptions
from .contribution import Contribution
from .cost_model import CostModel

Numbers = NDArray[np.float64]


class Ensemble(CostModel):
    """Cost models that differ in their seed, and so in the rows and features that they look at.

    Parameters
    ----------
    count
        Number of models.
    optimism
        So many standard deviations of doubt are added to a score, for a search to look where
        little is known.
    """

    def __init__(
        self, count: int = 4, options: BoosterOptions | None = None, *, optimism: float = 0.0
    ) -> None:
        if count < 2:
            raise OptionError(f"an ensemble needs at least two models, not {count}")
        super().__init__(options, hold_out=False)
        self.optimism = optimism
        self.models = [
            CostModel(
                replace(self.options, seed=self.options.seed + n, row_share=0.7), hold_out=False
            )
            for n in range(count)
        ]

    def fit(
        self, features: ArrayLike, gflops: ArrayLike, groups: Sequence[str] | None = None
    ) -> None:
        """Fit every model; see `CostModel.fit`."""
        super().fit(features, gflops, groups)
        for model in self.models:
            model.fit(features, gflops, groups)

    def predict(self, features: ArrayLike) -> Numbers | None:
        """The mean score, with optimism; None before anything was learned."""
        scores = self._scores(features)
        if scores is None:
            return None
        return scores.mean(axis=0) + self.optimism * scores.std(axis=0)

    def doubt(self, features: ArrayLike) -> Numbers | None:
        """How far the models' scores of a schedule spread; None before anything was learned."""
        scores = self._scores(features)
        return None if scores is None else scores.std(axis=0)

    def explain(self, features: ArrayLike, most: int = 10) -> list[Contribution]:
        """The mean effects of the models; with a constant they sum to the mean score."""
        told: dict[str, list[Contribution]] = {}
        for model in self.models:
            for part in model.explain(features, most=1 << 16):
                told.setdefault(part.feature, []).append(part)
        found = [
            Contribution(name, parts[0].value, sum(p.effect for p in parts) / len(self.models))
            for name, parts in told.items()
        ]
        return sorted(found, key=lambda c: -abs(c.effect))[:most]

    def _scores(self, features: ArrayLike) -> Numbers | None:
        scores = [model.predict(features) for model in self.models]
        known = [s for s in scores if s is not None]
        return np.stack(known) if len(known) == len(scores) else None
