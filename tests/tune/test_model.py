"""The cost model learns an order, says nothing without data, keeps its promises about units."""

from __future__ import annotations

import builtins
import importlib
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from tvmlab.support import OptionError, ParseError, ShapeError
from tvmlab.tune import (
    BoosterOptions,
    Calibration,
    CostModel,
    Learner,
    feature_names,
    kendall,
    rank_report,
    spearman,
)

WIDTH = len(feature_names())
QUICK = BoosterOptions(rounds=40)
Floats = NDArray[np.float64]
STATISTICS: Any = importlib.import_module("scipy.stats")  # it has no types


def synthetic(count: int, seed: int = 0) -> tuple[NDArray[np.float32], Floats]:
    """Throughput depends on four of all the features, with noise."""
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(count, WIDTH)).astype(np.float32)
    log = rows[:, 0] + np.sin(2 * rows[:, 1]) + rows[:, 2] * (rows[:, 3] > 0)
    return rows, np.exp(log + 0.05 * rng.normal(size=count)).astype(np.float64)


@pytest.fixture(scope="module")
def model() -> CostModel:
    made = CostModel(QUICK)
    made.fit(*synthetic(120))
    return made


def test_it_orders_schedules_it_has_not_seen(model: CostModel) -> None:
    rows, throughput = synthetic(200, seed=1)
    scores = model.predict(rows)
    assert scores is not None
    report = rank_report(scores, throughput)
    assert report.spearman is not None
    assert report.spearman > 0.6
    assert report.top_recall[0.25] > 0.5  # guessing gives a quarter


def test_predictions_have_the_unit_of_the_measurements(model: CostModel) -> None:
    rows, throughput = synthetic(200, seed=1)
    predicted = model.predict_gflops(rows)
    assert predicted is not None
    ratio = np.median(predicted / throughput)
    assert 0.7 < ratio < 1.4
    scores = model.predict(rows)
    assert scores is not None
    order = np.argsort(scores)
    assert (np.diff(predicted[order]) >= 0).all()  # the unit does not change the order


def test_held_out_predictions_are_honest(model: CostModel) -> None:
    """On noise the model that was fitted looks perfect; its held-out report does not."""
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(60, WIDTH)).astype(np.float32)
    noise = CostModel(QUICK)
    noise.fit(rows, rng.uniform(1, 100, 60))
    assert noise.held_out is not None
    assert noise.held_out.report.spearman is not None
    assert abs(noise.held_out.report.spearman) < 0.4
    assert model.held_out is not None
    assert model.held_out.report.spearman is not None
    assert model.held_out.report.spearman > 0.55
    _, throughput = synthetic(120)
    again = spearman(model.held_out.predicted, throughput)
    assert again is not None
    assert again > 0.55  # the predictions stand in the order of the rows


def test_nothing_is_said_without_data() -> None:
    rows, throughput = synthetic(5)
    model = CostModel(QUICK)
    model.fit(rows, throughput)
    assert not model.trained
    assert model.predict(rows) is None
    assert model.predict_gflops(rows) is None
    assert model.explain(rows) == []
    assert model.held_out is None
    model.fit(np.zeros((0, WIDTH)), [])
    assert not model.trained


@pytest.mark.parametrize("count", [6, 7, 13])
def test_few_data_are_enough_to_say_something(count: int) -> None:
    rows, throughput = synthetic(count)
    model = CostModel(QUICK)
    model.fit(rows, throughput)
    predicted = model.predict_gflops(rows)
    assert predicted is not None
    assert (predicted > 0).all()
    assert (model.held_out is None) == (count < 12)


def test_failed_schedules_rank_last() -> None:
    rows, throughput = synthetic(60)
    rows[:20, 7] = 9.0
    throughput[:20] = 0.0
    model = CostModel(QUICK)
    model.fit(rows, throughput)
    fresh, _ = synthetic(40, seed=5)
    failing = fresh.copy()
    failing[:, 7] = 9.0
    good, bad = model.predict(fresh), model.predict(failing)
    assert good is not None
    assert bad is not None
    assert np.median(bad) < good.min()


