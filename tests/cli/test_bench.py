"""`tvmlab bench`: the table and JSON say what the benchmarks found."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tvmlab.bench import BenchResult, Score
from tvmlab.cli import bench, main
from tvmlab.support import RuntimeFailure
from tvmlab.target import MachinePeaks


def _result(name: str, error: float) -> BenchResult:
    scores = (Score("tvmlab", (2e-3,), error), Score("NumPy", (4e-3,), 1e-7, "packed"))
    return BenchResult(
        "gemm", name, 2, "float32", "flops", 10**9, (10, 10), scores, 1e-3, {"numba": "not there"}
    )


FAST, WRONG = _result("sgemm-256", 1e-7), _result("sgemm-512", 1.0)


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """What was asked of the benchmarks, which answer at once."""
    calls: list[dict[str, Any]] = []

    def run_benchmarks(names: list[str], threads: Any, **named: Any) -> list[BenchResult]:
        calls.append({"names": names, "threads": threads, **named})
        known = {FAST.name: FAST, WRONG.name: WRONG}
        for name in names or known:
            named["seen"](known[name])
        return []

    peaks = MachinePeaks("m", 512, 3.0, {}, ())
    monkeypatch.setattr(bench, "run_benchmarks", run_benchmarks)
    monkeypatch.setattr(bench, "machine_peaks", lambda: peaks)
    return calls


def test_table(asked: list[dict[str, Any]], capsys: pytest.CaptureFixture[str]) -> None:
    words = ["sgemm-256", "--threads", "1", "--threads", "2", "--turns", "3", "--peer", "numpy"]
    assert main(["bench", *words]) == 0
    assert asked[0]["names"] == ["sgemm-256"]
    assert asked[0]["threads"] == [1, 2]
    assert (asked[0]["turns"], asked[0]["libraries"]) == (3, ["numpy"])
    title, head, row, *rest = capsys.readouterr().out.splitlines()
    assert title == "gemm, 2 threads, GFLOP/s"
    assert head.split() == ["tvmlab", "NumPy", "to", "best", "of", "limit", "error", "of", "peers"]
    assert row.split() == [
        "sgemm-256",
        "500",
        "±0%",
        "250",
        "±0%",
        "2.00",
        "50%",
        "1.0e-07",
        "1.0e-07",
    ]
    assert "  NumPy: packed, not in the time" in rest
    assert "  without numba: not there" in rest
    assert "measured on" in rest


def test_a_wrong_result_fails(
    asked: list[dict[str, Any]], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["bench"]) == 1
    assert asked[0]["names"] == []
    assert "WRONG" in capsys.readouterr().out


def test_json(asked: list[dict[str, Any]], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "--json", "sgemm-256"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found.keys() == {"machine", "limits", "results"}
    assert found["results"] == [json.loads(json.dumps(FAST.to_json()))]
    assert found["limits"]["vector_bits"] == 512
    assert "disturbances" in found["machine"]


def test_plot(asked: list[dict[str, Any]], tmp_path: Path) -> None:
    pytest.importorskip("plotly")
    file = tmp_path / "new" / "bars.html"
    assert main(["bench", "sgemm-256", "--plot", str(file)]) == 0
    assert "sgemm-256" in file.read_text()
    assert len(asked) == 1


def test_list(asked: list[dict[str, Any]], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "--list", "sgemm-64"]) == 0
    assert capsys.readouterr().out.split() == ["gemm", "sgemm-64", "64x64,", "64x64", "float32"]
    assert asked == []


def test_unknown_name(asked: list[dict[str, Any]], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "sgemm-255"]) == 2
    text = capsys.readouterr().err
    assert "there is no benchmark named 'sgemm-255'" in text
    assert "did you mean 'sgemm-256'?" in text
    assert asked == []


def test_a_failure_is_told(
    asked: list[dict[str, Any]],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def fail(*_: Any, **__: Any) -> list[BenchResult]:
        raise RuntimeFailure("the benchmark process failed", notes=["out of memory"])

    monkeypatch.setattr(bench, "run_benchmarks", fail)
    assert main(["bench", "C2"]) == 1
    assert capsys.readouterr().err == "tvmlab: the benchmark process failed\nout of memory\n"


@pytest.mark.parametrize(
    ("failure", "code"),
    [(RuntimeFailure("the benchmark process failed"), 1), (KeyboardInterrupt(), 1)],
)
def test_rows_measured_before_a_failure_are_shown(
    failure: BaseException,
    code: int,
    asked: list[dict[str, Any]],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def fail(*_: Any, **named: Any) -> list[BenchResult]:
        named["seen"](FAST)
        raise failure

    monkeypatch.setattr(bench, "run_benchmarks", fail)
    assert main(["bench"]) == code
    assert "sgemm-256" in capsys.readouterr().out
    assert asked == []
