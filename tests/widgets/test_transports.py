"""The ways to a session: the widget in a cell, the raw comm of panel and tab."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from helpers.schedules import matmul_schedule
from helpers.sessions import STATE, FakeRunner, View

from tvmlab import te
from tvmlab.ir import structural_hash
from tvmlab.schedule import Schedule
from tvmlab.support import OptionError, UserError
from tvmlab.widgets import Session, comms, explore, open_session, sessions
from tvmlab.widgets.comms import TARGET, connect, opened, register_target

Message = dict[str, Any]


class FakeComm:
    """One end of a comm, with what was sent over it."""

    def __init__(self) -> None:
        self.sent: list[Message] = []
        self.closed_with: Message | None = None
        self.message: Callable[[Message], None] = lambda _: None
        self.closing: Callable[[Message], None] = lambda _: None

    def send(self, data: Message) -> None:
        self.sent.append(data)

    def close(self, data: Message) -> None:
        self.closed_with = data

    def on_msg(self, callback: Callable[[Message], None]) -> None:
        self.message = callback

    def on_close(self, callback: Callable[[Message], None]) -> None:
        self.closing = callback

    def say(self, data: Message) -> list[Message]:
        """Send a message from the view; returns what came back."""
        before = len(self.sent)
        self.message(_message(data))
        return self.sent[before:]


def _message(data: Message) -> Message:
    return {"content": {"data": data}}


@pytest.fixture
def session() -> Any:
    made = open_session(matmul_schedule(16, 16, 16), runner=FakeRunner())
    yield made
    made.close()


def test_a_comm_gets_the_state_then_patches_then_replies(session: Session) -> None:
    comm = FakeComm()
    opened(comm, _message({"session": session.id}))
    assert comm.sent == [{"type": "state", "state": session.state}]
    view = View(comm.sent[0]["state"])
    row = session.state["rows"][0]["id"]
    came = comm.say({"type": "apply", "id": 5, "row": row, "action": "parallel", "params": {}})
    assert [m["type"] for m in came] == ["patch", "reply"]
    for message in came:
        view(message)
    assert came[1]["re"] == 5
    assert view.state["rows"][0]["kind"] == "parallel"


def test_no_id_means_the_newest_session(session: Session) -> None:
    comm = FakeComm()
    opened(comm, _message({"session": None}))
    assert comm.sent[0]["state"]["session"]["id"] == session.id


def test_a_comm_on_a_lost_session_is_closed_with_the_reason() -> None:
    comm = FakeComm()
    opened(comm, _message({"session": "s0"}))
    assert comm.sent == []
    assert comm.closed_with is not None
    assert (
        "session s0 is gone: run the cell with tl.explore(sch) again"
        in (comm.closed_with["reason"])
    )


def test_the_whole_state_can_be_asked_for_again(session: Session) -> None:
    comm = FakeComm()
    connect(comm, session)
    came = comm.say({"type": "state", "id": 9})
    assert [m["type"] for m in came] == ["state", "reply"]
    STATE.validate(came[0]["state"])


def test_shared_values_of_a_view_are_not_commands(session: Session) -> None:
    comm = FakeComm()
    connect(comm, session)
    assert comm.say({"type": "set", "values": {"zoom": 2}}) == []


def test_a_closed_comm_gets_no_more(session: Session) -> None:
    comm = FakeComm()
    connect(comm, session)
    comm.closing(_message({}))
    before = len(comm.sent)
    session.schedule.split(session.schedule.loops("C")[0], [None, 4])
    assert len(comm.sent) == before


def test_two_views_see_the_same(session: Session) -> None:
    first, second = FakeComm(), FakeComm()
    connect(first, session)
    connect(second, session)
    row = session.state["rows"][0]["id"]
    first.say({"type": "apply", "id": 1, "row": row, "action": "split", "params": {}})
    assert [m["type"] for m in second.sent] == ["state", "patch"]


def test_the_target_is_registered() -> None:
    from comm import get_comm_manager

    register_target()
    assert get_comm_manager().targets[TARGET] is comms.opened


# ------------------------------------------------------------------ the widget

anywidget = pytest.importorskip("anywidget")
bundles = pytest.importorskip("tvmlab.widgets.bundles")
widget_module = pytest.importorskip("tvmlab.widgets.widget")


@pytest.fixture
def shown(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setattr(widget_module, "bundle_text", lambda _="": "export default {}")
    sch = matmul_schedule(16, 16, 16)
    open_session(sch, runner=FakeRunner())
    widget = explore(sch)
    yield widget
    widget.session.close()
    widget.close()


def test_the_widget_carries_the_state(shown: Any) -> None:
    sch = shown.session.schedule
    assert shown.state == shown.session.state
    sch.split(sch.loops("C")[0], [None, 4])
    assert shown.state["rows"][0]["name"] == "i_outer"
    assert shown.state["revision"] == 1


def test_the_widget_replies_to_commands(shown: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    sent: list[Message] = []
    monkeypatch.setattr(shown, "send", sent.append)
    shown._handle_custom_msg({"type": "undo", "id": 3}, [])
    assert [m["type"] for m in sent] == ["reply"]
    assert "nothing to undo" in sent[0]["error"]
    shown._handle_custom_msg({"type": "state", "id": 4}, [])
    assert [m["type"] for m in sent[1:]] == ["state", "reply"]


def test_exploring_again_shows_the_same_session(shown: Any) -> None:
    schedule: Schedule = shown.session.schedule
    again = explore(schedule)
    try:
        assert again.session is shown.session
        assert again is not shown
    finally:
        again.close()


def test_a_closed_widget_is_off_its_session(shown: Any) -> None:
    sch: Schedule = shown.session.schedule
    again = explore(sch)
    again.close()
    sch.split(sch.loops("C")[0], [None, 4])
    assert again.state["revision"] == 0
    assert shown.state["revision"] == 1


def test_a_front_end_that_was_not_built_is_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Any
) -> None:
    def files(package: str) -> Any:
        assert package == "tvmlab"
        return tmp_path

    monkeypatch.setattr(bundles.resources, "files", files)
    with pytest.raises(OptionError, match="has not been built"):
        bundles.bundle_text("explorer.js")
    (tmp_path / "static").mkdir()
    (tmp_path / "static" / "explorer.js").write_text("export default {}")
    assert bundles.bundle_text("explorer.js") == "export default {}"


def test_only_schedules_can_be_explored() -> None:
    before = len(sessions())
    with pytest.raises(UserError, match="cannot explore int: it is neither a schedule nor a model"):
        explore(3)  # pyright: ignore[reportArgumentType, reportCallIssue]
    assert len(sessions()) == before


def test_explore_says_what_becomes_of_te_schedules() -> None:
    out: Any = te.compute((4,), lambda i: te.const(1.0, "float32"), name="Y")
    s: Any = te.create_schedule(out.op)
    tx = te.thread_axis("threadIdx.x")
    s[out].bind(out.op.axis[0], tx)
    with pytest.raises(UserError, match="cannot explore a te schedule") as plain:
        explore(s)
    assert plain.value.hint is not None
    assert "set_store_predicate" not in plain.value.hint
    s[out].set_store_predicate(tx < 2)
    with pytest.raises(UserError, match="cannot explore a te schedule") as guarded:
        explore(s)
    assert guarded.value.hint is not None
    assert "it shows Y without set_store_predicate" in guarded.value.hint
    done = s.replay()
    assert structural_hash(done.schedule.program) != structural_hash(done.program)
    assert "predicate" not in done.schedule.trace.to_json()
