"""Benchmarks: rows are found, all compute the same, and the figures follow from the medians."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from tvmlab.bench import ROWS, BenchResult, Row, Score, Watch, find_rows, plot_html, result_tables
from tvmlab.bench import run_benchmarks as run
from tvmlab.bench.contest import run_contest
from tvmlab.bench.operators import OPERATORS
from tvmlab.bench.roof import limit_seconds
from tvmlab.bench.row import Contender, Inputs, Operator, Peer, random_inputs
from tvmlab.support import OptionError, RuntimeFailure
from tvmlab.target import Bandwidth, MachinePeaks, Target


def result(*seconds: Sequence[float], errors: Sequence[float] = (1e-7, 1e-7)) -> BenchResult:
    """tvmlab and other libraries with these seconds, 8 GFLOP each."""
    names = ["tvmlab", "NumPy", "torch"]
    scores = [Score(n, tuple(s), e) for n, s, e in zip(names, seconds, errors, strict=False)]
    limit, moved = 1.0, (10**9, 10**9)
    return BenchResult(
        "gemm", "x", 2, "float32", "flops", 8 * 10**9, moved, tuple(scores), limit, {}
    )


def test_a_contest_runs_in_a_process_and_agrees() -> None:
    seen: list[BenchResult] = []
    (found,) = run(["sgemm-64"], 1, turns=2, libraries=["numpy"], seen=seen.append)
    assert seen == [found]
    assert found.agrees
    assert (found.threads, found.flops, found.moved) == (1, 2 * 64**3, (2 * 64**2 * 4, 64**2 * 4))
    assert [score.name for score in found.scores] == ["tvmlab", "NumPy"]
    assert all(len(score.seconds) == 2 for score in found.scores)
    assert json.loads(json.dumps(found.to_json()))["unit"] == "GFLOP/s"


def test_rows_have_operators_and_names_of_their_own() -> None:
    assert len({row.name for row in ROWS}) == len(ROWS)
    assert not {row.name for row in ROWS} & {row.group for row in ROWS}
    assert {row.operator for row in ROWS} == set(OPERATORS)


@pytest.mark.parametrize("row", ROWS, ids=str)
def test_figures_of_a_row_are_counted(row: Row) -> None:
    operator = OPERATORS[row.operator]
    read, written = operator.moved(row)
    assert read >= 0
    assert written > 0
    assert (operator.flops(row) > 0) or operator.measure != "flops"


def test_rows_are_found_by_group_name_and_pattern() -> None:
    assert [row.name for row in find_rows(["sgemm-64", "C1", "sgemm-64"])] == ["sgemm-64", "C1"]
    assert {row.group for row in find_rows(["conv"])} == {"conv"}
    assert all(row.name.startswith("bf16-") for row in find_rows(["bf16-*"]))
    assert find_rows() == list(ROWS)
    with pytest.raises(OptionError, match="there is no benchmark named 'sgemm-10224'") as caught:
        find_rows(["sgemm-10224"])
    assert "did you mean 'sgemm-1024'?" in str(caught.value)
    assert "groups are gemm, conv" in str(caught.value)


def test_figures_come_from_medians() -> None:
    found = result((1.0, 2.0, 30.0), (4.0, 4.0, 4.0), (3.0, 3.0), errors=(1e-7, 0, 0))
    assert found.rate(found.ours) == (4.0, "GFLOP/s")
    assert found.best_peer is found.scores[2]
    assert found.ratio == 1.5
    assert found.share == 0.5
    assert found.ours.spread == pytest.approx(14.5 / 2)
    assert result((1.0,)).ratio is None
    assert result((1.0,)).best_peer is None


def test_an_error_is_judged_beside_the_peers() -> None:
    assert result((1.0,), (1.0,), errors=(9e-6, 0)).agrees
    assert not result((1.0,), (1.0,), errors=(2e-5, 0)).agrees
    assert result((1.0,), (1.0,), errors=(2e-5, 6e-6)).agrees


def test_the_roof_is_arithmetic_or_memory() -> None:
    levels = (
        Bandwidth("L1", 1, 1000, 750, 100.0, 50.0, 80.0),
        Bandwidth("memory", 1, 1 << 62, 4000, 10.0, 5.0, 8.0),
    )
    peaks = MachinePeaks("m", 512, 3.0, {"float32": {1: 100.0}}, levels)
    assert limit_seconds(peaks, 1, "float32", 10**11, (400, 400)) == 1.0
    near = limit_seconds(peaks, 1, "float32", 0, (600, 200))
    assert near == pytest.approx((400 / 80 + 400 / 100) / 1e9)
    far = limit_seconds(peaks, 1, "float32", 0, (10**9, 3 * 10**9))
    assert far == pytest.approx(2 / 8 + 2 / 5)
    assert limit_seconds(peaks, 1, "int8", 10, (1, 1)) is None
    assert limit_seconds(peaks, 7, "float32", 0, (1, 1)) is None


def test_tables_name_lost_rows_and_what_was_prepared() -> None:
    lost = result((4.0,), (2.0,))
    won = result((1.0, 1.0), (2.0, 2.0), errors=(1.0, 0))
    won.missing["openvino"] = "not installed"
    [(title, lines, remarks)] = result_tables([lost, won])
    assert title == "gemm, 2 threads, GFLOP/s"
    assert lines[0] == ("", "tvmlab", "NumPy", "to best", "of limit", "error", "of peers")
    assert lines[1] == ("x", "2 ±0%", "4 ±0%", "0.50", "25%", "1.0e-07", "1.0e-07")
    assert lines[2][-2] == "1.0e+00 WRONG"
    assert remarks == [
        "to the best peer: 1.00 (geometric mean), lost: x",
        "without openvino: not installed",
    ]


def test_the_plot_is_one_page_without_a_network() -> None:
    pytest.importorskip("plotly")
    page = plot_html([result((1.0,), (2.0,))], ["a < b"])
    assert "a &lt; b" in page
    assert "limit of the machine" in page
    assert 'src="http' not in page


def test_the_machine_is_stated() -> None:
    seen = Watch().stop()
    assert seen.cpus >= 1
    assert "numpy" in seen.versions
    assert json.loads(json.dumps(seen.to_json()))["machine"] == seen.machine
    assert "GHz" in " ".join(seen.lines())


def _missing(row: Row, inputs: Inputs, threads: int) -> Sequence[Contender]:
    raise ImportError("no such library")


def _refusing(row: Row, inputs: Inputs, threads: int) -> Sequence[Contender]:
    raise ValueError("too large\nsecond line")


def _failing(row: Row, inputs: Inputs, threads: int) -> Sequence[Contender]:
    def run() -> None:
        raise MemoryError("at run time")

    return [Contender("late", run, lambda: inputs[0])]


def _doubling(row: Row, inputs: Inputs, target: Target) -> Contender:
    out = np.empty_like(inputs[0])
    return Contender("tvmlab", lambda: np.add(inputs[0], inputs[0], out=out), lambda: out)


def test_peers_that_cannot_take_part_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    peers = (Peer("gone", _missing), Peer("picky", _refusing), Peer("late", _failing),
             Peer("slow", _missing, "it takes an hour"))  # fmt: skip
    operator = Operator(_doubling, lambda row, inputs: inputs[0] * 2.0, peers)
    monkeypatch.setitem(OPERATORS, "double", operator)
    row = Row("test", "double", "double", ((4, 4),))
    found = run_contest(row, 1, 1)
    assert [c["name"] for c in found["contenders"]] == ["tvmlab"]
    assert found["contenders"][0]["error"] == 0
    assert found["missing"] == {
        "gone": "not installed: no such library",
        "picky": "cannot do it: ValueError: too large",
        "late": "failed: MemoryError: at run time",
        "slow": "it takes an hour: --peer slow asks for it",
    }
    assert run_contest(row, 1, 1, libraries=["slow"])["missing"] == {
        "slow": "not installed: no such library"
    }
    assert run_contest(row, 1, 1, libraries=["picky"])["missing"].keys() == {"picky"}


def test_long_runs_are_measured_a_few_times(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []

    def turn(count: int) -> float:
        asked.append(count)
        return 7.0

    def crawling(row: Row, inputs: Inputs, threads: int) -> Sequence[Contender]:
        return [Contender("crawling", lambda: None, lambda: inputs[0] * 2.0, turn)]

    operator = Operator(_doubling, lambda row, inputs: inputs[0] * 2.0, (Peer("c", crawling),))
    monkeypatch.setitem(OPERATORS, "double", operator)
    ours, other = run_contest(Row("test", "double", "double", ((4, 4),)), 1, 5)["contenders"]
    assert len(ours["seconds"]) == 5
    assert other["seconds"] == [7.0] * 3
    assert asked == [1] * 5


def test_a_process_that_fails_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", "")
    monkeypatch.setattr("sys.executable", "/bin/false")
    with pytest.raises(RuntimeFailure, match="the benchmark process failed"):
        run(["sgemm-64"], 1)


def test_inputs_are_the_same_each_time() -> None:
    row = Row("test", "x", "double", ((3, 5),), "int32")
    assert (random_inputs(row)[0] == random_inputs(row)[0]).all()
    assert random_inputs(row)[0].dtype == np.int32


def test_facts_are_a_table_of_their_own() -> None:
    facts = {"weights": "1 MB"}
    known = replace(result((1.0,)), scores=(Score("tvmlab", (1e-3,), 1e-7, "", facts),))
    _, (title, lines, remarks) = result_tables([known])
    assert title.endswith("what tvmlab needs")
    assert lines == [("", "weights"), (known.name, "1 MB")]
    assert remarks == []
    slow = Score("torch.compile", (1e-3,), 1e-7, "", {"compiled in": "99 s"})
    *_, (title, lines, _) = result_tables([replace(known, scores=(*known.scores, slow))])
    assert title.endswith("what torch.compile needs")
    assert lines == [("", "compiled in"), (known.name, "99 s")]
