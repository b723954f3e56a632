"""Where lines may be dropped: verdicts of all places before anything moves, and the move itself."""

from __future__ import annotations

import pytest
from helpers.bench_session import Bench
from helpers.schedules import matmul_schedule
from helpers.sessions import Definition

from tvmlab import te
from tvmlab.schedule import Schedule

SLOTS, CHECKED = Definition("Slots"), Definition("Checked")


@pytest.fixture
def bench() -> Bench:
    return Bench(matmul_schedule(16, 16, 16))


def test_every_allowed_place_takes_the_step_and_every_refused_one_does_not() -> None:
    start = Bench(ordered())
    for row in start.view.state["rows"]:
        if row["type"] != "loop":
            continue
        slots = start.done("slots", row=row["id"])
        SLOTS.validate(slots)
        for slot in slots["slots"]:
            assert slot["reason"]
            fields = {"row": row["id"], "to": slot["row"], "place": slot["place"]}
            if slot["status"] == "allowed":
                start.done("move", **fields)
                start.done("undo")
            else:
                start.failed("move", **fields)


def test_the_places_of_a_loop_are_between_the_loops_of_its_nest(bench: Bench) -> None:
    slots = bench.done("slots", row=bench.row("k"))["slots"]
    assert [(s["place"], s["status"]) for s in slots] == [
        ("before", "allowed"),
        ("before", "allowed"),
        ("before", "here"),
        ("before", "here"),
    ]
    assert slots[0]["reason"] == "k may go outside of i"
    bench.done("move", row=bench.row("k"), to=bench.row("i"), place="before")
    assert bench.names() == ["k", "i", "j"]
    bench.done("move", row=bench.row("k"), to=bench.row("C"), place="before")
    assert bench.names() == ["i", "j", "k"]


def test_a_refused_place_names_the_dependence_and_two_iterations() -> None:
    bench = Bench(ordered())
    inner = bench.row("k_i_fused_inner")
    slots = bench.done("slots", row=inner)["slots"]
    refused = next(s for s in slots if s["status"] == "refused")
    assert refused["verdict"]["clash"]["element"] == "C[1, 0]"
    reply = bench.ask("move", row=inner, to=refused["row"], place="before")
    assert not reply["ok"]
    CHECKED.validate(reply["data"])


def test_a_block_goes_into_a_loop_of_what_reads_it() -> None:
    a = te.placeholder((16, 16), name="A")
    b = te.compute((16, 16), lambda i, j: a[i, j] + 1, name="B")
    bench = Bench(Schedule(te.compute((16, 16), lambda y, x: b[y, x] * 2, name="C")))
    slots = {s["row"]: s for s in bench.done("slots", row=bench.row("B"))["slots"]}
    assert slots[bench.row("i")]["status"] == "here"
    assert slots[bench.row("y")]["status"] == "allowed"
    bench.done("move", row=bench.row("B"), to=bench.row("y"), place="into")
    assert bench.names()[0] == "y"


def test_what_cannot_be_dropped_says_so(bench: Bench) -> None:
    error = bench.failed("move", row=bench.row("C"), to=bench.row("i"), place="before")
    assert "a loop goes between loops" in error
    bench.done("apply", row=bench.row("C"), action="cache_write", params={})
    buffer = next(r["id"] for r in bench.view.state["rows"] if r["type"] == "buffer")
    assert "is a buffer" in bench.failed("slots", row=buffer)


def test_a_check_shows_the_nest_as_it_would_be(bench: Bench) -> None:
    fields = {"row": bench.row("i"), "action": "split", "params": {"factors": [None, 4]}}
    checked = bench.done("check", **fields)
    CHECKED.validate(checked)
    signs = {line["sign"] for line in checked["preview"]}
    assert {"+", "-"} <= signs
    assert any("i_inner" in line["text"] for line in checked["preview"] if line["sign"] == "+")


def ordered() -> Schedule:
    """A nest with an order that results depend on: start values are set by one of the sums."""
    schedule = matmul_schedule(8, 8, 8)
    i, j, k = schedule.loops("C")
    schedule.reorder(k, i, j)
    schedule.split(schedule.fuse(k, i), [None, 3])
    return schedule
