"""Benchmarks: that both sides compute the same, and what is said when something is missing."""

from __future__ import annotations

import pytest

from tvmlab.bench import BenchResult, run_benchmarks
from tvmlab.support import OptionError


def test_a_contest_runs_and_agrees() -> None:
    (result,) = run_benchmarks(["matmul-256"], threads=1)
    assert result.agree
    assert result.threads == 1
    assert len(result.ours) == len(result.peer)
    assert result.ratio == pytest.approx(result.ours_gflops / result.peer_gflops)
    assert result.to_json()["peer"].startswith("NumPy")


def test_unknown_benchmark() -> None:
    with pytest.raises(OptionError, match="there is no benchmark named 'sort'") as caught:
        run_benchmarks(["sort"])
    assert "matmul-1024" in str(caught.value)


def test_rates_come_from_medians() -> None:
    result = BenchResult("x", 1, (1.0, 2.0, 30.0), (4.0, 4.0, 4.0), "peer", 8 * 10**9, True)
    assert (result.ours_gflops, result.peer_gflops, result.ratio) == (4.0, 2.0, 2.0)
