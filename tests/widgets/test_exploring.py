"""Exploring: random schedules fill the plot, train the model, and can be opened."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from helpers.schedules import matmul_schedule
from helpers.sessions import FakeRunner, View, ok

from tvmlab import tune
from tvmlab.ir import structural_hash
from tvmlab.schedule import Schedule
from tvmlab.support import OptionError, UserError
from tvmlab.tune import MeasureResult
from tvmlab.widgets import Session, answer

WAIT = 20.0


@dataclass
class Record:
    """What exploring tells of one schedule."""

    index: int
    trace: str
    program_hash: str
    predicted_gflops: float | None
    gflops: float | None
    result: MeasureResult


class Model:
    """A model that has learned nothing until told so."""

    def __init__(self) -> None:
        self.row_count = 0

    @property
    def trained(self) -> bool:
        return self.row_count > 0

    def predict_gflops(self, features: Any) -> Any:
        return np.full(len(features), 5.0)


class Space:
    """A space whose schedules split the first loop by 2, 4, 8 ...; waits at a gate if told to."""

    def __init__(self) -> None:
        self.gate = threading.Event()
        self.gate.set()
        self.error: Exception | None = None
        self.asked: dict[str, Any] = {}

    def __call__(self, source: Any, **options: Any) -> Iterator[Record]:
        self.asked = {"source": source, **options}
        for index in range(options["n"]):
            self.gate.wait(WAIT)
            if options["cancel"].is_set():
                return
            if self.error is not None:
                raise self.error
            yield self.record(source, index, options["model"])

    def record(self, source: Any, index: int, model: Model) -> Record:
        sch = Schedule(source)
        sch.split(sch.loops("C")[0], [None, 2 << index])
        model.row_count = index + 1
        if index == 1:
            failed = MeasureResult("timeout", error="the kernel took too long")
            return Record(index, "", "", 1.0, None, failed)
        predicted = None if index == 0 else float(index)
        return Record(
            index, sch.trace.to_json(), structural_hash(sch.program), predicted, 2.0 * index, ok(1)
        )


@pytest.fixture
def space(monkeypatch: pytest.MonkeyPatch) -> Space:
    made = Space()
    monkeypatch.setattr(tune, "explore_space", made, raising=False)
    monkeypatch.setattr(tune, "CostModel", Model, raising=False)
    return made


def opened() -> tuple[Session, View]:
    session = Session(matmul_schedule(64, 64, 64), runner=FakeRunner())
    view = View(session.state)
    session.subscribe(view)
    return session, view


@pytest.mark.usefixtures("space")
def test_points_come_from_schedules_that_were_predicted_first() -> None:
    session, view = opened()
    assert view.state["plot"]["message"] == "The model has seen no measurements yet."
    assert answer(session, {"type": "explore", "id": 1, "count": 6})["ok"]
    assert session.wait(WAIT)
    plot = view.state["plot"]
    # The first had no prediction, the second failed.
    assert [(p["predicted"], p["measured"]) for p in plot["points"]] == [
        (2.0, 4.0), (3.0, 6.0), (4.0, 8.0), (5.0, 10.0)
    ]  # fmt: skip
    assert plot["rank_correlation"] == pytest.approx(1)
    assert plot["message"] == "The model has learned from 6 measurements."
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
    session.explore(6)
    session.measure()
    assert session.wait(WAIT)
    session.measure()
    assert session.wait(WAIT)
    last = view.state["plot"]["points"][-1]
    assert (last["node"], last["label"], last["predicted"]) == ("0", "start", 5.0)
    assert last["measured"] == pytest.approx(2 * 64**3 / 1e-3 / 1e9)
    assert sum(p["node"] is not None for p in view.state["plot"]["points"]) == 1
    session.schedule.split(session.schedule.loops("C")[0], [None, 4])
    session.load(last["id"])
    assert view.state["history"]["current"] == "0"


@pytest.mark.usefixtures("space")
def test_the_model_speaks_in_the_menu() -> None:
    session, view = opened()
    row = view.state["rows"][0]["id"]
    session.explore(6)
    assert session.wait(WAIT)
    reply = answer(session, {"type": "actions", "id": 1, "row": row})
    split = next(a for a in reply["data"]["actions"] if a["id"] == "split")
    assert split["summary"].endswith("predicted 1×")


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
    assert "learned from 3" in view.state["plot"]["message"]


def test_points_that_are_not_there() -> None:
    session, _ = opened()
    for name in ("P0", "x", "P", "Pone"):
        with pytest.raises(UserError, match="there is no point"):
            session.load(name)
