"""Roofline, memory and next steps: what views are told of them."""

from __future__ import annotations

import json

import pytest
from helpers.bench_session import Bench
from helpers.schedules import matmul_schedule
from helpers.sessions import Definition

from tvmlab.bench.peaks import Bandwidth, MachinePeaks
from tvmlab.inspect import suggestions_report
from tvmlab.widgets import questions

ROOFLINE, MEMORY = Definition("Roofline"), Definition("Memory")
SUGGESTIONS = Definition("Suggestions")


@pytest.fixture
def bench() -> Bench:
    return Bench(matmul_schedule(16, 16, 16))


def test_the_roofline_has_the_trail_of_measured_states(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(questions, "read_peaks", lambda: None)
    report = bench.done("roofline")
    ROOFLINE.validate(report)
    assert (report["machine"], report["points"], report["unmeasured"]) == ("", [], 1)
    bench.schedule.vectorize(bench.schedule.loops("C")[1])
    bench.done("measure")
    assert bench.session.wait(10)
    report = bench.done("roofline")
    assert [p["current"] for p in report["points"]] == [False, True]
    flops = 2 * 16**3
    assert report["points"][0]["gflops"] == pytest.approx(flops / 1e-3 / 1e9)
    assert all(p["intensity"] > 0 for p in report["points"])


def test_the_ceilings_are_those_of_the_machine_file(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = Bandwidth("memory", 2, 1 << 30, 1 << 28, read=30.0, write=20.0, copy=20.0)
    peaks = MachinePeaks("box", 512, 3.5, {"float32": {1: 100.0, 2: 190.0}}, (memory,))
    monkeypatch.setattr(questions, "read_peaks", lambda: peaks)
    report = bench.done("roofline")
    assert [c["rate"] for c in report["compute"]] == [190.0, 100.0]
    assert report["memory"] == [{"label": "memory", "rate": 30.0}]


@pytest.mark.parametrize("caches", ["tiny", "machine"])
def test_the_memory_view_gets_every_access(bench: Bench, caches: str) -> None:
    report = bench.done("memory", caches=caches)
    MEMORY.validate(report)
    assert [b["row"] for b in report["buffers"]] == ["C", "A", "B"]
    assert len(json.dumps(report)) < 2_000_000
    assert "tiny and machine" in bench.failed("memory", caches="huge")


def test_next_steps_are_ranked_with_a_reason_and_can_be_taken(bench: Bench) -> None:
    report = bench.done("suggest")
    SUGGESTIONS.validate(report)
    ratios = [s["ratio"] for s in report["steps"]]
    assert ratios == sorted(ratios, reverse=True)
    assert report["basis"] == "the static estimate alone; train the model for more"
    assert report["steps"][0]["low"] is None
    first = report["steps"][0]
    bench.done("apply", row=first["row"], action=first["action"], params={})


def test_steps_that_only_prepare_others_are_no_suggestion(bench: Bench) -> None:
    titles = [step["title"] for step in bench.done("suggest")["steps"]]
    assert titles
    assert not any(title.startswith(("fuse", "make a block", "peel")) for title in titles)


def test_nothing_is_applied_by_itself(bench: Bench) -> None:
    before = bench.view.state
    bench.done("suggest")
    assert bench.view.state is before


def test_other_sessions_are_named(bench: Bench) -> None:
    Definition("Sessions").validate(bench.done("sessions"))


def test_a_point_of_the_roofline_has_a_place_for_each_level(bench: Bench) -> None:
    bench.done("measure")
    assert bench.session.wait(10)
    (point,) = bench.done("roofline")["points"]
    names = [level["level"] for level in point["levels"]]
    assert names[0] == "L1"
    assert names[-1] == "memory"
    assert point["intensity"] == point["levels"][-1]["intensity"]
    # What a level hands out has come from the ones behind it, at most as often as it is asked for.
    assert point["levels"][0]["intensity"] <= point["levels"][-1]["intensity"]


def test_the_memory_of_two_states_stands_side_by_side(bench: Bench) -> None:
    _, j, k = bench.schedule.loops("C")
    bench.schedule.reorder(k, j)
    report = bench.done("memory", caches="tiny", beside="0")
    MEMORY.validate(report)
    assert (report["label"], report["beside"]["label"]) == ("this state", "start")
    assert report["beside"]["beside"] is None
    assert report["kind"] != report["beside"]["kind"]
    assert report["element"] != report["beside"]["element"]
    assert "no state 'x'" in bench.failed("memory", caches="tiny", beside="x")


def test_a_step_of_which_the_models_disagree_teaches_most(bench: Bench) -> None:
    session = bench.session
    before = session.schedule.program

    def doubt(program: object) -> float:
        """Vectorizing is what nobody knows of."""
        return 2.0 if "vectorized" in str(program) else 0.5

    report = suggestions_report(
        session.schedule, session.ids, session.target,
        lambda program: 1.0 if program is before else 1.5, [], doubt=doubt,
    )  # fmt: skip
    taught = {step.title: step.teaches for step in report.steps}
    assert max(v for v in taught.values() if v is not None) == 1.0
    assert {v for k, v in taught.items() if k.startswith("vectorize")} <= {1.0}
    assert 0.25 in taught.values()
