"""`tvmlab bench`: the table and JSON say what the benchmarks found."""

from __future__ import annotations

import json
from collections.abc import Sequence

import pytest

from tvmlab.bench import BenchResult
from tvmlab.cli import bench, main
from tvmlab.support import RuntimeFailure

FAST = BenchResult("matmul-256", 2, (1e-3, 2e-3, 3e-3), (4e-3,), "NumPy 2", 10**9, True)
WRONG = BenchResult("conv2d-c2", 2, (1e-3,), (5e-4,), "PyTorch 2", 10**6, False)


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[tuple[list[str], int | None]]:
    """What was asked of the benchmarks, which answer at once."""
    calls: list[tuple[list[str], int | None]] = []

    def run_benchmarks(names: Sequence[str], threads: int | None) -> list[BenchResult]:
        calls.append((list(names), threads))
        known = {FAST.name: FAST, WRONG.name: WRONG}
        return [known[name] for name in names or known]

    monkeypatch.setattr(bench, "run_benchmarks", run_benchmarks)
    return calls


def test_table(
    asked: list[tuple[list[str], int | None]], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["bench", "matmul-256", "--threads", "2"]) == 0
    assert asked == [(["matmul-256"], 2)]
    head, row = capsys.readouterr().out.splitlines()
    assert head.split() == ["threads", "tvmlab", "peer", "ratio"]
    assert row.split() == [
        *("matmul-256", "2", "500.0", "GFLOP/s", "250.0", "GFLOP/s", "(NumPy", "2)", "2.00"),
        *("same", "result"),
    ]


def test_results_that_differ_fail(
    asked: list[tuple[list[str], int | None]], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["bench"]) == 1
    assert asked == [([], None)]
    assert "DIFFERENT RESULT" in capsys.readouterr().out


def test_json(
    asked: list[tuple[list[str], int | None]], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["bench", "--json", "matmul-256"]) == 0
    assert json.loads(capsys.readouterr().out) == [json.loads(json.dumps(FAST.to_json()))]
    assert len(asked) == 1


def test_unknown_name(
    asked: list[tuple[list[str], int | None]], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["bench", "matmul-255"]) == 2
    text = capsys.readouterr().err
    assert "there is no benchmark 'matmul-255'; did you mean 'matmul-256'?" in text
    assert asked == []


def test_missing_peer_is_told(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(names: Sequence[str], threads: int | None) -> list[BenchResult]:
        raise RuntimeFailure("benchmark conv2d-c2 failed", notes=["PyTorch is not installed"])

    monkeypatch.setattr(bench, "run_benchmarks", fail)
    assert main(["bench", "conv2d-c2"]) == 1
    assert capsys.readouterr().err == (
        "tvmlab: benchmark conv2d-c2 failed\nPyTorch is not installed\n"
    )
