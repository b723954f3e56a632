"""Guess first: figures are held back until somebody has said what they will be."""

from __future__ import annotations

from pathlib import Path

import pytest
from helpers.bench_session import Bench
from helpers.schedules import matmul_schedule
from helpers.sessions import FakeRunner, ok

from tvmlab.tune import MeasureRequest, MeasureResult
from tvmlab.widgets import guessing


def seconds(request: MeasureRequest) -> MeasureResult:
    return ok(1e-3 if "parallel" in request.program else 2e-3)


@pytest.fixture
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Bench:
    monkeypatch.setattr(guessing, "default_cache_dir", lambda: tmp_path)
    made = Bench(matmul_schedule(16, 16, 16), FakeRunner(seconds))
    made.done("measure")
    assert made.session.wait(10)
    return made


def test_figures_wait_for_the_guess(bench: Bench) -> None:
    bench.done("guess", what="on", limit=None)
    bench.schedule.parallel(bench.schedule.loops("C")[0])
    bench.done("measure")
    assert bench.session.wait(10)
    state = bench.view.state
    assert state["guess"]["waiting"] == {"label": "parallel i", "against": "start"}
    assert state["history"]["nodes"][1]["seconds"] is None
    assert state["measurement"]["median"] != pytest.approx(1e-3)
    bench.done("guess", what="slower", limit=None)
    state = bench.view.state
    assert state["history"]["nodes"][1]["seconds"] == pytest.approx(1e-3)
    assert state["guess"]["waiting"] is None
    assert state["guess"]["last"]["right"] is False
    assert "2× as fast as start: faster. You said slower" in state["guess"]["last"]["words"]
    assert state["guess"]["scores"][2] == {"said": "slower", "times": 1, "right": 0}


def test_right_guesses_are_kept_for_the_next_session(bench: Bench, tmp_path: Path) -> None:
    bench.done("guess", what="on", limit=None)
    bench.schedule.parallel(bench.schedule.loops("C")[0])
    bench.done("measure")
    assert bench.session.wait(10)
    bench.done("guess", what="faster", limit="memory")
    assert bench.view.state["guess"]["last"]["right"] is True
    assert (tmp_path / "guesses.json").exists()
    fresh = Bench(matmul_schedule(8, 8, 8)).view.state["guess"]
    assert fresh["scores"][0] == {"said": "faster", "times": 1, "right": 1}
    (tmp_path / "guesses.json").write_text("{not json")
    assert guessing.Guessing().state["scores"][0]["times"] == 0


def test_switching_off_shows_what_waits(bench: Bench) -> None:
    assert "no measurement waits" in bench.failed("guess", what="same", limit=None)
    assert "no guess" in bench.failed("guess", what="purple", limit=None)
    bench.done("guess", what="on", limit=None)
    bench.schedule.parallel(bench.schedule.loops("C")[0])
    bench.done("measure")
    assert bench.session.wait(10)
    bench.done("guess", what="off", limit=None)
    assert bench.view.state["history"]["nodes"][1]["seconds"] == pytest.approx(1e-3)
