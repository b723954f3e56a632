"""Searches beside each other: each run reads its own trials only, and goes on where it ended."""

from __future__ import annotations

from concurrent.futures import Future
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from helpers.tune_programs import matmul
from helpers.tune_templates import Oracle, blocked_space

import tvmlab.bench.searches as module
from tvmlab.bench import (
    SearchRun,
    cheap_first,
    contest_rows,
    contests,
    curves_html,
    measure_again,
    measure_defaults,
    near_rows,
    read_runs,
    run_searches,
    stages_of,
    summary_rows,
)
from tvmlab.bench.answers import Answers
from tvmlab.tune import MeasureRequest, MeasureResult, Trial, TuningLog, generic_space


class OracleMeasurer(Oracle):
    """The oracle in place of worker processes."""

    def __init__(self, workers: int) -> None:
        super().__init__(lambda text: 1e-6 * len(text))
        self.workers = workers

    def __enter__(self) -> OracleMeasurer:
        return self

    def __exit__(self, *_exception: object) -> None:
        pass


def test_runs_are_apart_and_go_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "Measurer", OracleMeasurer)
    spaces, log = {"mm": blocked_space(16)}, tmp_path / "log"
    searches = ("random", "genetic")
    ended = run_searches(spaces, searches, seeds=(0,), trials=6, log=log, seconds=0)
    assert list(ended) == []
    assert [len(run.curve) for run in read_runs(log)] == [1]
    runs = list(run_searches(spaces, searches, seeds=(0, 1), trials=6, log=log))
    assert [(r.search, r.seed) for r in runs] == [
        ("random", 0), ("genetic", 0), ("random", 1), ("genetic", 1),
    ]  # fmt: skip
    assert all(len(run.curve) == 6 for run in runs)
    assert read_runs(log) == sorted(runs, key=lambda r: runs.index(r))
    assert read_runs(log, starts=True) == []
    [again] = run_searches(spaces, ("random",), seeds=(0,), trials=6, log=log)
    assert again == runs[0]


def test_all_get_few_trials_before_any_gets_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "Measurer", OracleMeasurer)
    spaces = {name: blocked_space(n) for name, n in (("a", 16), ("b", 32))}
    runs = list(
        run_searches(spaces, ("random",), seeds=(0, 1), trials=8, log=tmp_path / "log",
                     stages=stages_of(8))
    )  # fmt: skip
    assert stages_of(8) == (2, 4, 8)
    assert [(r.workload, r.seed, len(r.curve)) for r in runs[:5]] == [
        ("a", 0, 2), ("a", 1, 2), ("b", 0, 2), ("b", 1, 2), ("a", 0, 4),
    ]  # fmt: skip
    assert len(runs) == 12
    assert [len(run.curve) for run in read_runs(tmp_path / "log")] == [8] * 4


def test_the_best_are_measured_again_beside_the_default(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "Measurer", OracleMeasurer)
    log, spaces = tmp_path / "log", {"matmul-32": generic_space(matmul(32))}
    measure_defaults(spaces, log)
    measure_defaults(spaces, log)
    list(run_searches(spaces, ("random",), seeds=(0, 1), trials=4, log=log))
    measure_again(spaces, log)
    with TuningLog(log) as opened:
        assert len(opened.trials(kind="again")) == 6  # two rounds for the default and two runs
    measure_again(spaces, log)
    with TuningLog(log) as opened:
        assert len(opened.trials(kind="again")) == 6
        assert len(opened.trials()) == 9
    runs = read_runs(log)
    assert [(r.search, r.seed) for r in runs] == [("default", 0), ("random", 0), ("random", 1)]
    assert all(run.again == pytest.approx(run.curve[-1]) for run in runs)
    rows = summary_rows(runs, (2, 4))
    assert rows[1][:3] == ("matmul-32", "default", "1")
    assert rows[1][3] == rows[1][4] != "-"


def test_cheap_workloads_come_first(tmp_path: Path) -> None:
    with TuningLog(tmp_path / "log") as log:
        for name, seconds in (("a", 0.5), ("b", 0.1)):
            result = {"stage_seconds": {"build": seconds, "run": 0.1}}
            log.add(Trial("w", "t", tuner=f"{name}/default/0/alone", result=result))
    assert cheap_first(["a", "b", "new"], tmp_path / "log") == ["new", "b", "a"]


