"""Sessions: state and patches, steps taken in Python, measuring in the background."""

from __future__ import annotations

import pytest
from helpers.schedules import matmul_schedule, tiled_schedule
from helpers.sessions import FakeRunner, View, ok

from tvmlab.ir import structural_hash
from tvmlab.support import UserError
from tvmlab.tune import MeasureRequest, MeasureResult
from tvmlab.widgets import Session, answer, find_session, open_session, sessions

WAIT = 20.0


def quick(request: MeasureRequest) -> MeasureResult:
    del request
    return ok(2e-3)


def watched(session: Session) -> View:
    view = View(session.state)
    session.subscribe(view)
    return view


def test_steps_in_python_show_in_the_picture() -> None:
    sch = matmul_schedule(16, 16, 16)
    view = watched(Session(sch, runner=FakeRunner()))
    i, j, k = sch.loops("C")
    sch.split(i, [None, 4])
    sch.reorder(k, j)
    assert [r["name"] for r in view.state["rows"]] == ["i_outer", "i_inner", "k", "j", "C"]
    assert view.state["history"]["current"] == "2"
    assert view.patches == 2
    sch.undo()
    assert view.state["history"]["can_redo"]


def test_a_patch_carries_only_what_changed() -> None:
    sch = matmul_schedule(16, 16, 16)
    session = Session(sch, runner=FakeRunner())
    sent: list[set[str]] = []
    session.subscribe(lambda message: sent.append(set(message["set"])))
    sch.checkpoint("here")
    sch.split(sch.loops("C")[0], [None, 4])
    session.refresh()
    assert sent == [{"history"}, {"rows", "history", "python", "cell"}]


def test_the_state_fits_the_schema_for_every_kind_of_line() -> None:
    View(Session(tiled_schedule(), name="my kernel", runner=FakeRunner()).state)


def test_a_broken_view_does_not_stop_the_others(caplog: pytest.LogCaptureFixture) -> None:
    sch = matmul_schedule(16, 16, 16)
    session = Session(sch, runner=FakeRunner())

    def broken(message: object) -> None:
        raise OSError("gone")

    session.subscribe(broken)
    view = watched(session)
    sch.split(sch.loops("C")[0], [None, 4])
    sch.undo()
    assert view.patches == 2
    assert caplog.text.count("a view of session") == 1


def test_measuring_fills_in_gains_against_the_start() -> None:
    sch = matmul_schedule(16, 16, 16)
    start = structural_hash(sch.program)
    runner = FakeRunner(lambda request: ok(8e-3 if request.program_hash == start else 1e-3))
    session = Session(sch, runner=runner)
    view = watched(session)
    i, j, k = sch.loops("C")
    sch.reorder(i, k, j)
    session.measure()
    assert session.wait(WAIT)
    measurement = view.state["measurement"]
    assert (measurement["status"], measurement["stale"]) == ("done", False)
    assert measurement["median"] == pytest.approx(1e-3)
    assert measurement["gflops"] == pytest.approx(2 * 16**3 / 1e-3 / 1e9)
    assert measurement["equal"] is True
    assert measurement["message"] == "machine quiet"
    first, second = view.state["history"]["nodes"]
    assert first["gain"]["ratio"] == 1
    assert second["gain"]["ratio"] == pytest.approx(8)
    assert second["gain"]["kind"] == "gain"
    # The step was checked against the unscheduled program, which needs no check itself.
    assert [bool(r.reference) for r in runner.requests] == [True, False]
    assert view.state["job"] is None


def test_old_figures_go_stale_with_a_step_and_come_back_with_undo() -> None:
    sch = matmul_schedule(16, 16, 16)
    session = Session(sch, runner=FakeRunner())
    view = watched(session)
    session.measure()
    assert session.wait(WAIT)
    assert view.state["measurement"]["stale"] is False
    sch.split(sch.loops("C")[0], [None, 4])
    assert view.state["measurement"]["stale"] is True
    assert view.state["measurement"]["median"] == pytest.approx(1e-3)
    assert view.state["measurement"]["equal"] is None
    sch.undo()
    assert view.state["measurement"]["stale"] is False


def test_equal_programs_share_a_measurement() -> None:
    sch = matmul_schedule(16, 16, 16)
    session = Session(sch, runner=FakeRunner())
    view = watched(session)
    i, j, _ = sch.loops("C")
    sch.reorder(j, i)
    session.measure()
    assert session.wait(WAIT)
    sch.undo()
    sch.reorder(j, i)  # another branch, the same program
    assert view.state["history"]["current"] == "2"
    assert view.state["history"]["nodes"][2]["seconds"] == pytest.approx(1e-3)
    assert view.state["measurement"]["stale"] is False


