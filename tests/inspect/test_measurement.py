"""Measurements, gains, histories and plots as reports."""

import json
import math

import pytest
from helpers.schedules import matmul_schedule

from tvmlab.inspect import (
    HistoryReporter,
    Measured,
    Point,
    gain_over,
    history_text,
    measurement_report,
    plain,
    plot_report,
)
from tvmlab.runtime import Timing


def around(median: float, spread: float = 0.05) -> Measured:
    return Measured(median, median * (1 - spread), median * (1 + spread), 10)


def test_a_clear_gain_and_a_clear_loss() -> None:
    gain = gain_over(around(1.0), around(0.25))
    assert gain is not None
    assert (gain.kind, gain.ratio) == ("gain", 4)
    assert gain.low < 4 < gain.high
    assert str(gain) == "4×"
    loss = gain_over(around(1.0), around(2.0))
    assert loss is not None
    assert loss.kind == "loss"


def test_a_difference_inside_the_spread_is_noise() -> None:
    gain = gain_over(around(1.0, 0.1), around(0.95, 0.1))
    assert gain is not None
    assert gain.kind == "noise"
    assert str(gain).endswith("in noise")


def test_no_gain_without_both_timings() -> None:
    assert gain_over(None, around(1.0)) is None
    assert gain_over(around(1.0), None) is None
    assert gain_over(around(1.0), Measured(0.0, 0.0, 0.0, 1)) is None


def test_measured_takes_quartiles_from_a_timing() -> None:
    measured = Measured.of(Timing((1.0, 2.0, 3.0, 4.0, 5.0), 1))
    assert (measured.median, measured.lower, measured.upper, measured.repeats) == (3, 2, 4, 5)


def test_a_report_tells_throughput_and_check() -> None:
    report = measurement_report(around(0.002), flops=4e6, equal=True)
    assert report.gflops == pytest.approx(2.0)
    assert "2.00 ms" in str(report)
    assert "equal to the unscheduled program" in str(report)
    assert "NOT equal" in str(measurement_report(around(1.0), flops=None, equal=False))
    assert measurement_report(around(1.0), flops=0, equal=None).gflops is None


def test_history_tells_steps_gains_and_code() -> None:
    sch = matmul_schedule(8, 8, 8)
    i, j, k = sch.loops("C")
    sch.split(i, [None, 4])
    sch.checkpoint("tiled")
    sch.reorder(k, j)
    reporter = HistoryReporter(sch.history)
    report = reporter.report({0: around(1.0), 1: around(0.5), 2: around(0.51)})
    start, split, reorder = report.nodes
    assert [n.label for n in report.nodes] == ["start", "split i", "reorder k, j"]
    assert start.gain is not None
    assert (start.gain.ratio, start.parent, start.code) == (1, None, "")
    assert split.code == 'i, j, k = sch.loops("C")\ni_outer, i_inner = sch.split(i, [None, 4])'
    assert reorder.code == "sch.reorder(k, j)"
    assert split.checkpoint == "tiled"
    assert reorder.gain is not None
    assert reorder.gain.kind == "gain"
    assert reorder.step_gain is not None
    assert reorder.step_gain.kind == "noise"
    assert (report.current, report.can_undo, report.can_redo) == ("2", True, False)
    text = history_text(report)
    assert "[tiled]" in text
    assert text.splitlines()[-1].startswith(">")


def test_branches_stay_in_the_history() -> None:
    sch = matmul_schedule(8, 8, 8)
    i, j, k = sch.loops("C")
    sch.split(i, [None, 4])
    sch.undo()
    sch.reorder(k, j)
    report = HistoryReporter(sch.history).report({})
    assert [(n.id, n.parent) for n in report.nodes] == [("0", None), ("1", "0"), ("2", "0")]
    assert all(n.gain is None for n in report.nodes)


def points(predicted: list[float], measured: list[float]) -> list[Point]:
    pairs = zip(predicted, measured, strict=True)
    return [Point(f"P{n}", None, "random", m, p, False) for n, (p, m) in enumerate(pairs)]


def test_a_plot_tells_how_well_the_order_was_predicted() -> None:
    assert plot_report(points([1, 2, 3], [10, 20, 30])).rank_correlation == pytest.approx(1)
    assert plot_report(points([1, 2, 3], [30, 20, 10])).rank_correlation == pytest.approx(-1)
    # Ranks (1, 2.5, 2.5, 4) against (1, 2, 3, 4).
    tied = plot_report(points([5, 7, 7, 9], [1, 2, 3, 4])).rank_correlation
    assert tied == pytest.approx(4.5 / math.sqrt(4.5 * 5))


def test_a_plot_needs_three_points_and_an_order() -> None:
    assert plot_report(points([1, 2], [1, 2])).rank_correlation is None
    assert plot_report(points([1, 1, 1], [1, 2, 3])).rank_correlation is None


def test_a_plot_is_plain_data() -> None:
    data = plain(plot_report(points([0.5, 1.5, 2.5], [0, 1, 2]), message="of three"))
    assert data["rank_correlation"] == pytest.approx(1)
    assert json.loads(json.dumps(data)) == data


def test_plain_refuses_what_is_no_report_and_drops_infinity() -> None:
    assert plain([math.inf, math.nan, 1.5]) == [None, None, 1.5]
    with pytest.raises(TypeError, match="object is not part of a report"):
        plain(object())
