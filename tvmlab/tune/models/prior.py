"""A model that needs no data: arithmetic at the machine's rate, traffic at its bandwidths.

Time is a sum of terms, so what each adds can be told; the rates are those that `tvmlab devices
--measure` has found, or those of an ordinary core. It orders schedules roughly: enough to begin a
search with.

>>> prior = AnalyticModel("cpu")
>>> prior.predict(space.features(points))
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tvmlab.target import Target, TargetLike
from tvmlab.tune.features import feature_names
from tvmlab.tune.measure.request import target_from_json, target_to_json

from .contribution import Contribution

Numbers = NDArray[np.float64]

TERMS = ("arithmetic", "second level", "third level", "memory", "other nests", "starts")
_LATENCY = 8.0
"""Chains of sums that a core needs at the same time to keep its units busy."""
_START_SECONDS = 1e-6
_MARGIN = 0.1
"""Conditions are mostly those of a margin: parts of loops without them are lowered apart."""


@dataclass(frozen=True, slots=True)
class Rates:
    """What a machine does in a second: operations of a lane of a thread, bytes of each level."""

    operations: float
    second: float
    third: float
    memory: float


class AnalyticModel:
    """Roofline with caches, over rows of features.

    Parameters
    ----------
    target
        The machine.
    rates
        What it does in a second, if it is not to be looked up.
    """

    def __init__(self, target: TargetLike = "cpu", rates: Rates | None = None) -> None:
        self.target = Target.of(target)
        self.rates = rates or _rates(self.target)

    def predict(self, features: ArrayLike) -> Numbers:
        """Scores, higher is faster: the logarithm of runs in a second."""
        return -np.log(self.seconds(features))

    def seconds(self, features: ArrayLike) -> Numbers:
        """The time of each schedule, to be taken as a rank only."""
        return self.terms(features).sum(axis=1)

    def terms(self, features: ArrayLike) -> Numbers:
        """Seconds by cause, one column for each of `TERMS`; their sum is the time."""
        rows = np.atleast_2d(np.asarray(features, np.float64))
        threads = self._threads(rows)
        shared = threads * 0.5 + 0.5  # threads share what lies behind their own caches
        traffic = [
            _size(rows, f"main.through_{size}.bytes") for size in (1 << 15, 1 << 20, 1 << 22)
        ]
        copied = _size(rows, f"others.through_{1 << 15}.bytes")
        columns = [
            self._arithmetic(rows) / threads,
            (traffic[0] + copied) / (self.rates.second * threads),
            traffic[1] / (self.rates.third * shared),
            traffic[2] / (self.rates.memory * shared),
            self._others(rows) / threads,
            _START_SECONDS * (1.0 + _size(rows, "main.threads.starts")),
        ]
        return np.stack(columns, axis=1)

    def explain(self, features: ArrayLike) -> list[Contribution]:
        """What each term adds to the seconds of one schedule, the largest first."""
        terms = self.terms(features)[0]
        found = [Contribution(t, float(s), float(s)) for t, s in zip(TERMS, terms, strict=True)]
        return sorted(found, key=lambda c: -c.effect)

    def to_json(self) -> dict[str, Any]:
        """The model as plain data."""
        return {"target": target_to_json(self.target), "rates": asdict(self.rates)}

    @staticmethod
    def from_json(data: dict[str, Any]) -> AnalyticModel:
        """The model that `to_json` wrote."""
        return AnalyticModel(target_from_json(data["target"]), Rates(**data["rates"]))

    def _threads(self, rows: Numbers) -> Numbers:
        balance = np.clip(_column(rows, "main.threads.balance"), 0.05, 1.0)
        parallel = _column(rows, "main.parallel.count") > 0
        return np.where(parallel, np.maximum(1.0, balance * self.target.num_threads), 1.0)

    def _arithmetic(self, rows: Numbers) -> Numbers:
        """Operations over the lanes, slowed by short chains, by loads, and by spilled tiles."""
        work = 2.0 * _size(rows, "main.ops.mad")
        for name in ("add", "mul", "div", "minmax", "cast"):
            work = work + _size(rows, f"main.ops.{name}")
        for name in ("compare", "select"):
            work = work + _MARGIN * _size(rows, f"main.ops.{name}")
        work = work + 8.0 * _size(rows, "main.ops.call")
        lanes = np.clip(_size(rows, "main.vectorized.innermost"), 1.0, self.target.lanes(32))
        registers = max(self.target.num_registers - 4, 8)
        tile = np.maximum(_size(rows, "main.tile.accumulators"), 1.0)
        chains = np.clip(tile / _LATENCY, 1.0 / _LATENCY, 1.0)
        spilled = np.where(tile > registers, 2.0 + tile / registers, 1.0)
        loads = 1.0 + 1.0 / np.maximum(_size(rows, "main.tile.work_per_load"), 0.25)
        gather = 1.0 + 3.0 * sum(_column(rows, f"main.in{n}.vector_other") for n in range(3))
        code = np.where(_size(rows, "main.code.copies") > 512, 1.5, 1.0)
        work = work * _kept(rows)
        return work / (self.rates.operations * lanes) / chains * spilled * loads * gather * code

    def _others(self, rows: Numbers) -> Numbers:
        """Copies and the like: an element at a time unless they are vectors."""
        total = np.zeros(len(rows))
        for n in range(4):
            lanes = np.clip(_size(rows, f"other{n}.vectorized.product"), 1.0, self.target.lanes(32))
            total += _size(rows, f"other{n}.iterations") / lanes
        return total / self.rates.operations * 2.0


def _kept(rows: Numbers) -> Numbers:
    """How much slower it is if the sums of a tile are not in registers from step to step."""
    sums = _column(rows, "main.sum.loops") > 0
    memory = np.where(_size(rows, "main.tile.serial") > 1.5, 3.0, 1.0)
    elsewhere = np.where(_column(rows, "main.out.local") > 0, 1.0, 1.2)
    return np.where(sums, memory * elsewhere, 1.0)


def _rates(target: Target) -> Rates:
    clock = 3e9
    operations = 4.0 * clock  # two multiply-adds in a cycle
    found = target.peaks
    if found is None:
        return Rates(operations, 32 * clock, 12 * clock, 12e9)
    peak = found.gflops.get(1)
    if peak:
        operations = peak * 1e9 / max(target.lanes(32), 1)
    return Rates(operations, 64 * found.clock * 1e9, 16 * found.clock * 1e9, 15e9)


@lru_cache(maxsize=1)
def _places() -> dict[str, int]:
    return {name: n for n, name in enumerate(feature_names())}


def _column(rows: Numbers, name: str) -> Numbers:
    return rows[:, _places()[name]]


def _size(rows: Numbers, name: str) -> Numbers:
    """A count, from its logarithm."""
    return np.exp2(_column(rows, name)) - 1.0
