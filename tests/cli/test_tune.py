"""`tvmlab tune`: a workload by name, the report, going on from the log."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tvmlab.cli import main
from tvmlab.cli.workloads import named_workload
from tvmlab.target import Target
from tvmlab.tune import TuningLog


def test_a_workload_is_tuned_and_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["tune", "matmul-32", "--trials", "4", "--log", str(tmp_path / "log")]
    assert main([*words, "--search", "random"]) == 0
    out = capsys.readouterr().out
    assert "best" in out
    assert "GFLOP/s" in out
    assert "sch." in out
    assert main([*words, "--search", "random", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["measured"] == 8
    assert len(report["curve"]) == 8
    with TuningLog(tmp_path / "log") as log:
        assert len([t for t in log.trials() if t.status != "refused"]) == 8


@pytest.mark.parametrize("name", ["matmul-64", "matmul-16x32x64", "C1", "C5", "C9", "D2", "D9"])
def test_workloads_have_names(name: str) -> None:
    out, default = named_workload(name, Target.of("cpu"))
    assert out.shape
    assert len(default.trace) > 3


def test_an_unknown_workload_is_a_usage_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["tune", "matmul512", "--log", str(tmp_path / "log")]) == 2
    told = capsys.readouterr().err
    assert "did you mean 'matmul-512'" in told
    assert "workloads are matmul-N" in told
