"""`tvmlab pretrain`: it learns from logs, and refuses early what would fail late."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from helpers.pretrained import NEEDS_XGBOOST, hide_xgboost
from helpers.tune_templates import blocked_space

from tvmlab.cli import main
from tvmlab.target import Target
from tvmlab.tune import CostModel, Trial, TuningLog
from tvmlab.tune.log import target_key

ENOUGH = 6
Capture = pytest.CaptureFixture[str]


def write_trials(path: Path, *counts: int, failed: int = 0) -> Path:
    """A log with so many measured schedules of each computation, and failed ones of the first."""
    target = target_key(Target.of("cpu"))
    space = blocked_space(64)
    rng = np.random.default_rng(0)
    with TuningLog(path) as log:
        for number, count in enumerate(counts):
            for row in space.features(space.sample(count, rng)):
                gflops = float(rng.uniform(1, 9))
                log.add(Trial(f"w{number}", target, seconds=1.0, gflops=gflops), row)
        for row in space.features(space.sample(failed, rng)):
            log.add(Trial("w0", target, status="crash"), row)
    return path


def fit_from(log: Path, out: Path, *more: str) -> int:
    """The command, which measures nothing besides what the log has."""
    words = ["--workload", "matmul-192", "--random", "0", "--searched", "0"]
    return main(["pretrain", str(out), "--log", str(log), *words, *more])


def told(capsys: Capture) -> str:
    """The refusal, without what is told of progress before it."""
    return capsys.readouterr().err.partition("tvmlab: ")[2]


def test_it_learns_from_all_logs(tmp_path: Path, capsys: Capture) -> None:
    first = write_trials(tmp_path / "first", 8, 9)
    second = write_trials(tmp_path / "second", 0, 0, 10)
    out = tmp_path / "mine.json.gz"
    assert fit_from(first, out, "--log", str(second)) == 0
    assert CostModel.load(out).row_count == 27
    lines = [line.split()[:2] for line in capsys.readouterr().out.splitlines()]
    assert sorted(lines)[-3:] == [["w0", "8"], ["w1", "9"], ["w2", "10"]]


def test_a_missing_log_to_be_read(tmp_path: Path, capsys: Capture) -> None:
    missing, out = tmp_path / "missing", tmp_path / "mine.json"
    assert fit_from(tmp_path / "log", out, "--log", str(missing)) == 1
    assert told(capsys) == (
        f"there is no log {missing} to be read\n"
        f"hint: only the first --log is made where there is none\n"
    )
    assert not (tmp_path / "log").exists()


def test_a_log_to_be_read_that_is_none(tmp_path: Path, capsys: Capture) -> None:
    (tmp_path / "notes").write_text("no database, but long enough to be looked at" * 10)
    assert fit_from(tmp_path / "log", tmp_path / "mine.json", "--log", f"{tmp_path}/notes") == 1
    assert "notes is no tuning log" in told(capsys)
    assert not (tmp_path / "log").exists(), "refused before anything is measured"


def test_a_missing_folder_for_the_model(tmp_path: Path, capsys: Capture) -> None:
    folder = tmp_path / "missing"
    assert fit_from(tmp_path / "log", folder / "mine.json") == 1
    assert told(capsys) == (
        f"there is no folder {folder} for the model\nhint: make it: mkdir -p {folder}\n"
    )
    assert not (tmp_path / "log").exists()


def test_a_folder_in_the_place_of_the_model(tmp_path: Path, capsys: Capture) -> None:
    assert fit_from(tmp_path / "log", tmp_path) == 1
    assert told(capsys) == (
        f"{tmp_path} is a folder, and the model is a file\n"
        f"hint: take {tmp_path / 'model.json.gz'}\n"
    )
    assert not (tmp_path / "log").exists()


def test_nothing_is_measured_without_xgboost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    hide_xgboost(monkeypatch)
    assert fit_from(tmp_path / "log", tmp_path / "mine.json") == 1
    assert told(capsys) == f"{NEEDS_XGBOOST}\n"
    assert not (tmp_path / "log").exists()


def test_an_empty_log(tmp_path: Path, capsys: Capture) -> None:
    assert fit_from(tmp_path / "log", tmp_path / "mine.json") == 1
    assert told(capsys) == (
        "there is nothing to learn from: no log has a schedule measured on this machine\n"
        "hint: let it measure: --random 200\n"
    )


def test_too_few_schedules_that_worked(tmp_path: Path, capsys: Capture) -> None:
    log = write_trials(tmp_path / "log", ENOUGH - 1, failed=9)
    assert fit_from(log, tmp_path / "mine.json") == 1
    assert told(capsys) == (
        "5 schedules that worked are too few to learn from; it takes 6\n"
        "hint: measure more: --random 200\n"
    )
    assert not (tmp_path / "mine.json").exists()


@pytest.mark.parametrize("counts", [(8,), (ENOUGH - 1, ENOUGH - 1)])
def test_it_says_what_its_report_needs(
    counts: tuple[int, ...], tmp_path: Path, capsys: Capture
) -> None:
    out = tmp_path / "mine.json"
    assert fit_from(write_trials(tmp_path / "log", *counts), out) == 0
    assert capsys.readouterr().out == (
        f"{out} is written; how well it orders schedules of a computation that it has not seen\n"
        f"is told of two or more (--workload), each with 6 schedules that worked\n"
    )
    assert CostModel.load(out).row_count == sum(counts)
