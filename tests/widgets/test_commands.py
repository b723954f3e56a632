"""Commands of views: what they do, and how they fail."""

from __future__ import annotations

import pytest
from helpers.bench_session import Bench
from helpers.schedules import matmul_schedule, tiled_schedule
from helpers.sessions import MESSAGE, SCHEMA, Definition

from tvmlab.widgets import answer, commands

DETAILS, CHECKED, SOURCE = Definition("Details"), Definition("Checked"), Definition("Source")


@pytest.fixture
def bench() -> Bench:
    return Bench(matmul_schedule(16, 16, 16))


def test_actions_of_every_line_fit_the_schema() -> None:
    bench = Bench(tiled_schedule())
    for row in bench.view.state["rows"]:
        details = bench.done("actions", row=row["id"])
        DETAILS.validate(details)
        assert details["row"] == row["id"]
        assert bool(details["actions"]) == (row["type"] != "buffer")


def test_every_offered_action_answers_check_as_it_was_announced() -> None:
    bench = Bench(tiled_schedule())
    for row in bench.view.state["rows"]:
        for action in bench.done("actions", row=row["id"])["actions"]:
            params = {p["name"]: p["default"] for p in action["params"]}
            checked = bench.done("check", row=row["id"], action=action["id"], params=params)
            CHECKED.validate(checked)
            if action["params"][:1] and action["params"][0]["kind"] == "order":
                continue  # its verdict is that of the swaps, its default changes nothing
            assert checked["verdict"]["status"] == action["verdict"]["status"]
            assert checked["verdict"]["rule"] == action["verdict"]["rule"]


def test_apply_takes_the_step_and_sends_the_state_first(bench: Bench) -> None:
    row = bench.row("i")
    assert bench.done("apply", row=row, action="split", params={"factors": [None, 5]}) is None
    assert bench.names() == ["i_outer", "i_inner", "j", "k"]
    assert bench.view.state["rows"][0]["note"] == "16 / 5, last one 1"
    assert bench.view.state["python"].endswith("i_outer, i_inner = sch.split(i, [None, 5])")
    assert str(bench.schedule.trace.steps[0].args["factors"]) == "(None, 5)"


def test_order_and_moves_by_id(bench: Bench) -> None:
    ids = [bench.row(n) for n in ("k", "i", "j")]
    bench.done("apply", row=ids[0], action="reorder:1", params={"loops": ids})
    assert bench.names() == ["k", "i", "j"]
    bench.done("apply", row=bench.row("k"), action="reorder", params={})
    assert bench.names() == ["i", "k", "j"]


def test_a_choice_names_lines_by_id(bench: Bench) -> None:
    details = bench.done("actions", row=bench.row("C"))
    cache = next(a for a in details["actions"] if a["primitive"] == "cache_read")
    choice = next(c for c in cache["params"][0]["choices"] if c["label"] == "B")
    bench.done("apply", row=bench.row("C"), action=cache["id"], params={"buffer": choice["value"]})
    assert any(r["name"] == "B_local" for r in bench.view.state["rows"])


def test_a_refused_step_changes_nothing_and_says_why(bench: Bench) -> None:
    before = bench.view.state
    reply = bench.ask("apply", row=bench.row("k"), action="parallel", params={})
    assert not reply["ok"]
    assert "reduction" in reply["error"]
    CHECKED.validate(reply["data"])
    assert reply["data"]["verdict"]["status"] == "refused"
    assert reply["data"]["verdict"]["witness"]
    assert reply["data"]["summary"] == ""
    assert bench.view.state is before
    assert len(bench.schedule.history) == 1


def test_a_fix_can_be_taken_once_and_only_for_its_program() -> None:
    bench = Bench(matmul_schedule(16, 16, 16))
    found: list[tuple[str, str]] = []
    for row in bench.view.state["rows"]:
        for action in bench.done("actions", row=row["id"])["actions"]:
            found += [(f["token"], f["title"]) for f in action["verdict"]["fixes"]]
    assert found, "no refusal of a plain matrix product offers a fix"
    assert len({token for token, _ in found}) == len(found)
    steps = len(bench.schedule.trace)
    bench.done("fix", token=found[0][0])
    assert len(bench.schedule.trace) > steps
    assert "ask for the actions again" in bench.failed("fix", token=found[0][0])
    assert "ask for the actions again" in bench.failed("fix", token="nonsense")


