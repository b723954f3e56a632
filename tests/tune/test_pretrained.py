"""The model that tvmlab comes with, models that begin with it, and the command that makes one."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from importlib import resources
from pathlib import Path

import numpy as np
import pytest
from helpers.pretrained import forget_shipped_model
from helpers.tune_programs import tiled_matmul
from helpers.tune_templates import blocked_space
from numpy.typing import NDArray

from tvmlab.cli.app import main
from tvmlab.schedule import Schedule
from tvmlab.support import InternalError, ParseError
from tvmlab.target import Target
from tvmlab.topi import matmul
from tvmlab.tune import (
    AnalyticModel,
    CostModel,
    Measurer,
    Tuner,
    extract_features,
    generic_space,
    pretrained_model,
    spearman,
)
from tvmlab.tune.features import REVISION
from tvmlab.tune.models import corrected

LEAST_CORRELATION = 0.7
MOST_MEASUREMENTS = 3
"""Beside other tests single measurements are slow; the fastest of each schedule counts."""


def scored(model: CostModel, rows: NDArray[np.float32]) -> NDArray[np.float64]:
    scores = model.predict(rows)
    assert scores is not None
    return scores


def test_it_knows_vectors_and_tiles_before_any_trial() -> None:
    tiled = tiled_matmul(64, rows=4, lanes=16)
    naive = Schedule(tiled.history.nodes[0].program)
    rows = np.stack([extract_features(s.program, 2) for s in (naive, tiled)])
    naive_score, tiled_score = scored(pretrained_model(), rows)
    assert tiled_score > naive_score


@pytest.mark.slow
def test_it_orders_real_measurements_that_it_has_not_seen() -> None:
    target = Target.host().with_threads(1)
    space = generic_space(matmul(288, 224, 416)[2], target)
    fastest: dict[tuple[int, ...], float] = {}
    found = 0.0
    for _ in range(MOST_MEASUREMENTS):
        with Measurer() as runner:
            for trial in Tuner(space, search="random", starts=(), runner=runner).run(80):
                if trial.status != "refused":
                    point = tuple(space.point(trial.values))
                    fastest[point] = max(fastest.get(point, 0.0), trial.gflops or 0.0)
        rows = space.features(np.array(list(fastest)))
        found = spearman(scored(pretrained_model(target), rows), list(fastest.values())) or 0.0
        if found > LEAST_CORRELATION:
            break
    assert len(fastest) <= 80, "each round measures the same points"
    assert found > LEAST_CORRELATION


def test_a_model_that_begins_with_it_learns_what_it_has_wrong() -> None:
    space = blocked_space(64)
    rows = space.features(space.sample(120, np.random.default_rng(0)))
    known = pretrained_model()
    believed = scored(known, rows)
    model = corrected(known)
    assert not model.trained
    assert np.array_equal(scored(model, rows), believed)
    assert model.predict_gflops(rows) is None
    speed = np.exp(-believed)  # a machine on which everything is the other way round
    model.fit(rows[:90], speed[:90])
    found = spearman(scored(model, rows[90:]), speed[90:])
    before = spearman(believed[90:], speed[90:])
    assert found is not None
    assert before is not None
    assert before < -0.99
    assert found > 0.5
    assert np.array_equal(scored(known, rows), believed)


def test_what_it_says_is_explained_and_kept(tmp_path: Path) -> None:
    space = blocked_space(64)
    rows = space.features(space.sample(40, np.random.default_rng(0)))
    model = corrected(pretrained_model())
    for learned in (False, True):
        if learned:
            model.fit(rows, np.exp(AnalyticModel().predict(rows)))
        scores = scored(model, rows[:8])
        sums = [sum(p.effect for p in model.explain(rows[n : n + 1], 1 << 16)) for n in range(8)]
        assert np.allclose(np.diff(np.array(sums) - scores), 0.0, atol=1e-3)
    for name in ("model.json", "model.json.gz"):
        model.save(tmp_path / name)
        again = CostModel.load(tmp_path / name)
        assert np.array_equal(scored(again, rows), scored(model, rows))
    (tmp_path / "cut.json.gz").write_bytes((tmp_path / "model.json.gz").read_bytes()[:900])
    with pytest.raises(ParseError, match="holds no cost model"):
        CostModel.load(tmp_path / "cut.json.gz")


def test_another_machine_has_its_own_analytic_model_beneath() -> None:
    space = blocked_space(64)
    row = space.features(space.sample(1, np.random.default_rng(0)))
    machines = [Target.host().with_threads(1), Target.of("cpu -mtriple=aarch64-linux-gnu")]
    told = [
        {p.feature: p.value for p in pretrained_model(m).explain(row, 1 << 16)} for m in machines
    ]
    believed = [float(AnalyticModel(m).predict(row)[0]) for m in machines]
    assert [t["analytic model"] for t in told] == pytest.approx(believed)
    assert believed[0] != believed[1]


ONE_THREAD = Target.host().with_threads(1)
OTHER = Target.of("cpu -mtriple=aarch64-linux-gnu")


def rows_of(count: int) -> NDArray[np.float32]:
    space = blocked_space(64)
    return space.features(space.sample(count, np.random.default_rng(0)))


def fitted(prior: CostModel | AnalyticModel, rows: NDArray[np.float32]) -> CostModel:
    """A model that has learned speeds of which a prior knows nothing."""
    model = corrected(prior)
    model.fit(rows, np.random.default_rng(1).uniform(1.0, 9.0, len(rows)))
    return model


@pytest.mark.parametrize("name", ["model.json", "model.json.gz"])
def test_a_model_that_has_learned_nothing_itself_is_saved_with_its_prior(
    name: str, tmp_path: Path
) -> None:
    rows = rows_of(20)
    prior = fitted(AnalyticModel(), rows)
    model = corrected(corrected(prior))
    model.save(tmp_path / name)
    again = CostModel.load(tmp_path / name)
    assert np.array_equal(scored(again, rows), scored(prior, rows))
    assert again.row_count == 20
    assert not model.trained


def test_a_compressed_model_may_lose_the_end_of_its_name(tmp_path: Path) -> None:
    fitted(AnalyticModel(), rows_of(20)).save(tmp_path / "model.json.gz")
    renamed = (tmp_path / "model.json.gz").rename(tmp_path / "model.json")
    assert CostModel.load(renamed).row_count == 20


@pytest.mark.parametrize(
    "prior", [AnalyticModel, pretrained_model], ids=["analytic model", "shipped model"]
)
def test_on_another_machine_it_predicts_over_that_one(
    prior: Callable[[Target], CostModel | AnalyticModel],
) -> None:
    rows = rows_of(40)
    model = fitted(prior(ONE_THREAD), rows)
    before = scored(model, rows)
    moved = scored(model.on(AnalyticModel(OTHER)), rows)
    # What was learned stays, so all that changes is what the analytic model says, by a factor.
    change = AnalyticModel(OTHER).predict(rows) - AnalyticModel(ONE_THREAD).predict(rows)
    factor = float((moved - before) @ change / (change @ change))
    assert factor > 0.0
    assert np.allclose(moved - before, factor * change, atol=1e-5)
    assert np.array_equal(scored(model, rows), before)


def test_on_another_machine_its_prior_is_there_too() -> None:
    rows = rows_of(40)
    there = AnalyticModel(OTHER)
    known = pretrained_model(ONE_THREAD)
    assert np.array_equal(
        scored(corrected(known).on(there), rows), scored(pretrained_model(OTHER), rows)
    )
    speed = np.random.default_rng(1).uniform(1.0, 9.0, len(rows))
    for here, same in ((AnalyticModel(ONE_THREAD), there), (known, pretrained_model(OTHER))):
        moved = fitted(here, rows).on(there)
        moved.fit(rows, speed)
        assert np.array_equal(scored(moved, rows), scored(fitted(same, rows), rows))


def test_what_corrects_it_is_learned_the_same_however_often() -> None:
    rows = rows_of(40)
    first, second = (fitted(pretrained_model(), rows) for _ in range(2))
    assert np.array_equal(scored(first, rows), scored(second, rows))


def test_a_model_without_prior_says_the_same_on_each_machine() -> None:
    rows = rows_of(40)
    model = CostModel(hold_out=False)
    model.fit(rows, np.random.default_rng(1).uniform(1.0, 9.0, len(rows)))
    moved = model.on(AnalyticModel(OTHER))
    assert moved.prior is None
    assert np.array_equal(scored(moved, rows), scored(model, rows))


def test_its_file_is_of_this_revision_of_features() -> None:
    file = resources.files("tvmlab.tune.models").joinpath("pretrained.json.gz")
    assert json.loads(gzip.decompress(file.read_bytes()))["revision"] == REVISION


def test_a_file_of_another_revision_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "model.json"
    path.write_text(json.dumps({**CostModel().to_json(), "revision": REVISION + 1}))
    with pytest.raises(ParseError) as caught:
        CostModel.load(path)
    assert str(caught.value) == (
        f"{path}: this cost model was made by another version of tvmlab, with other features\n"
        f"hint: fit one to measurements and save it, as `tvmlab pretrain FILE` does"
    )


def test_if_its_own_file_is_of_another_revision_that_is_a_bug(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("tvmlab.tune.models.cost_model.REVISION", REVISION + 1)
    forget_shipped_model()
    with pytest.raises(InternalError) as caught:
        pretrained_model()
    first, second = str(caught.value).splitlines()
    assert first.startswith("the cost model that tvmlab comes with does not fit it: ")
    assert first.endswith("made by another version of tvmlab, with other features")
    assert second == "hint: `tvmlab pretrain FILE` makes another, for `tvmlab tune --model FILE`"


def test_the_command_makes_a_model(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out, log = tmp_path / "mine.json.gz", str(tmp_path / "log.sqlite")
    words = ["pretrain", str(out), "--log", log, "--random", "8", "--searched", "0"]
    chosen = ["--workload", "matmul-192", "--workload", "depthwise-12x960s2"]
    assert main([*words, *chosen]) == 0
    told = capsys.readouterr()
    assert "matmul-192" in told.out
    assert "Spearman" in told.out
    assert "depthwise-12x960s2: 8 trials" in told.err
    assert CostModel.load(out).row_count == 16
    tune = ["tune", "matmul-32", "--trials", "2", "--model", str(out), "--json"]
    assert main([*tune, "--log", str(tmp_path / "other.sqlite")]) == 0
    nothing = ["pretrain", str(out), "--log", str(tmp_path / "empty.sqlite"), "--workload"]
    assert main([*nothing, "matmul-192", "--random", "0", "--searched", "0"]) == 1
    assert "there is nothing to learn from" in capsys.readouterr().err