def test_workloads_are_ranked_apart() -> None:
    """One workload is a thousand times faster; only the order within each counts."""
    rows, throughput = synthetic(120)
    groups = ["slow" if n % 3 else "fast" for n in range(120)]
    scale = np.array([1000.0 if g == "fast" else 1.0 for g in groups])
    model = CostModel(QUICK)
    model.fit(rows, throughput * scale, groups)
    fresh, right = synthetic(100, seed=2)
    scores = model.predict(fresh)
    assert scores is not None
    correlation = spearman(scores, right)
    assert correlation is not None
    assert correlation > 0.6
    fast, slow = model.predict_gflops(fresh, "fast"), model.predict_gflops(fresh, "slow")
    assert fast is not None
    assert slow is not None
    assert 300 < np.median(fast / slow) < 3000
    assert model.held_out is not None
    predicted = model.held_out.predicted
    assert np.median(predicted[scale == 1000]) > 100 * np.median(predicted[scale == 1])


def test_fitting_is_deterministic() -> None:
    rows, throughput = synthetic(40)
    made = [CostModel(QUICK) for _ in range(2)]
    for model in made:
        model.fit(rows, throughput)
    first, second = (model.predict(rows) for model in made)
    assert first is not None
    assert second is not None
    assert (first == second).all()


def test_effects_of_features_sum_to_the_score(model: CostModel) -> None:
    rows, _ = synthetic(1, seed=9)
    effects = model.explain(rows, most=WIDTH)
    flat = np.zeros_like(rows)
    everything = {c.feature: c.effect for c in effects}
    assert effects[0].effect == max(everything.values(), key=abs)
    assert {feature_names()[n] for n in range(3)} & {c.feature for c in effects[:4]}
    # The constant is the same for all rows, so differences of scores are differences of effects.
    a, b = model.predict(rows), model.predict(flat)
    others = {c.feature: c.effect for c in model.explain(flat, most=WIDTH)}
    assert a is not None
    assert b is not None
    difference = sum(everything.values()) - sum(others.values())
    assert difference == pytest.approx(float(a[0] - b[0]), abs=1e-4)


def test_a_saved_model_says_the_same(model: CostModel, tmp_path: Path) -> None:
    path = tmp_path / "sub" / "model.json"
    model.save(path)
    assert [p.name for p in path.parent.iterdir()] == ["model.json"]
    loaded = CostModel.load(path)
    rows, _ = synthetic(20, seed=3)
    for method in ("predict", "predict_gflops"):
        before, after = getattr(model, method)(rows), getattr(loaded, method)(rows)
        assert (before == after).all()
    assert loaded.row_count == 120
    empty = CostModel()
    empty.save(path)
    assert not CostModel.load(path).trained


def test_files_that_are_no_model(model: CostModel, tmp_path: Path) -> None:
    path = tmp_path / "model.json"
    path.write_text('{"format": "tvmlab cost')
    with pytest.raises(ParseError, match="holds no cost model"):
        CostModel.load(path)
    with pytest.raises(ParseError, match="this is no tvmlab cost model"):
        CostModel.from_json({"format": "else"})
    other = {**model.to_json(), "features": ["x"]}
    with pytest.raises(ParseError, match="made by another version of tvmlab, with other features"):
        CostModel.from_json(other)


def test_rows_must_fit() -> None:
    rows, throughput = synthetic(10)
    with pytest.raises(ShapeError, match=f"a row of features has {WIDTH} entries, not 3"):
        CostModel().fit(rows[:, :3], throughput)
    with pytest.raises(ShapeError, match="10 rows of features, 9 throughputs and 10 workloads"):
        CostModel().fit(rows, throughput[:9])


