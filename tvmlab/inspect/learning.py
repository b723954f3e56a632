"""What a cost model would know with fewer measurements, and why it says what it says.

A third of the measured schedules is held out; models are trained on more and more of the others.
How well each orders the held-out ones tells more than how near its figures are: a search only has
to pick the better of two.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tvmlab.tune import CostModel, Features, rank_report

from .residuals import feature_words

_LEAST = 15
_STEPS = 6
_SHOWN = 8


@dataclass(frozen=True, slots=True)
class LearningStep:
    """A model of so many measurements, and how it did on those that it had not seen.

    Attributes
    ----------
    error
        The usual factor between predicted and measured throughput: 1.3 means 30 % off.
    found
        How good the best of the three that it ranks first is, against the best of all.
    predicted
        One for each of the held-out schedules.
    """

    trained_on: int
    correlation: float | None
    error: float | None
    found: float
    predicted: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class LearningReport:
    """Models of growing training sets; `message` says why there are none."""

    measured: tuple[float, ...]
    steps: tuple[LearningStep, ...]
    message: str


@dataclass(frozen=True, slots=True)
class Effect:
    """What one feature adds to a score."""

    feature: str
    value: float
    effect: float


@dataclass(frozen=True, slots=True)
class AttributionReport:
    """A prediction taken apart: base, effects and rest sum to the score.

    Attributes
    ----------
    gflops
        The throughput that the score stands for.
    rest
        What all features that are not listed add together.
    """

    score: float
    base: float
    effects: tuple[Effect, ...]
    rest: float
    gflops: float | None
    message: str


def learning_report(
    rows: Features, gflops: Sequence[float], groups: Sequence[str], *, seed: int = 0
) -> LearningReport:
    """Train on more and more of the measurements; failures are left out."""
    kept = [n for n, rate in enumerate(gflops) if rate > 0]
    if len(kept) < _LEAST:
        return LearningReport(
            (), (), f"With {_LEAST} measured schedules or more this shows how a model learns; "
            f"so far there are {len(kept)}."
        )  # fmt: skip
    order: list[int] = np.random.default_rng(seed).permutation(kept).tolist()
    held, rest = order[: len(order) // 3], order[len(order) // 3 :]
    rates = np.asarray(gflops, np.float64)
    steps: list[LearningStep] = []
    for size in _sizes(len(rest)):
        model = CostModel(hold_out=False)
        chosen = rest[:size]
        model.fit(rows[chosen], rates[chosen], [groups[n] for n in chosen])
        predicted = model.predict_gflops(rows[held])
        if predicted is not None:
            steps.append(_step(size, predicted.tolist(), rates[held].tolist()))
    return LearningReport(tuple(rates[held].tolist()), tuple(steps), "")


def _sizes(most: int) -> list[int]:
    """Training sets from the smallest that a model can use to all, each a step larger."""
    return sorted({int(n) for n in np.geomspace(min(8, most), most, _STEPS)})


def _step(size: int, predicted: list[float], measured: list[float]) -> LearningStep:
    report = rank_report(predicted, measured)
    off = [abs(math.log(p / m)) for p, m in zip(predicted, measured, strict=True) if p > 0]
    error = math.exp(float(np.median(off))) if off else None
    first = sorted(range(len(predicted)), key=lambda n: -predicted[n])[:3]
    found = max(measured[n] for n in first) / max(measured)
    return LearningStep(size, report.spearman, error, found, tuple(predicted))


def attribution_report(model: CostModel, row: Features, group: str) -> AttributionReport:
    """What moves the score of one schedule, strongest first."""
    scores = model.predict(row)
    if scores is None:
        return AttributionReport(
            0.0, 0.0, (), 0.0, None, "The model has learned nothing yet: train it first."
        )
    score = float(scores[0])
    known = model.explain(row, most=int(row.size))
    base = score - sum(c.effect for c in known)
    shown = tuple(Effect(feature_words(c.feature), c.value, c.effect) for c in known[:_SHOWN])
    rest = sum(c.effect for c in known[_SHOWN:])
    rates = model.predict_gflops(row, group)
    return AttributionReport(
        score, base, shown, rest, None if rates is None else float(rates[0]), ""
    )
