"""What views ask a session: linked code, passes, comparisons, gains; and steps picked again."""

from __future__ import annotations

import time
from typing import Any

import pytest
from helpers.bench_session import Bench
from helpers.schedules import matmul_schedule, tiled_schedule
from helpers.sessions import Definition, FakeRunner, ok

from tvmlab.tune import MeasureRequest, MeasureResult
from tvmlab.widgets import Session
from tvmlab.widgets.auto import AutoMeasure

SOURCE, PASSES = Definition("Source"), Definition("Passes")
COMPARISON, GAINS = Definition("Comparison"), Definition("Gains")


@pytest.fixture(scope="module")
def tiled() -> Bench:
    return Bench(tiled_schedule())


@pytest.mark.parametrize("kind", ["python", "loops", "lowered", "llvm", "asm"])
def test_every_listing_tells_where_its_lines_come_from(tiled: Bench, kind: str) -> None:
    source = tiled.done("source", kind=kind)
    SOURCE.validate(source)
    assert len(source["lines"]) == len(source["text"].splitlines())
    rows = {row["id"] for row in tiled.view.state["rows"]}
    named = {name for group in source["groups"] for name in group}
    assert named <= rows
    assert source["coverage"] > 0.5
    if kind != "asm":
        loops = {r["id"] for r in tiled.view.state["rows"] if r["type"] == "loop"}
        assert len(named & loops) > len(loops) / 2


def test_the_inner_loop_of_the_assembly_belongs_to_the_sum(tiled: Bench) -> None:
    source = tiled.done("source", kind="asm")
    block, k = tiled.row("C"), tiled.row("k")
    products = [n for n, t in enumerate(source["text"].splitlines()) if "vfmadd" in t]
    if not products:
        pytest.skip("this machine has no fused multiply-add")
    for line in products:
        group = source["groups"][source["lines"][line]]
        assert group[0] == block
        assert k in group
    assert "multiply-adds" in source["remark"]


def test_a_step_is_linked_to_what_it_made(tiled: Bench) -> None:
    source = tiled.done("source", kind="python")
    for text, line in zip(source["text"].splitlines(), source["lines"], strict=True):
        if "sch.split(i," in text:
            assert set(source["groups"][line]) == {tiled.row("i_outer"), tiled.row("i_inner")}
        if "vectorize" in text:
            assert source["groups"][line] == [tiled.row("j_inner")]


def test_every_pass_has_its_reason_and_what_it_changed(tiled: Bench) -> None:
    passes = tiled.done("passes")
    PASSES.validate(passes)
    by_name = {p["name"]: p for p in passes["passes"]}
    assert by_name["vectorize_loops"]["changed"]
    assert any("ramp" in d["text"] for d in by_name["vectorize_loops"]["diff"] if d["sign"] == "+")
    for report in passes["passes"]:
        assert report["reason"]
        assert report["changed"] == bool(report["added"] or report["removed"])


@pytest.fixture
def branches() -> Bench:
    """A split, then two branches: vectorized, and parallel (the current one)."""
    bench = Bench(matmul_schedule(16, 16, 16))
    i, j, _ = bench.schedule.loops("C")
    outer, _ = bench.schedule.split(i, [None, 4])
    bench.schedule.vectorize(j)
    bench.schedule.goto(1)
    bench.schedule.parallel(outer)
    return bench


def test_two_states_are_compared(branches: Bench) -> None:
    report = branches.done("compare", a="2", b="3")
    COMPARISON.validate(report)
    assert report["shared"] == "split i"
    assert [line["text"].strip() for line in report["code"] if line["sign"] == "+"] == [
        "sch.parallel(i_outer)"
    ]
    assert any("vectorized" in d["text"] for d in report["nest"] if d["sign"] == "-")
    assert {"steps", "loops", "measured"} <= {fact["label"] for fact in report["facts"]}
    assert "no state '9'" in branches.failed("compare", a="9", b="1")


def test_a_step_is_picked_from_another_branch(branches: Bench) -> None:
    branches.done("pick", node="2")
    assert branches.view.state["python"].splitlines()[-1] == "sch.vectorize(j)"
    assert "no step" in branches.failed("pick", node="0")
    branches.done("goto", node="0")
    assert "no loop of that name" in branches.failed("pick", node="3")


def test_a_refused_pick_says_why(branches: Bench) -> None:
    branches.done("pick", node="2")
    reply = branches.ask("pick", node="2")
    assert not reply["ok"]
    assert reply["data"]["verdict"]["status"] == "refused"


def _by_steps(request: MeasureRequest) -> MeasureResult:
    """Twice as fast with vectors, four times with threads: each on its own."""
    text = request.program
    seconds = 1e-3 / (2 if "vectorized" in text else 1) / (4 if "parallel" in text else 1)
    return ok(seconds)


def test_gains_of_steps_and_the_end_without_each() -> None:
    bench = Bench(matmul_schedule(16, 16, 16), FakeRunner(_by_steps))
    i, j, _ = bench.schedule.loops("C")
    bench.schedule.vectorize(j)
    bench.schedule.parallel(i)
    before = bench.done("gains")
    GAINS.validate(before)
    assert before["unmeasured"] == 4  # three states, and the end without the first step
    bench.done("measure_gains")
    assert bench.session.wait(10)
    report = bench.done("gains")
    GAINS.validate(report)
    assert report["unmeasured"] == 0
    assert report["start"] == pytest.approx(1e-3)
    assert [s["gain"]["ratio"] for s in report["steps"]] == pytest.approx([2, 4])
    assert [s["without"]["worth"]["ratio"] for s in report["steps"]] == pytest.approx([2, 4])


def test_a_step_that_others_need_cannot_be_left_out(branches: Bench) -> None:
    report = branches.done("gains")
    assert not report["steps"][0]["without"]["possible"]
    assert "i_outer" in report["steps"][0]["without"]["reason"]


def test_measuring_by_itself_after_steps_have_rested() -> None:
    runner = FakeRunner()
    session = Session(matmul_schedule(8, 8, 8), runner=runner)
    session.auto.rest = 0.02
    session.schedule.vectorize(session.schedule.loops("C")[1])
    assert not runner.requests
    session.set_auto(True)
    assert session.state["auto"]
    session.schedule.undo()
    session.schedule.redo()
    _until(lambda: session.state["measurement"]["status"] == "done")
    assert session.wait(5)
    assert len(runner.requests) == 2  # the state after both steps, and the start
    session.close()


def test_a_step_ends_the_measurement_of_the_state_before() -> None:
    calls: list[str] = []
    auto = AutoMeasure(lambda: calls.append("measure"), lambda: calls.append("cancel"), rest=0.01)
    auto.step()
    assert not calls
    auto.on = True
    auto.step()
    _until(lambda: bool(calls))
    auto.step()
    auto.stop()
    assert calls == ["measure", "cancel"]


def test_auto_needs_a_yes_or_no(branches: Bench) -> None:
    branches.done("auto", on=True)
    assert branches.view.state["auto"]
    assert "true or false" in branches.failed("auto", on="yes")
    branches.done("auto", on=False)


def _until(what: Any) -> None:
    end = time.monotonic() + 5
    while not what():
        assert time.monotonic() < end, "it did not come"
        time.sleep(0.005)