def test_without_xgboost_the_error_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def without(name: str, *args: Any, **named: Any) -> Any:
        if name == "xgboost":
            raise ImportError(name)
        return real(name, *args, **named)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(OptionError, match="needs XGBoost") as caught:
        CostModel().fit(*synthetic(10))
    assert caught.value.hint == 'pip install "tvmlab[tune]"'


def test_importing_tune_does_not_import_xgboost() -> None:
    script = "import sys, tvmlab.tune; print([m for m in ('xgboost', 'scipy') if m in sys.modules])"
    found = subprocess.run([sys.executable, "-c", script], capture_output=True, check=True)
    assert found.stdout.strip() == b"[]"


def test_a_learner_refits_when_a_quarter_is_new() -> None:
    rows, throughput = synthetic(40)
    learner = Learner(CostModel(BoosterOptions(rounds=5)))
    fitted: list[int] = []
    for row, speed in zip(rows, throughput, strict=True):
        learner.add(row, float(speed))
        if learner.refit_if_due():
            fitted.append(learner.row_count)
    assert fitted[0] == 6
    assert len(fitted) <= 7
    assert learner.model.row_count == fitted[-1]
    learner.add(rows[0], None)
    learner.refit()
    assert learner.model.row_count == 41


numbers = st.lists(st.integers(0, 8), min_size=2, max_size=30)


@given(data=st.data())
@hypothesis_settings(max_examples=60, deadline=None)
def test_correlations_agree_with_scipy(data: st.DataObject) -> None:
    x = data.draw(numbers)
    y = data.draw(st.lists(st.integers(0, 8), min_size=len(x), max_size=len(x)))
    if len(set(x)) == 1 or len(set(y)) == 1:
        assert spearman(x, y) is None
        assert kendall(x, y) is None
        return
    assert spearman(x, y) == pytest.approx(STATISTICS.spearmanr(x, y).statistic, abs=1e-9)
    assert kendall(x, y) == pytest.approx(STATISTICS.kendalltau(x, y).statistic, abs=1e-9)


def test_recall_of_the_best() -> None:
    measured = np.arange(20.0)
    report = rank_report(measured, measured)
    assert report.to_json()["top_recall"] == {"5%": 1.0, "10%": 1.0, "25%": 1.0}
    worst = rank_report(-measured, measured)
    assert worst.top_recall[0.25] == 0
    assert worst.best_of_top[0.25] == pytest.approx(4 / 19)
    assert rank_report([], []).spearman is None
    with pytest.raises(OptionError, match="2 predictions cannot be compared with 1"):
        rank_report([1, 2], [1])


@given(st.lists(st.tuples(st.floats(-5, 5), st.floats(0.01, 1e3)), min_size=1, max_size=30))
@hypothesis_settings(max_examples=60, deadline=None)
def test_calibration_never_falls_and_keeps_the_mean(points: list[tuple[float, float]]) -> None:
    scores, speeds = [p[0] for p in points], [p[1] for p in points]
    scale = Calibration.fit(scores, speeds)
    line = scale.predict(np.linspace(-6, 6, 50))
    assert (np.diff(line) >= -1e-9 * line[1:]).all()
    assert min(speeds) * 0.999 <= line.min()
    assert line.max() <= max(speeds) * 1.001
    assert Calibration.from_json(json.loads(json.dumps(scale.to_json()))) == scale
    with pytest.raises(ParseError, match="as many scores as logarithms"):
        Calibration.from_json({"scores": [1], "logs": []})


def test_a_search_with_a_past_learns_from_its_own_first_trials() -> None:
    rng = np.random.default_rng(0)
    learner = Learner(CostModel(hold_out=False))
    width = len(feature_names())
    for _ in range(100):
        learner.add(rng.random(width, np.float32), float(rng.random()), "past")
    assert learner.refit_if_due()
    for number in range(1, 7):
        learner.add(rng.random(width, np.float32), float(rng.random()), "own")
        assert learner.refit_if_due() == (number == 6)
    assert learner.model.row_count == 106