def test_no_program_is_measured_twice_in_a_sitting(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[OracleMeasurer] = []

    class Careful(OracleMeasurer):
        """One that takes as many repeats as are asked for."""

        def __init__(self, workers: int) -> None:
            super().__init__(workers)
            made.append(self)

        def submit(self, request: MeasureRequest) -> Future[MeasureResult]:
            result = super().submit(request).result()
            future: Future[MeasureResult] = Future()
            future.set_result(replace(result, seconds=result.seconds * 5))
            return future

    monkeypatch.setattr(module, "Measurer", Careful)
    spaces, log = {"mm": blocked_space(16)}, tmp_path / "log"
    runs = list(run_searches(spaces, ("random", "genetic"), seeds=(0,), trials=8, log=log))
    assert [len(run.curve) for run in runs] == [8, 8]
    assert runs[0].curve == runs[1].curve  # both begin with the same points
    assert len(made[0].requests) == 8
    with TuningLog(log) as opened:
        taken = [t.measurement().taken_from for t in opened.trials(tuner="mm/genetic/0/alone")]
    assert taken == ["mm/random/0/alone"] * 8


def trial_of(seconds: tuple[float, ...], **named: Any) -> Trial:
    result = MeasureResult(named.pop("status", "ok"), seconds=seconds, **named)
    return Trial("w", "t", program_hash="p", status=result.status, result=result.to_json(),
                 tuner="one")  # fmt: skip


def test_an_answer_is_as_good_as_a_measurement() -> None:
    answers = Answers()
    assert answers.find("p", 0.0) is None
    answers.note(trial_of((1.0, 1.0, 1.0)))
    found = answers.find("p", 0.0)
    assert found is not None
    assert (found.taken_from, found.median, answers.given) == ("one", 1.0, 1)
    answers.note(trial_of((1.0, 1.0, 1.0), disturbed=("a neighbor",)))
    assert answers.find("p", 0.0) is None
    answers.note(trial_of((1.0,)))  # a glance says enough only of the hopeless
    assert answers.find("p", 0.0) is None
    assert answers.find("p", 0.9) is None
    assert answers.find("p", 0.1) is not None
    answers.note(trial_of((), status="wrong_result", error="wrong"))
    assert answers.find("p", 0.0) is not None
    answers.note(trial_of((), status="memory", error="the machine may have been full"))
    assert answers.find("p", 0.0) is None
    answers.note(trial_of((2.0, 2.0, 2.0), taken_from="two"))  # not a measurement
    assert answers.find("p", 0.0) is None


def test_an_answer_is_no_longer_good_when_the_machine_has_changed() -> None:
    answers = Answers()
    answers.read(1.0)
    answers.note(trial_of((1.0, 1.0, 1.0)))
    answers.read(1.01)
    assert answers.find("p", 0.0) is not None
    answers.read(1.2)
    assert answers.find("p", 0.0) is None
    assert answers.drift == pytest.approx(0.2)
    answers.note(trial_of((1.2, 1.2, 1.2)))
    assert answers.find("p", 0.0) is not None


def test_who_wins_at_equal_trials() -> None:
    runs = [
        SearchRun(f"w{w}", search, seed, tuple(gain * (w + 1.0) * n for n in range(1, 5)))
        for w in range(6)
        for search, gain in (("annealing", 2.0), ("random", 1.0))
        for seed in range(3)
    ]
    runs.append(SearchRun("w0", "default", 0, (1.0,)))
    found = contests(runs, "annealing", (2, 4, 9))
    assert [(c.second, c.mark) for c in found] == [("random", 2), ("random", 4)]
    assert found[0].ratio == pytest.approx(2.0)
    assert (found[0].won, found[0].lost) == (6, 0)
    assert found[0].chance is not None
    assert found[0].chance < 0.05
    assert contest_rows(found)[1][:6] == ("annealing", "random", "2", "2.000", "6", "0")
    rows = {row[0]: row for row in near_rows(runs)}
    assert rows["annealing"][1:] == ("6", "6", "w0 100.0%", "1 of 1")
    assert rows["random"][2] == "0"
    few = contests([r for r in runs if r.workload == "w1"], "annealing", (2,))
    assert few[0].chance is None


def test_only_seeds_that_both_have_are_compared() -> None:
    runs = [SearchRun("w", "annealing", 0, (1.0,)), SearchRun("w", "annealing", 1, (9.0,))]
    runs.append(SearchRun("w", "random", 0, (2.0,)))
    [found] = contests(runs, "annealing", (1,))
    assert found.ratio == pytest.approx(0.5)


def test_what_the_curves_say() -> None:
    runs = [SearchRun("mm", "random", n, (1.0, 2.0 + n, 4.0 + n)) for n in range(3)]
    assert runs[0].best == 4.0
    assert (runs[0].trials_to(2.0), runs[0].trials_to(9.0)) == (2, None)
    assert SearchRun("mm", "random", 0, ()).best == 0.0
    head, row = summary_rows(runs, (2, 3, 10))
    assert head == ("workload", "search", "seeds", "after 2", "after 3", "after 10", "of best")
    assert row == ("mm", "random", "3", "3.0", "5.0", "-", "83.3%")
    page = curves_html(runs)
    assert "random" in page
    assert "<title>searches</title>" in page
