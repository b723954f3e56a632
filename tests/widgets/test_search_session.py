"""A search that is watched: its session, commands, the widget, and what can be opened from it."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import pytest
from helpers.tune_programs import matmul
from helpers.tune_templates import Oracle, blocked_space
from jsonschema import Draft202012Validator

from tvmlab.inspect.tuning_view import search_view
from tvmlab.ir import structural_hash
from tvmlab.schedule import Schedule
from tvmlab.support import RuntimeFailure, UserError
from tvmlab.tune import MeasureRequest, MeasureResult, Tuner
from tvmlab.widgets import find_session, watch
from tvmlab.widgets.search_commands import answer_search
from tvmlab.widgets.search_session import SearchSession

SCHEMA: Any = json.loads(
    (Path(__file__).parents[2] / "extensions/packages/schema/search.schema.json").read_text("utf-8")
)


def validate(name: str, data: object) -> None:
    validator: Any = Draft202012Validator({"$ref": f"#/$defs/{name}", "$defs": SCHEMA["$defs"]})
    validator.validate(data)


def by_length(text: str) -> float | None:
    """Short programs are fast, those with an unrolled loop of eight crash."""
    return None if "unrolled(8)" in text else 1e-9 * len(text)


class Gated(Oracle):
    """Answers only while the gate is open."""

    def __init__(self) -> None:
        super().__init__(by_length)
        self.gate = threading.Event()

    def submit(self, request: MeasureRequest) -> Future[MeasureResult]:
        self.gate.wait(30)
        return super().submit(request)


def tuner(runner: Any = None, **options: Any) -> Tuner:
    return Tuner(blocked_space(16), runner=runner or Oracle(by_length), **options)


@pytest.fixture
def session() -> Iterator[SearchSession]:
    made = SearchSession(tuner(search="genetic"), trials=30)
    yield made
    made.close()


def test_states_and_replies_fit_the_protocol(session: SearchSession) -> None:
    states: list[Any] = []
    session.subscribe(states.append)
    for command in (
        {"type": "start", "id": 1, "more": 0},
        {"type": "pause", "id": 2},
        {"type": "resume", "id": 3},
    ):
        validate("SearchCommand", command)
        reply = answer_search(session, command)
        validate("SearchReply", reply)
        assert reply["ok"] or "does not" in reply["error"], reply
    assert session.wait(60)
    for state in states:
        validate("SearchState", state)
    last = states[-1]
    assert (last["status"], last["measured"], last["note"], last["eta"]) == ("done", 30, "", None)
    assert last["failures"][0]["status"] == "crash"
    assert last["trials"][last["best"]]["measured"] == max(
        t["measured"] or 0 for t in last["trials"]
    )
    assert [t["best"] for t in last["trials"]] == sorted(t["best"] for t in last["trials"])
    assert {axis["knob"] for axis in last["axes"]} <= {knob["knob"] for knob in last["knobs"]}


def test_a_trial_opens_as_a_session(session: SearchSession) -> None:
    session.start()
    session.wait(60)
    best = session.state["best"]
    reply = answer_search(session, {"type": "open", "id": 1, "trial": best})
    validate("SearchReply", reply)
    opened = find_session(reply["data"]["session"])
    assert opened.name == reply["data"]["name"]
    assert opened.name == f"{session.tuner.workload.name}, trial {best + 1}"
    found = session.tuner.best
    assert found is not None
    assert structural_hash(opened.schedule.program) == found.program_hash
    assert session.open(best) is opened
    opened.close()
    assert session.open(best) is not opened


def test_a_search_pauses_goes_on_and_stops() -> None:
    gate = Gated()
    session = SearchSession(tuner(gate, search="random"), trials=1000)
    with pytest.raises(UserError, match="does not run, so it cannot pause"):
        session.pause()
    session.start()
    with pytest.raises(UserError, match="runs already"):
        session.start()
    session.pause()
    gate.gate.set()
    time.sleep(0.2)
    paused = session.tuner.measured
    assert paused <= 1
    session.resume()
    with pytest.raises(UserError, match="does not pause"):
        session.resume()
    while session.tuner.measured < 5:
        time.sleep(0.01)
    session.stop()
    assert session.wait(30)
    assert session.status == "done"
    assert session.state["note"].startswith("Stopped")
    with pytest.raises(UserError, match="does not run"):
        session.stop()
    before = session.tuner.measured
    session.start(more=4)
    assert session.wait(30)
    assert session.tuner.measured == before + 4
    session.close()


def test_a_search_that_fails_says_why() -> None:
    class Broken(Oracle):
        def submit(self, request: MeasureRequest) -> Future[MeasureResult]:
            raise RuntimeFailure("the disk is full", hint="make room")

    session = SearchSession(tuner(Broken(by_length)), trials=5)
    session.start()
    session.wait(30)
    assert session.status == "failed"
    assert "the disk is full" in session.state["note"]


@pytest.mark.parametrize(
    ("command", "told"),
    [
        ({"type": "dance"}, "there is no command 'dance' for searches"),
        ({"type": "open"}, "needs a number 'trial'"),
        ({"type": "open", "trial": 99}, "there is no trial 100 among 0"),
        ({"type": "start", "more": -1}, "needs a number 'more'"),
        ({"type": "stop"}, "the search does not run"),
        (None, "there is no command None for searches"),
    ],
)
def test_what_cannot_be_done_is_told(session: SearchSession, command: Any, told: str) -> None:
    reply = answer_search(session, command)
    assert not reply["ok"]
    assert told in reply["error"]


def test_the_view_of_nothing_yet() -> None:
    view = search_view(tuner())
    assert (view.measured, view.best, view.trials, view.rank, view.axes) == (0, None, (), (), ())
    assert view.unit == "GFLOP/s"


def test_the_widget_follows_the_search_and_carries_inner_sessions() -> None:
    pytest.importorskip("anywidget")
    widget = watch(tuner(search="random"), trials=6, start=False)
    sent: list[Any] = []
    widget.send = sent.append  # pyright: ignore[reportAttributeAccessIssue]
    widget.session.start()
    widget.session.wait(60)
    assert widget.search["measured"] == 6
    widget._received(widget, {"type": "open", "id": 1, "trial": 0}, None)  # pyright: ignore[reportPrivateUsage]
    name = sent[-1]["data"]["session"]
    inner = {"type": "inner", "session": name, "message": {"type": "state", "id": 2}}
    widget._received(widget, inner, None)  # pyright: ignore[reportPrivateUsage]
    assert [m["type"] for m in sent[-2:]] == ["inner", "inner"]
    assert sent[-2]["message"]["type"] == "state"
    shown = widget._repr_mimebundle_()  # pyright: ignore[reportPrivateUsage]
    assert shown is not None
    assert "6 schedules measured" in shown[0]["text/html"]
    widget.close()


def test_a_schedule_is_searched_from_where_it_is() -> None:
    pytest.importorskip("anywidget")
    schedule = Schedule(matmul(32))
    schedule.parallel(schedule.loops("C")[0])
    with pytest.raises(UserError, match="cannot watch int"):
        watch(3)  # pyright: ignore[reportArgumentType]
    widget = watch(schedule, start=False)
    space = widget.session.tuner.space
    assert space.program == schedule.history.nodes[0].program
    assert "parallel" in str(space.begin())
    assert widget.session.status == "ready"
    widget.close()
