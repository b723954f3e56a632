"""A session with one view on a bench: short ways to ask it things, each answer checked."""

from __future__ import annotations

import json
from typing import Any

from helpers.sessions import MESSAGE, FakeRunner, View

from tvmlab.schedule import Schedule
from tvmlab.widgets import Session, answer


class Bench:
    """A session with one view, and short ways to ask it things."""

    def __init__(self, schedule: Schedule, runner: FakeRunner | None = None) -> None:
        self.schedule = schedule
        self.session = Session(schedule, runner=runner or FakeRunner())
        self.view = View(self.session.state)
        self.session.subscribe(self.view)
        self.number = 0

    def ask(self, type: str, **fields: Any) -> dict[str, Any]:
        self.number += 1
        reply = answer(self.session, {"type": type, "id": self.number, **fields})
        json.dumps(reply, allow_nan=False)
        MESSAGE.validate(reply)
        assert reply["re"] == self.number
        assert self.view.state == self.session.state
        return reply

    def done(self, type: str, **fields: Any) -> Any:
        reply = self.ask(type, **fields)
        assert reply["ok"], reply["error"]
        assert reply["error"] is None
        return reply["data"]

    def failed(self, type: str, **fields: Any) -> str:
        before = self.view.state
        reply = self.ask(type, **fields)
        assert not reply["ok"]
        assert self.view.state is before, "a failed command changed something"
        return reply["error"]

    def row(self, name: str) -> str:
        rows = self.view.state["rows"]
        return next(r["id"] for r in rows if r["name"] == name and r["type"] != "buffer")

    def names(self) -> list[str]:
        return [r["name"] for r in self.view.state["rows"] if r["type"] == "loop"]
