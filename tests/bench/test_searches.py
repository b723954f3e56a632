"""Searches beside each other: each run reads its own trials only, and goes on where it ended."""

from __future__ import annotations

from pathlib import Path

import pytest
from helpers.tune_templates import Oracle, blocked_space

import tvmlab.bench.searches as module
from tvmlab.bench import SearchRun, curves_html, read_runs, run_searches, summary_rows


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


def test_what_the_curves_say() -> None:
    runs = [SearchRun("mm", "random", n, (1.0, 2.0 + n, 4.0 + n)) for n in range(3)]
    assert runs[0].best == 4.0
    assert (runs[0].trials_to(2.0), runs[0].trials_to(9.0)) == (2, None)
    assert SearchRun("mm", "random", 0, ()).best == 0.0
    head, row = summary_rows(runs, (2, 3, 10))
    assert head == ("workload", "search", "seeds", "after 2", "after 3", "after 10")
    assert row == ("mm", "random", "3", "3.0", "5.0", "-")
    page = curves_html(runs)
    assert "random" in page
    assert "<title>searches</title>" in page
