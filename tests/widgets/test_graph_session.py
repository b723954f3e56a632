"""A graph in the explorer: its session, commands, pinned schedules, and the widget."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from tvmlab.graph import Graph, GraphBuilder, TensorType, build, export
from tvmlab.graph.pins import Pins, read_pins
from tvmlab.support import OptionError, ParseError, UserError
from tvmlab.widgets import explore
from tvmlab.widgets.graph_commands import answer_graph
from tvmlab.widgets.graph_model import Model
from tvmlab.widgets.graph_session import GraphSession

SCHEMA: Any = json.loads(
    (Path(__file__).parents[2] / "extensions/packages/schema/graph.schema.json").read_text("utf-8")
)


def validate(name: str, data: object) -> None:
    validator: Any = Draft202012Validator({"$ref": f"#/$defs/{name}", "$defs": SCHEMA["$defs"]})
    validator.validate(data)


def network() -> Graph:
    g = GraphBuilder("net")
    x, y = (g.input(n, TensorType.of("float32", (32, 32))) for n in "xy")
    a = g.add("relu", g.add("matmul", x, y))
    g.output(g.add("add", g.add("softmax", a, axis=1), a))
    return g.graph()


@pytest.fixture
def session() -> Any:
    made = GraphSession(Model.of(network()))
    yield made
    made.close()


def test_state_and_replies_fit_the_protocol(session: GraphSession) -> None:
    states: list[Any] = []
    session.subscribe(states.append)
    for command in (
        {"type": "profile", "id": 1},
        {"type": "open", "id": 2, "row": "0"},
        {"type": "pass", "id": 3, "name": "join_nodes"},
        {"type": "pin", "id": 4, "row": "0"},
        {"type": "unpin", "id": 5, "row": "0"},
    ):
        validate("GraphCommand", command)
        reply = answer_graph(session, command)
        validate("GraphReply", reply)
        assert reply["ok"], reply
    assert session.wait(60)
    for state in states:
        validate("GraphState", state)
    assert states[-1]["rows"][0]["time"]["seconds"] > 0
    assert states[-1]["job"] is None


@pytest.mark.parametrize(
    ("command", "told"),
    [
        ({"type": "dance"}, "there is no command 'dance' for graphs"),
        ({"type": "open"}, "the command open needs a text 'row'"),
        ({"type": "open", "row": "99"}, "there is no row '99' in the graph"),
        ({"type": "pin", "row": "0"}, "this kernel's schedule was not opened"),
        (None, "there is no command None for graphs"),
    ],
)
def test_what_cannot_be_done_is_told(session: GraphSession, command: Any, told: str) -> None:
    reply = answer_graph(session, command)
    assert not reply["ok"]
    assert told in reply["error"]


def test_a_pinned_schedule_stays_with_the_model(session: GraphSession, tmp_path: Path) -> None:
    schedule = session.open("0").schedule
    block = schedule.blocks()[0]
    _, inner = schedule.split(schedule.loops(block)[1], [None, 4])
    schedule.unroll(inner)
    session.pin("0")
    assert session.wait(60)
    assert session.state["note"].endswith("results differ by 0")
    assert [r["schedule"] for r in session.state["rows"]] == ["pinned", "default"]
    path = session.pins.save(tmp_path / "net.pins.json")
    # The same model, in another process or another day.
    again = GraphSession(Model.of(network(), pins=read_pins(path)))
    assert [r["schedule"] for r in again.state["rows"]] == ["pinned", "default"]
    assert str(again.open("0").schedule) == str(schedule)
    assert build(network(), schedules=read_pins(path).find).lib.objects == (
        session.model.built.lib.objects
    )
    session.unpin("0")
    assert session.wait(60)
    assert len(session.pins) == 0


def test_steps_that_read_what_they_overwrite_are_not_pinned() -> None:
    """The model keeps softmax in the place of its input; half a row later, a sum reads it again."""
    g = GraphBuilder("net")
    x = g.input("x", TensorType.of("float32", (32, 32)))
    row = g.add("softmax", g.add("matmul", x, x), axis=1)
    g.output(g.add("matmul", row, x))
    session = GraphSession(Model.of(g.graph()))
    schedule = session.open("1").schedule
    _, exp, total, divide, product = schedule.blocks()
    schedule.compute_inline(exp)
    schedule.compute_inline(divide)
    columns = schedule.loops(product)[1]
    schedule.serial(columns)
    halves, _ = schedule.split(columns, [2, None])
    schedule.compute_at(total, halves)
    session.pin("1")
    assert session.wait(60)
    assert "read after it is overwritten" in session.state["note"]
    assert session.state["rows"][1]["schedule"] == "default"
    session.close()


def test_a_module_from_disk_is_explored_too(tmp_path: Path) -> None:
    export(build(network()), tmp_path / "net")
    session = GraphSession(Model.of(tmp_path / "net"))
    assert "compiled before" in session.state["note"]
    session.open("1")
    session.pin("1")
    assert session.wait(60)
    assert session.state["rows"][1]["schedule"] == "pinned"
    with pytest.raises(OptionError, match="cannot be written again"):
        _ = session.model.built


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("{", "not valid JSON"),
        ("{}", "holds no pinned schedules"),
        ('{"format": "tvmlab-pins", "version": 9}', "version 9"),
        ('{"format": "tvmlab-pins", "version": 1, "pins": [{"label": "x"}]}', "a pin lacks"),
    ],
)
def test_damaged_pins_are_refused(tmp_path: Path, text: str, told: str) -> None:
    (tmp_path / "p.json").write_text(text)
    with pytest.raises(ParseError, match=told):
        read_pins(tmp_path / "p.json")
    with pytest.raises(ParseError, match="cannot be read"):
        read_pins(tmp_path / "none.json")


def test_the_widget_carries_the_session_of_a_kernel() -> None:
    widget = explore(network(), pins=Pins())
    sent: list[Any] = []
    widget.send = sent.append  # pyright: ignore[reportAttributeAccessIssue]
    opened = answer_graph(widget.session, {"type": "open", "id": 1, "row": "0"})["data"]["session"]
    receive: Any = widget._received  # pyright: ignore[reportPrivateUsage]
    receive(widget, {"type": "inner", "session": opened, "message": {"type": "state", "id": 2}}, [])
    assert [m["message"]["type"] for m in sent] == ["state", "reply"]
    for message in sent:
        validate("GraphInner", message)
    schedule = widget.session.open("0").schedule
    schedule.split(schedule.loops(schedule.blocks()[0])[1], [None, 4])
    assert sent[-1]["message"]["type"] == "patch"
    receive(widget, {"type": "profile", "id": 3}, [])
    assert sent[-1]["type"] == "reply"
    assert widget.session.wait(60)
    assert widget.graph["rows"][0]["time"] is not None
    widget.close()


def test_what_is_no_model_is_refused() -> None:
    with pytest.raises(UserError, match="neither a schedule nor a model"):
        explore(3)  # pyright: ignore[reportCallIssue, reportArgumentType]