def test_undo_redo_goto_and_checkpoints(bench: Bench) -> None:
    bench.done("apply", row=bench.row("i"), action="split", params={"factors": [None, 4]})
    bench.done("checkpoint", name=" tiled ")
    assert bench.view.state["history"]["nodes"][1]["checkpoint"] == "tiled"
    bench.done("undo")
    assert bench.names() == ["i", "j", "k"]
    assert bench.view.state["history"]["can_redo"]
    bench.done("redo")
    assert bench.view.state["history"]["current"] == "1"
    bench.done("checkpoint", name="")
    assert bench.view.state["history"]["nodes"][1]["checkpoint"] is None
    bench.done("goto", node="0")
    assert bench.view.state["python"] == ""
    assert "nothing to undo" in bench.failed("undo")
    assert "no state '77'" in bench.failed("goto", node="77")
    assert "no state 'x'" in bench.failed("goto", node="x")


@pytest.mark.parametrize("kind", ["loops", "lowered", "llvm", "asm"])
def test_sources(bench: Bench, kind: str) -> None:
    source = bench.done("source", kind=kind)
    SOURCE.validate(source)
    wanted = {"loops": "def matmul(", "lowered": "def matmul(", "llvm": "define", "asm": "matmul"}
    assert wanted[kind] in source["text"]


def test_wrong_commands_get_a_clear_reply(bench: Bench) -> None:
    assert "there is no command 'dance'" in bench.failed("dance")
    assert "needs a text 'row'" in bench.failed("actions")
    assert "there is no line 'L77'" in bench.failed("actions", row="L77")
    assert "needs an object 'params'" in bench.failed("check", row=bench.row("i"), action="split")
    wrong = bench.failed("check", row=bench.row("i"), action="melt", params={})
    assert wrong == "there is no action 'melt' for i"
    factors = bench.failed("apply", row=bench.row("i"), action="split", params={"factors": "two"})
    assert "list of whole numbers" in factors
    assert "does not ask for 'speed'" in bench.failed(
        "apply", row=bench.row("i"), action="vectorize", params={"speed": 2}
    )
    assert "there is no source 'poem'" in bench.failed("source", kind="poem")
    assert "positive whole number" in bench.failed("explore", count=0)
    assert "no point 'P3'" in bench.failed("load", point="P3")


def test_lines_that_a_step_consumed_are_refused_by_name(bench: Bench) -> None:
    row = bench.row("i")
    bench.done("apply", row=row, action="split", params={"factors": [None, 4]})
    assert bench.failed("actions", row=row) == "i is not in the current program"


@pytest.mark.parametrize("command", [None, 7, "undo", [], {}, {"type": 3, "id": "x"}])
def test_things_that_are_no_commands(bench: Bench, command: object) -> None:
    reply = answer(bench.session, command)
    MESSAGE.validate(reply)
    assert not reply["ok"]
    assert reply["re"] == -1


def test_a_fault_costs_one_command(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken() -> None:
        raise ZeroDivisionError("oh")

    monkeypatch.setattr(bench.schedule, "undo", broken)
    assert "by a fault of tvmlab: ZeroDivisionError: oh" in bench.failed("undo")
    assert "ZeroDivisionError" in caplog.text
    bench.done("actions", row=bench.row("i"))


def test_the_session_knows_every_command_of_the_protocol_and_no_other(bench: Bench) -> None:
    definitions = [d["$ref"].rsplit("/", 1)[1] for d in SCHEMA["$defs"]["Command"]["oneOf"]]
    names = [SCHEMA["$defs"][d]["properties"]["type"]["const"] for d in definitions]
    for name in names:
        reply = answer(bench.session, {"type": name, "id": 1})
        assert "there is no command" not in (reply["error"] or "")
    assert set(names) == set(commands._HANDLERS)  # pyright: ignore[reportPrivateUsage]
