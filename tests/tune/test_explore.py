"""Exploring a space: records as they come, predictions before measurements, cancelling."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from concurrent.futures import Future
from pathlib import Path

import pytest
from helpers.tune_programs import matmul

from tvmlab import te
from tvmlab.ir import structural_hash
from tvmlab.schedule import Schedule
from tvmlab.tune import (
    BoosterOptions,
    CostModel,
    Learner,
    Measurer,
    MeasureRequest,
    MeasureResult,
    MeasureSettings,
    Record,
    RecordLog,
    explore_space,
    predicted_vs_measured,
)

QUICK = MeasureSettings(repeats=3, repeat_seconds=1e-4, budget_seconds=0.02)


class Pretender:
    """Answers at once with a time that follows from the program, and fails now and then."""

    def __init__(self, *, hang: bool = False) -> None:
        self.requests: list[MeasureRequest] = []
        self.hang = hang

    def submit(self, request: MeasureRequest) -> Future[MeasureResult]:
        self.requests.append(request)
        future: Future[MeasureResult] = Future()
        if not self.hang:
            future.set_result(self._result(request))
        return future

    def cancel(self, future: Future[MeasureResult] | None = None) -> None:
        if future is not None and not future.done():
            future.set_result(MeasureResult("cancelled"))

    def _result(self, request: MeasureRequest) -> MeasureResult:
        if len(self.requests) % 10 == 0:
            return MeasureResult("crash", error="crashed", signal="SIGSEGV")
        vectors = request.program.count("vectorized") + 4 * request.program.count("parallel")
        return MeasureResult("ok", seconds=(1e-3 / (1 + vectors),))


@pytest.fixture
def learner() -> Learner:
    return Learner(CostModel(BoosterOptions(rounds=20)))


def test_records_come_with_predictions_made_before(learner: Learner, tmp_path: Path) -> None:
    log = RecordLog(tmp_path / "log.jsonl")
    told: list[Record] = []
    runner = Pretender()
    c = matmul(32)
    found = list(
        explore_space(
            c, 30, seed=1, callback=told.append, measurer=runner, learner=learner, log=log
        )
    )
    assert found == told
    assert [r.index for r in found] == list(range(30))
    assert len({r.program_hash for r in found}) == 30
    assert all(r.predicted_gflops is None for r in found[:6])
    assert all(r.predicted_gflops is not None for r in found[8:])
    assert all(r.model_rows < r.index + 1 for r in found)
    assert [r.gflops is None for r in found].count(True) == 3
    assert json.loads(json.dumps(found[3].to_json())) == log.read()[3]
    replayed = Schedule.replay(c, found[12].trace)
    assert structural_hash(replayed.program) == found[12].program_hash
    assert runner.requests[0].reference


def test_the_plot_holds_only_honest_points(learner: Learner) -> None:
    records = list(explore_space(matmul(64), 80, measurer=Pretender(), learner=learner))
    data = predicted_vs_measured(records)
    assert data["unit"] == "GFLOP/s"
    assert len(data["points"]) == 80
    assert data["failures"] == {"crash": 8}
    both = [p for p in data["points"] if p["predicted"] and p["measured"]]
    assert data["rank"]["count"] == len(both) < 80
    assert data["rank"]["spearman"] > 0.3
    json.dumps(data)


def test_the_same_seed_draws_the_same_schedules() -> None:
    runs = [
        [r.program_hash for r in explore_space(matmul(32), 5, seed=s, measurer=Pretender())]
        for s in (3, 3, 4)
    ]
    assert runs[0] == runs[1] != runs[2]


def test_a_small_space_ends_early() -> None:
    a = te.placeholder((2,), name="A")
    c = te.compute((2,), lambda i: a[i] * 2.0, name="C")
    assert 0 < len(list(explore_space(c, 500, measurer=Pretender()))) < 50


def test_cancelling_ends_a_measurement_under_way() -> None:
    stop = threading.Event()
    threading.Timer(0.1, stop.set).start()
    records = explore_space(matmul(32), 5, measurer=Pretender(hang=True), cancel=stop)
    assert list(records) == []


def test_leaving_the_loop_ends_the_measurement(learner: Learner) -> None:
    records = explore_space(matmul(32), 50, measurer=Pretender(), learner=learner)
    assert isinstance(records, Iterator)
    next(records)
    records.close()  # type: ignore[attr-defined]  # generators have it
    assert learner.row_count == 1


def test_real_measurements(tmp_path: Path) -> None:
    with Measurer(lock=tmp_path / "lock") as measurer:
        records = list(explore_space(matmul(48), 4, measurer=measurer, settings=QUICK))
    assert [(r.result.status, r.result.error) for r in records] == [("ok", "")] * 4
    assert all(r.gflops is not None and r.gflops > 0 for r in records)


@pytest.mark.slow
def test_a_model_of_real_measurements_ranks_schedules_it_has_not_seen(tmp_path: Path) -> None:
    """One thread, so that a busy machine disturbs little; 0.8 and more on a quiet one."""
    learner = Learner()
    with Measurer(lock=tmp_path / "lock") as measurer:
        records = list(
            explore_space(
                matmul(256), 100, measurer=measurer, learner=learner, target="cpu -num-threads=1"
            )
        )
    assert {r.result.status for r in records} == {"ok"}
    learner.refit()
    assert learner.model.held_out is not None
    held_out = learner.model.held_out.report
    assert held_out.spearman is not None
    assert held_out.spearman > 0.6
    assert held_out.best_of_top[0.1] > 0.6
    before = predicted_vs_measured(records)["rank"]["spearman"]
    assert before > 0.5
