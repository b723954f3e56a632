"""The analytic model, ensembles, and trials shared out over tasks."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from helpers.tune_programs import tiled_matmul
from helpers.tune_templates import Oracle, blocked_space

from tvmlab.schedule import Schedule
from tvmlab.support import OptionError
from tvmlab.tune import (
    AnalyticModel,
    BoosterOptions,
    CostModel,
    Ensemble,
    TaskScheduler,
    Tuner,
    extract_features,
    spearman,
)


def test_the_analytic_model_knows_vectors_and_tiles() -> None:
    tiled = tiled_matmul(64, rows=4, lanes=16)
    naive = Schedule(tiled.history.nodes[0].program)
    rows = np.stack([extract_features(s.program, 2) for s in (naive, tiled)])
    prior = AnalyticModel()
    slow, fast = prior.predict(rows)
    assert fast > slow
    assert np.allclose(prior.terms(rows).sum(axis=1), prior.seconds(rows))
    parts = prior.explain(rows[:1])
    assert sum(p.effect for p in parts) == pytest.approx(prior.seconds(rows)[0])
    assert parts[0].feature == "arithmetic"


def test_an_ensemble_agrees_on_what_it_saw_and_doubts_the_rest() -> None:
    space = blocked_space(64)
    rng = np.random.default_rng(0)
    rows = space.features(space.sample(80, rng))
    speed = np.exp(AnalyticModel().predict(rows))
    models = Ensemble(3, BoosterOptions(rounds=30))
    assert models.predict(rows) is None
    assert models.doubt(rows) is None
    models.fit(rows[:60], speed[:60])
    predicted, doubt = models.predict(rows), models.doubt(rows)
    assert predicted is not None
    assert doubt is not None
    assert (doubt >= 0).all()
    assert doubt.max() > 0
    found = spearman(predicted[60:], speed[60:])
    assert found is not None
    assert found > 0.5
    assert models.explain(rows[:1], most=3)
    with pytest.raises(OptionError, match="at least two"):
        Ensemble(1)


def test_effects_and_a_constant_sum_to_the_score() -> None:
    space = blocked_space(64)
    rows = space.features(space.sample(40, np.random.default_rng(0)))
    models = Ensemble(2, BoosterOptions(rounds=20))
    models.fit(rows, np.exp(AnalyticModel().predict(rows)))
    sums = [sum(p.effect for p in models.explain(rows[n : n + 1], 1 << 16)) for n in range(8)]
    scores = models.predict(rows[:8])
    assert scores is not None
    assert np.allclose(np.diff(np.array(sums) - scores), 0.0, atol=1e-3)


def test_a_belief_goes_a_long_way_with_few_rows() -> None:
    space = blocked_space(64)
    rows = space.features(space.sample(120, np.random.default_rng(0)))
    prior = AnalyticModel()
    speed = np.exp(prior.predict(rows)) * np.random.default_rng(1).uniform(0.8, 1.2, len(rows))
    found: dict[bool, float] = {}
    for believes in (False, True):
        model = CostModel(hold_out=False, prior=prior if believes else None)
        model.fit(rows[:10], speed[:10])
        scores = model.predict(rows[10:])
        assert scores is not None
        found[believes] = spearman(scores, speed[10:]) or 0.0
    assert found[True] > max(0.8, found[False])


def test_what_is_believed_is_told_and_kept(tmp_path: Path) -> None:
    space = blocked_space(64)
    rows = space.features(space.sample(40, np.random.default_rng(0)))
    model = CostModel(BoosterOptions(rounds=20), prior=AnalyticModel())
    model.fit(rows, np.exp(AnalyticModel().predict(rows)))
    parts = [model.explain(rows[n : n + 1], 1 << 16) for n in range(8)]
    assert all("analytic model" in {p.feature for p in part} for part in parts)
    scores = model.predict(rows)
    assert scores is not None
    sums = np.array([sum(p.effect for p in part) for part in parts])
    assert np.allclose(np.diff(sums - scores[:8]), 0.0, atol=1e-3)
    model.save(tmp_path / "model.json")
    again = CostModel.load(tmp_path / "model.json").predict(rows)
    assert again is not None
    assert np.array_equal(again, scores)


def test_trials_go_where_they_gain_most() -> None:
    flat = Tuner(blocked_space(16), runner=Oracle(lambda _: 1e-9), search="random")
    steep = Tuner(blocked_space(32), runner=Oracle(lambda t: 1e-5 * len(t)), search="random")
    tasks = TaskScheduler({"flat": (flat, 1.0), "steep": (steep, 1.0)}, batch=4)
    names = [name for name, trial in tasks.run(40) if trial.status != "refused"]
    assert names.count("steep") > names.count("flat")
    assert len(names) == 40
    assert tasks.seconds() is not None
    with pytest.raises(OptionError, match="no task"):
        TaskScheduler({})


def test_a_default_schedule_is_measured_first() -> None:
    space = blocked_space(32)
    default = Schedule(space.program)
    i, _, _ = default.loops("C")
    default.parallel(i)
    tuner = Tuner(space, runner=Oracle(lambda t: 1e-6 * len(t)), starts=(default,))
    first = next(iter(tuner.run(1)))
    assert first.values == {}
    assert "parallel" in first.trace


def test_a_model_learns_by_regression_too() -> None:
    space = blocked_space(64)
    rows = space.features(space.sample(80, np.random.default_rng(0)))
    speed = np.exp(AnalyticModel().predict(rows))
    speed[:4] = 0.0
    model = CostModel(BoosterOptions(objective="regression"), hold_out=False)
    model.fit(rows[:60], speed[:60])
    scores = model.predict(rows)
    assert scores is not None
    assert scores[:4].max() < np.median(scores[4:60])
    found = spearman(scores[60:], speed[60:])
    assert found is not None
    assert found > 0.5
    with pytest.raises(OptionError, match="cannot learn by 'guess'"):
        BoosterOptions(objective="guess")