def test_steps_are_taken_while_a_measurement_runs() -> None:
    sch = matmul_schedule(16, 16, 16)
    runner = FakeRunner()
    runner.gate.clear()
    session = Session(sch, runner=runner)
    view = watched(session)
    reply = answer(session, {"type": "measure", "id": 1})
    assert reply["ok"]
    assert view.state["measurement"]["status"] in ("queued", "running")
    assert runner.entered.wait(WAIT)
    assert view.state["measurement"]["status"] == "running"
    assert view.state["job"]["kind"] == "measure"
    sch.split(sch.loops("C")[0], [None, 4])
    assert len(view.state["rows"]) == 5
    runner.open()
    assert session.wait(WAIT)
    assert view.state["measurement"]["stale"] is True
    assert view.state["history"]["nodes"][0]["seconds"] is not None


def test_cancelling_ends_the_measurement_and_the_one_that_waits() -> None:
    sch = matmul_schedule(16, 16, 16)
    sch.split(sch.loops("C")[0], [None, 4])
    runner = FakeRunner()
    runner.gate.clear()
    session = Session(sch, runner=runner)
    view = watched(session)
    session.measure()
    assert runner.entered.wait(WAIT)
    assert answer(session, {"type": "cancel", "id": 1})["ok"]
    assert session.wait(WAIT)
    assert view.state["measurement"]["status"] == "none"
    assert view.state["measurement"]["message"] == "the measurement was cancelled"
    assert view.state["job"] is None
    assert len(runner.requests) == 1


def test_cancelling_keeps_older_figures() -> None:
    sch = matmul_schedule(16, 16, 16)
    runner = FakeRunner()
    session = Session(sch, runner=runner)
    view = watched(session)
    session.measure()
    assert session.wait(WAIT)
    runner.gate.clear()
    runner.entered.clear()
    session.measure()
    assert runner.entered.wait(WAIT)
    session.cancel()
    assert session.wait(WAIT)
    assert view.state["measurement"]["status"] == "done"
    assert view.state["measurement"]["median"] == pytest.approx(1e-3)


@pytest.mark.parametrize(
    ("result", "equal", "words"),
    [
        (MeasureResult("crash", error="the kernel crashed (SIGSEGV)"), None, "SIGSEGV"),
        (MeasureResult("wrong_result", error="C[0, 1] differs"), False, "C[0, 1] differs"),
        (MeasureResult("timeout", error="the kernel took too long"), None, "too long"),
    ],
)
def test_failures_are_shown_and_the_session_goes_on(
    result: MeasureResult, equal: bool | None, words: str
) -> None:
    sch = matmul_schedule(16, 16, 16)
    runner = FakeRunner(lambda _: result)
    session = Session(sch, runner=runner)
    view = watched(session)
    session.measure()
    assert session.wait(WAIT)
    measurement = view.state["measurement"]
    assert measurement["status"] == "failed"
    assert measurement["equal"] is equal
    assert words in measurement["message"]
    runner.results = quick
    session.measure()
    assert session.wait(WAIT)
    assert view.state["measurement"]["median"] == pytest.approx(2e-3)


def test_a_runner_that_cannot_run_is_a_failed_measurement() -> None:
    def broken(request: MeasureRequest) -> MeasureResult:
        raise RuntimeError("no workers left")

    session = Session(matmul_schedule(16, 16, 16), runner=FakeRunner(broken))
    view = watched(session)
    session.measure()
    assert session.wait(WAIT)
    assert view.state["measurement"]["status"] == "failed"
    assert "no workers left" in view.state["measurement"]["message"]


def test_measuring_in_a_worker_process() -> None:
    sch = tiled_schedule(64, 64, 64)
    session = Session(sch)
    view = watched(session)
    session.measure()
    assert session.wait(60)
    assert view.state["measurement"]["status"] == "done"
    assert view.state["measurement"]["equal"] is True
    assert view.state["history"]["nodes"][-1]["gain"] is not None


def test_a_schedule_has_one_session() -> None:
    sch = matmul_schedule(16, 16, 16)
    session = open_session(sch, runner=FakeRunner())
    try:
        assert open_session(sch) is session
        assert find_session(session.id) is session
        assert find_session(None) is session
        assert session in sessions()
    finally:
        session.close()
    assert session not in sessions()
    with pytest.raises(UserError, match=f"session {session.id} is gone"):
        find_session(session.id)


def test_a_closed_session_hears_no_more_of_its_schedule() -> None:
    sch = matmul_schedule(16, 16, 16)
    session = Session(sch, runner=FakeRunner())
    view = watched(session)
    session.measure()
    assert session.wait(WAIT)
    patches = view.patches
    session.close()
    sch.split(sch.loops("C")[0], [None, 4])
    assert view.patches == patches


def test_no_session_at_all() -> None:
    for session in sessions():
        session.close()
    with pytest.raises(UserError, match="no session in this kernel yet"):
        find_session(None)
