"""How a model learns, and its predictions taken apart."""

from __future__ import annotations

import numpy as np
import pytest

from tvmlab.inspect import attribution_report, learning_report
from tvmlab.tune import CostModel, feature_names

WIDTH = len(feature_names())


def data(count: int, seed: int = 0) -> tuple[np.ndarray, list[float]]:
    """Rows whose throughput follows two of the features."""
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(count, WIDTH)).astype(np.float32)
    return rows, np.exp(rows[:, 3] - 0.5 * rows[:, 7] + 3.0).tolist()


def test_more_measurements_order_better() -> None:
    rows, gflops = data(150)
    report = learning_report(rows, gflops, ["w"] * 150)
    sizes = [step.trained_on for step in report.steps]
    assert sizes == sorted(set(sizes))
    assert sizes[-1] == 100
    assert len(report.measured) == len(report.steps[0].predicted) == 50
    first, last = report.steps[0], report.steps[-1]
    assert first.correlation is not None
    assert last.correlation is not None
    assert last.correlation > max(first.correlation, 0.5)
    assert all(0 < step.found <= 1 for step in report.steps)
    assert not set(report.measured) - set(gflops)


def test_failures_and_too_few_measurements() -> None:
    rows, gflops = data(20)
    report = learning_report(rows, [0.0] * 10 + gflops[10:], ["w"] * 20)
    assert report.steps == ()
    assert "so far there are 10" in report.message


def test_the_parts_sum_to_the_score() -> None:
    rows, gflops = data(60)
    model = CostModel(hold_out=False)
    model.fit(rows, gflops)
    bases: list[float] = []
    named: set[str] = set()
    for row in rows[:5]:
        report = attribution_report(model, row, "")
        parts = report.base + sum(e.effect for e in report.effects) + report.rest
        scores = model.predict(row)
        assert scores is not None
        assert parts == pytest.approx(float(scores[0]), abs=1e-5)
        assert report.gflops is not None
        bases.append(report.base)
        named = {effect.feature for effect in report.effects}
    assert np.ptp(bases) < 1e-4  # what any schedule starts from is the same for all
    assert len(named) == 8


def test_a_model_that_has_learned_nothing_says_so() -> None:
    rows, _ = data(1)
    assert "has learned nothing" in attribution_report(CostModel(), rows[0], "").message
