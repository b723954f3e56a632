"""Without XGBoost: a search that asks no model works, one that does says what it needs."""

from __future__ import annotations

from pathlib import Path

import pytest
from helpers.pretrained import NEEDS_XGBOOST, hide_xgboost
from helpers.tune_templates import Oracle, blocked_space

from tvmlab.support import OptionError
from tvmlab.tune import AnalyticModel, CostModel, Tuner, TuningLog, pretrained_model

WITHOUT_MODEL = ("random", "genetic", "grid", "climb")
WITH_MODEL = ("annealing", "evolution")
MORE_THAN_ONE_BATCH = 20


def runner() -> Oracle:
    return Oracle(lambda text: 1e-6 * len(text))


def write_trials(path: Path) -> None:
    """Trials of another computation, of which a model would learn."""
    with TuningLog(path) as log:
        assert list(Tuner(blocked_space(16), log, runner(), "random").run(MORE_THAN_ONE_BATCH))


@pytest.mark.parametrize("search", WITHOUT_MODEL)
def test_a_search_that_asks_no_model_works(
    search: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_trials(tmp_path / "log")
    hide_xgboost(monkeypatch)
    with TuningLog(tmp_path / "log") as log:
        tuner = Tuner(blocked_space(), log, runner(), search)
        trials = list(tuner.run(MORE_THAN_ONE_BATCH))
    assert tuner.measured == MORE_THAN_ONE_BATCH
    assert tuner.best is not None
    assert all(trial.predicted is None for trial in trials)


def test_with_xgboost_it_is_told_what_a_model_expects() -> None:
    trials = list(Tuner(blocked_space(), runner=runner(), search="random").run(40))
    assert trials[0].predicted is None
    assert trials[-1].predicted is not None


@pytest.mark.parametrize("search", WITH_MODEL)
def test_a_search_that_asks_a_model_is_refused_at_once(
    search: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    hide_xgboost(monkeypatch)
    with pytest.raises(OptionError) as caught:
        Tuner(blocked_space(), runner=runner(), search=search)
    assert str(caught.value) == NEEDS_XGBOOST


def test_it_is_refused_when_it_is_to_learn_if_it_begins_with_the_analytic_model(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    hide_xgboost(monkeypatch)
    tuner = Tuner(blocked_space(), runner=runner(), prior=AnalyticModel())
    with pytest.raises(OptionError) as caught:
        list(tuner.run(40))
    assert str(caught.value) == NEEDS_XGBOOST
    assert 0 < tuner.measured < 40


def test_a_model_that_has_learned_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pretrained_model().save(tmp_path / "model.json.gz")
    hide_xgboost(monkeypatch)
    with pytest.raises(OptionError) as caught:
        CostModel.load(tmp_path / "model.json.gz")
    assert str(caught.value) == NEEDS_XGBOOST
