"""Studies that run beside a session: proofs in the interpreter, profiles, a pool of processors."""

from __future__ import annotations

import pytest
from helpers.bench_session import Bench
from helpers.schedules import matmul_schedule
from helpers.sessions import Definition, FakeRunner, ok

from tvmlab.tune import MeasureRequest, MeasureResult

PROOF, PROFILE, POOL = Definition("Proof"), Definition("Profile"), Definition("Pool")


def test_a_race_that_somebody_vouched_away_is_found_with_its_iterations() -> None:
    bench = Bench(matmul_schedule(64, 64, 64))
    _, _, k = bench.schedule.loops("C")
    bench.schedule.assume("independent", k)
    bench.schedule.parallel(k)
    assert not bench.done("proof")["known"]
    bench.done("study", what="proof")
    assert bench.view.state["job"]["title"] == "running the schedule in the interpreter"
    assert bench.session.wait(60)
    report = bench.done("proof")
    PROOF.validate(report)
    assert report["failure"] == ""
    race = report["findings"][0]
    assert (race["rule"], race["stage"]) == ("race", "schedule")
    assert race["iterations"] == ["k = 0", "k = 1"]
    assert race["row"] == bench.row("k")
    assert "C[vi, vj]" in race["line"]
    assert "iterations" in report["sizes"]
    bench.schedule.undo()
    assert not bench.done("proof")["known"], "the finding is of another state"


def test_a_study_can_be_cancelled() -> None:
    bench = Bench(matmul_schedule(64, 64, 64))
    bench.done("study", what="proof")
    bench.done("cancel")
    assert bench.session.wait(30)
    assert not bench.done("proof")["known"]
    assert bench.view.state["job"] is None


def test_what_there_is_to_study_is_told() -> None:
    assert "proof, profile, pool" in Bench(matmul_schedule(4, 4, 4)).failed("study", what="soul")


def test_lines_have_measured_shares_and_counters_or_reasons() -> None:
    bench = Bench(matmul_schedule(96, 96, 96))
    bench.done("study", what="profile")
    assert bench.session.wait(90)
    report = bench.done("profile")
    PROFILE.validate(report)
    assert report["failure"] == ""
    names = {c["name"] for c in report["counters"]}
    assert {"cycles", "page faults"} <= names
    assert all(bool(c["value"]) != bool(c["reason"]) for c in report["counters"])
    if report["message"].startswith("Lines are not measured"):
        pytest.skip(report["message"])
    shares = bench.view.state["shares"]
    assert shares is not None
    own, inclusive = shares[bench.row("k")]
    assert own > 0.3
    assert inclusive <= shares[bench.row("i")][1] <= 1.0
    total = sum(line["own"] for line in report["lines"])
    assert total + report["unknown"] + report["elsewhere"] == pytest.approx(1.0)


def test_states_are_ranked_on_each_processor_and_flips_are_told() -> None:
    def seconds(request: MeasureRequest) -> MeasureResult:
        """The last state is faster here and slower with one thread."""
        parallel = "parallel" in request.program
        alone = request.target["num_threads"] == 1
        return ok(2e-3 if not parallel else 4e-3 if alone else 1e-3)

    bench = Bench(matmul_schedule(64, 64, 64), FakeRunner(seconds))
    if bench.session.target.num_threads < 2:
        pytest.skip("this machine has one thread")
    bench.schedule.parallel(bench.schedule.loops("C")[0])
    bench.done("study", what="pool")
    assert bench.session.wait(60)
    report = bench.done("pool")
    POOL.validate(report)
    assert report["failure"] == ""
    assert report["machines"][0] == "this machine"
    assert report["machines"][-1] == "one thread"
    assert [len(row["cells"]) for row in report["rows"]] == [len(report["machines"])] * 2
    assert any("2× as fast on this machine, 0.5× on one thread" in f for f in report["flips"])
    assert all("right" in v or "not run" in v for v in report["values"])
