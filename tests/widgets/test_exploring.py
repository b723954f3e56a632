"""Exploring: random schedules fill the plot, train the model, and can be opened."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import pytest
from helpers.schedules import matmul_schedule
from helpers.sessions import FakeRunner, View, ok

from tvmlab.ir import Program, structural_hash
from tvmlab.schedule import Schedule
from tvmlab.support import OptionError, UserError
from tvmlab.tune import Learner, MeasureResult, Record, extract_features
from tvmlab.widgets import Session, answer, exploring

WAIT = 20.0


class Space:
    """Schedules that split the first loop by 2, 4, 8 ...; waits at a gate if told to.

    Index 0 has no prediction, index 1 fails; the others run as fast as twice their index.
    """

    def __init__(self) -> None:
        self.gate = threading.Event()
        self.gate.set()
        self.error: Exception | None = None
        self.asked: dict[str, Any] = {}

    def __call__(self, source: Program, **options: Any) -> Iterator[Record]:
        self.asked = {"source": source, **options}
        for index in range(options["n"]):
            self.gate.wait(WAIT)
            if options["cancel"].is_set():
                return
            if self.error is not None:
                raise self.error
            yield self.record(source, index, options["learner"])

    def record(self, source: Program, index: int, learner: Learner) -> Record:
        sch = Schedule(source)
        sch.split(sch.loops("C")[0], [None, 2 << index])
        features = extract_features(sch.program)
        gflops = None if index == 1 else 2.0 * index + 1
        learner.add(features, gflops, structural_hash(source))
        learner.refit_if_due()
        return Record(
            index=index,
            program_hash=structural_hash(sch.program),
            values={},
            trace=sch.trace.to_json(),
            predicted_gflops=None if index == 0 else float(index),
            model_rows=0,
            gflops=gflops,
            result=FAILED if gflops is None else ok(1e-3),
            features=features,
        )


FAILED = MeasureResult("timeout", error="the kernel took too long")


@pytest.fixture
def space(monkeypatch: pytest.MonkeyPatch) -> Space:
    made = Space()
    monkeypatch.setattr(exploring, "explore_space", made)
    return made


def opened() -> tuple[Session, View]:
    session = Session(matmul_schedule(256, 64, 64), runner=FakeRunner())
    view = View(session.state)
    session.subscribe(view)
    return session, view


@pytest.mark.usefixtures("space")
def test_points_come_from_schedules_that_were_predicted_first() -> None:
    session, view = opened()
    assert view.state["plot"]["message"] == "The model has seen no measurements yet."
    assert answer(session, {"type": "explore", "id": 1, "count": 8})["ok"]
    assert session.wait(WAIT)
    plot = view.state["plot"]
    # The first had no prediction, the second failed.
    assert [(p["predicted"], p["measured"]) for p in plot["points"]] == [
        (float(n), 2.0 * n + 1) for n in range(2, 8)
    ]
    assert plot["rank_correlation"] == pytest.approx(1)
    assert plot["message"] == "The model has learned from 8 measurements."
    assert view.state["job"] is None


def test_the_space_is_that_of_the_unscheduled_program(space: Space) -> None:
    session, _ = opened()
    session.schedule.split(session.schedule.loops("C")[0], [None, 4])
    session.explore(1)
    session.explore(1)
    assert session.wait(WAIT)
    assert space.asked["source"] is session.schedule.history.nodes[0].program
    assert space.asked["seed"] == 1  # another one each time
    assert space.asked["target"] == session.target


def test_progress_is_shown_and_exploring_can_be_cancelled(space: Space) -> None:
    session, view = opened()
    space.gate.clear()
    session.explore(5)
    assert view.state["job"]["kind"] == "explore"
    assert (view.state["job"]["done"], view.state["job"]["total"]) == (0, 5)
    session.schedule.split(session.schedule.loops("C")[0], [None, 4])  # not blocked
    assert answer(session, {"type": "cancel", "id": 2})["ok"]
    space.gate.set()
    assert session.wait(WAIT)
    assert view.state["job"] is None
    assert view.state["plot"]["points"] == []


@pytest.mark.usefixtures("space")
def test_a_point_opens_as_a_branch_from_the_start() -> None:
    session, view = opened()
    sch = session.schedule
    i, _, _ = sch.loops("C")
    sch.parallel(i)
    session.explore(4)
    assert session.wait(WAIT)
    point = view.state["plot"]["points"][-1]
    assert answer(session, {"type": "load", "id": 1, "point": point["id"]})["ok"]
    assert view.state["rows"][0]["name"] == "i_outer"
    current = view.state["history"]["nodes"][-1]
    assert (current["id"], current["parent"], current["label"]) == ("2", "0", "split i")
    assert view.state["plot"]["points"][-1]["current"] is True
    sch.goto(1)
    assert view.state["rows"][0]["kind"] == "parallel"
    assert i.alive  # references of the first branch hold there


@pytest.mark.usefixtures("space")
def test_a_measured_state_becomes_a_point_once_there_is_a_model() -> None:
    session, view = opened()
    session.explore(8)
    session.measure()
    assert session.wait(WAIT)
    session.measure()
    assert session.wait(WAIT)
    last = view.state["plot"]["points"][-1]
    assert (last["node"], last["label"]) == ("0", "start")
    assert last["predicted"] > 0
    assert last["measured"] == pytest.approx(2 * 256 * 64**2 / 1e-3 / 1e9)
    assert sum(p["node"] is not None for p in view.state["plot"]["points"]) == 1
    session.schedule.split(session.schedule.loops("C")[0], [None, 4])
    session.load(last["id"])
    assert view.state["history"]["current"] == "0"


@pytest.mark.usefixtures("space")
def test_the_model_speaks_in_the_menu() -> None:
    session, view = opened()
    row = view.state["rows"][0]["id"]
    session.explore(8)
    assert session.wait(WAIT)
    reply = answer(session, {"type": "actions", "id": 1, "row": row})
    split = next(a for a in reply["data"]["actions"] if a["id"] == "split")
    assert "predicted" in split["summary"]


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (OptionError("XGBoost is not installed", hint="pip install it"), "XGBoost is not inst"),
        (ZeroDivisionError("oh"), "ZeroDivisionError: oh"),
    ],
)
def test_an_exploration_that_fails_says_why(space: Space, error: Exception, words: str) -> None:
    session, view = opened()
    space.error = error
    session.explore(3)
    assert session.wait(WAIT)
    assert words in view.state["plot"]["message"]
    assert view.state["job"] is None
    space.error = None
    session.explore(3)
    assert session.wait(WAIT)
    assert "so far there are 3" in view.state["plot"]["message"]


def test_points_that_are_not_there() -> None:
    session, _ = opened()
    for name in ("P0", "x", "P", "Pone"):
        with pytest.raises(UserError, match="there is no point"):
            session.load(name)
