"""Every primitive is offered somewhere, and is done by a view alone, through the protocol."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from helpers.schedules import matmul_schedule, tiled_schedule
from helpers.sessions import STATE, Definition, FakeRunner

from tvmlab import te
from tvmlab.schedule import PRIMITIVES, Schedule
from tvmlab.widgets import Session, answer

DETAILS = Definition("Details")


def _stencil() -> Schedule:
    """A producer whose window slides along the rows of its consumer."""
    a = te.placeholder((12, 18), name="A")
    b = te.compute(a.shape, lambda i, j: a[i, j] * 2.0, name="B")
    c = te.compute((10, 16), lambda i, j: b[i, j] + b[i + 2, j + 1], name="C")
    sch = Schedule(te.compute((10, 16), lambda i, j: c[i, j] + 1.0, name="D"))
    sch.compute_at("B", sch.loops("C")[0])
    return sch


def _noted() -> Schedule:
    sch = matmul_schedule(20, 20, 20)
    sch.annotate(sch.loops("C")[0], "mine", 1)
    sch.annotate_block("C", "mine", 1)
    return sch


def _bound() -> Schedule:
    sch = matmul_schedule(16, 16, 16)
    i, j, _ = sch.loops("C")
    sch.bind(i, "blockIdx.x")
    sch.bind(j, "threadIdx.x")
    return sch


def _inner_threads() -> Schedule:
    """Threads that each iteration of a loop starts anew."""
    a = te.placeholder((4, 8), name="A")
    sch = Schedule(te.compute((4, 8), lambda i, j: a[i, j] + 1.0, name="B"))
    sch.bind(sch.loops("B")[1], "threadIdx.x")
    return sch


def _vectors() -> Schedule:
    """Sums of eight numbers, for which an instruction is declared."""
    x, y = te.placeholder((8,), name="x"), te.placeholder((8,), name="y")
    code = (
        "def vadd(x: float32[8], y: float32[8], z: float32[8]):\n"
        "    for i in vectorized(8):\n"
        "        z[i] = x[i] + y[i]\n"
    )
    te.tensor_intrin("explorer.vadd", te.compute((8,), lambda i: x[i] + y[i], name="z"), code)
    a, b = te.placeholder((4, 8), name="A"), te.placeholder((4, 8), name="B")
    return Schedule(te.compute((4, 8), lambda i, j: a[i, j] + b[i, j], name="C"))


def _choosing() -> Schedule:
    """A condition that one of two loops does not change, asked twice in one formula."""
    a = te.placeholder((4, 8), name="A")

    def formula(i: Any, j: Any) -> Any:
        chosen = te.if_then_else(i < 3, a[i, j], 0.0)
        return chosen + te.if_then_else(i < 3, 1.0, 2.0)

    return Schedule(te.compute((4, 8), formula, name="C"))


def _bytes() -> Schedule:
    """A product of signed bytes."""
    a = te.placeholder((4, 8), "int8", name="A")
    b = te.placeholder((8, 4), "int8", name="B")
    k = te.reduce_axis(8, "k")

    def product(i: Any, j: Any) -> Any:
        return te.sum(a[i, k].astype("int32") * b[k, j].astype("int32"), axis=k)

    return Schedule(te.compute((4, 4), product, name="C"))


MAKERS = (tiled_schedule, _stencil, _noted, _bound, _inner_threads, _vectors, _choosing, _bytes)


class Desk:
    """A session that is asked by commands alone."""

    def __init__(self, schedule: Schedule) -> None:
        self.session = Session(schedule, runner=FakeRunner())
        self.number = 0

    def ask(self, type: str, **fields: Any) -> dict[str, Any]:
        self.number += 1
        return answer(self.session, {"type": type, "id": self.number, **fields})

    def offers(self) -> Iterator[tuple[str, dict[str, Any]]]:
        """Each line with each action for it."""
        for row in list(self.session.state["rows"]):
            details = self.ask("actions", row=row["id"])["data"]
            DETAILS.validate(details)
            for action in details["actions"]:
                yield row["id"], action


def _take_all(desk: Desk, done: set[str]) -> None:
    """Take each allowed kind of step with the form as it opens, look at the state, and undo it."""
    for row, action in list(desk.offers()):
        name = action["primitive"]
        if name in done or action["verdict"]["status"] != "allowed":
            continue
        params = {p["name"]: p["default"] for p in action["params"]}
        reply = desk.ask("apply", row=row, action=action["id"], params=params)
        if not reply["ok"]:
            assert name == "reorder", reply["error"]  # its default is the order that there is
            continue
        STATE.validate(desk.session.state)
        assert name in desk.session.state["python"]
        assert desk.session.state["history"]["nodes"][-1]["code"]
        done.add(name)
        assert desk.ask("undo")["ok"]


def test_every_primitive_is_offered_and_done_by_a_view() -> None:
    done: set[str] = set()
    for make in MAKERS:
        _take_all(Desk(make()), done)
    assert sorted(set(PRIMITIVES) - done) == []


@pytest.mark.parametrize("make", MAKERS)
def test_every_offer_has_a_form_that_a_view_can_show(make: Any) -> None:
    for _, action in Desk(make()).offers():
        assert action["family"]
        for param in action["params"]:
            if param["kind"] == "choice":
                assert param["choices"], (action["title"], param["name"])
