"""An exercise as a view works on it, through the protocol."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import tvmlab as tl
from tvmlab.exercises.exercise import Exercise
from tvmlab.schedule import Schedule
from tvmlab.widgets import Session
from tvmlab.widgets.commands import answer


@pytest.fixture
def ex(tmp_path: Path) -> Exercise:
    return tl.exercise("reorder", progress=tmp_path / "progress.json")


def ask(session: Session, what: str | None = None, **more: str) -> Any:
    """Do something, then look; gives the data, or the error in words."""
    if what is not None:
        command = {"type": "exercise_do", "id": 1, "what": what, **more}
        reply = answer(session, command)
        if not reply["ok"]:
            return reply["error"]
    return answer(session, {"type": "exercise", "id": 2})["data"]


def test_a_view_checks_hints_and_predicts(ex: Exercise) -> None:
    session = Session(ex.schedule)
    assert session.state["exercise"] == {"title": ex.task.title, "turn": 0}
    first = ask(session)
    assert {goal["met"] for goal in first["goals"]} == {None}
    assert (first["attempts"], first["hint"]) == (0, "")
    assert "after an attempt" in ask(session, "solution")

    checked = ask(session, "check")
    assert False in {goal["met"] for goal in checked["goals"]}
    assert (checked["attempts"], checked["passed"], checked["stale"]) == (1, False, False)
    assert session.state["exercise"]["turn"] == 1
    assert ask(session, "hint")["hint"].startswith("Hint 1 of")
    assert "you said: same" in ask(session, "predict", value="same")["prediction"]

    ex.task.solve(ex.schedule)
    assert ask(session)["stale"]
    solved = ask(session, "check")
    assert solved["passed"]
    assert solved["solved"]
    assert "sch" in ask(session, "solution")["solution"]
    session.close()


def test_a_refused_step_is_the_hint(ex: Exercise) -> None:
    session = Session(ex.schedule)
    k = ex.schedule.loops("C")[2]
    with pytest.raises(tl.RefusedError):
        ex.schedule.parallel(k)
    assert ask(session, "hint")["hint"].startswith("Your last step was")
    session.close()


def test_what_cannot_be_done(ex: Exercise) -> None:
    session = Session(ex.schedule)
    assert "cannot 'guess'" in ask(session, "guess")
    assert "is no prediction" in ask(session, "predict", value="more")
    plain = Session(Schedule(ex.task.start()))
    assert plain.state["exercise"] is None
    assert "belongs to no exercise" in answer(plain, {"type": "exercise", "id": 3})["error"]
    session.close()
    plain.close()
