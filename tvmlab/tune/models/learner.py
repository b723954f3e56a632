"""Measurements as they come in, and a cost model that follows them.

The model is fitted again when a quarter more has been measured of some workload, so that fitting
takes a small and constant share of the time however long a search lasts; and a search that begins
with what others have measured still learns from its own first trials.

>>> learner = Learner()
>>> learner.add(features, gflops=21.5)
>>> learner.refit_if_due()
False
"""

from __future__ import annotations

import threading
from collections import Counter

import numpy as np

from tvmlab.tune.features import Features

from .cost_model import CostModel
from .training import LEAST_ROWS

_GROWTH = 1.25


class Learner:
    """Collects measured rows and fits a model to them. Safe to use from several threads.

    Parameters
    ----------
    model
        The model to keep up to date; a new one by default.
    """

    def __init__(self, model: CostModel | None = None) -> None:
        self.model = model or CostModel()
        self._guard = threading.Lock()
        self._fitting = threading.Lock()
        self._rows: list[Features] = []
        self._gflops: list[float] = []
        self._groups: list[str] = []
        self._fitted: Counter[str] = Counter()
        self._counts: Counter[str] = Counter()

    @property
    def row_count(self) -> int:
        return len(self._rows)

    def seen(self) -> tuple[Features, list[float], list[str]]:
        """Everything measured so far: rows of features, throughputs (0 for failures), workloads."""
        with self._guard:
            return np.array(self._rows, np.float32), list(self._gflops), list(self._groups)

    def add(self, features: Features, gflops: float | None, group: str = "") -> None:
        """Note a measured schedule; None stands for one that failed."""
        with self._guard:
            self._rows.append(np.asarray(features, np.float32))
            self._gflops.append(gflops or 0.0)
            self._groups.append(group)
            self._counts[group] += 1

    def refit_if_due(self) -> bool:
        """Fit the model if enough is new; returns whether it was fitted."""
        with self._guard:
            if not any(self._is_due(group) for group in self._counts):
                return False
        self.refit()
        return True

    def _is_due(self, group: str) -> bool:
        known = self._fitted[group]
        return self._counts[group] >= max(known + LEAST_ROWS, int(known * _GROWTH))

    def refit(self) -> None:
        """Fit the model to all rows now."""
        with self._fitting:
            with self._guard:
                rows = np.array(self._rows)
                gflops, groups = list(self._gflops), list(self._groups)
                self._fitted = self._counts.copy()
            if len(rows):
                self.model.fit(rows, gflops, groups)
