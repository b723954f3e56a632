"""Sessions for tests: a runner that measures nothing, and the protocol's schema."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator

from tvmlab.tune import MeasureRequest, MeasureResult

SCHEMA: dict[str, Any] = json.loads(
    (Path(__file__).parents[2] / "extensions/packages/schema/protocol.schema.json").read_text(
        encoding="utf-8"
    )
)


class Definition:
    """One definition of the protocol, to check data against."""

    def __init__(self, name: str) -> None:
        self._check: Any = Draft202012Validator(
            {"$ref": f"#/$defs/{name}", "$defs": SCHEMA["$defs"]}
        )

    def validate(self, data: object) -> None:
        """Fail with the path of what does not fit."""
        self._check.validate(data)


COMMAND, MESSAGE, STATE = Definition("Command"), Definition("Message"), Definition("State")


def ok(seconds: float) -> MeasureResult:
    """A quiet measurement."""
    return MeasureResult("ok", seconds=(seconds * 0.99, seconds, seconds * 1.01))


class FakeRunner:
    """Answers requests at once, or when the gate is opened; remembers what it was asked.

    Parameters
    ----------
    results
        The result for a request; by default 1 ms for everything.
    """

    def __init__(
        self, results: Callable[[MeasureRequest], MeasureResult] = lambda _: ok(1e-3)
    ) -> None:
        self.results = results
        self.requests: list[MeasureRequest] = []
        self.gate = threading.Event()
        self.gate.set()
        self.entered = threading.Event()
        self._waiting: list[tuple[MeasureRequest, Future[MeasureResult]]] = []

    def submit(self, request: MeasureRequest) -> Future[MeasureResult]:
        self.requests.append(request)
        future: Future[MeasureResult] = Future()
        if self.gate.is_set():
            future.set_result(self.results(request))
        else:
            self._waiting.append((request, future))
        self.entered.set()
        return future

    def open(self) -> None:
        """Answer all that waits, and from now on at once."""
        self.gate.set()
        for request, future in self._waiting:
            if not future.done():
                future.set_result(self.results(request))

    def cancel(self, future: Future[MeasureResult] | None = None) -> None:
        for _, waiting in self._waiting:
            if not waiting.done() and future in (None, waiting):
                waiting.set_result(
                    MeasureResult("cancelled", error="the measurement was cancelled")
                )


class View:
    """A view as the front end is one: holds a state, takes patches, checks every message."""

    def __init__(self, state: Mapping[str, Any]) -> None:
        self.state = dict(state)
        self.patches = 0
        STATE.validate(self.state)

    def __call__(self, message: Mapping[str, Any]) -> None:
        json.dumps(message, allow_nan=False)
        MESSAGE.validate(message)
        if message["type"] == "patch":
            assert message["revision"] == self.state["revision"] + 1
            self.state = {**self.state, **message["set"], "revision": message["revision"]}
            self.patches += 1
        elif message["type"] == "state":
            self.state = dict(message["state"])
        STATE.validate(self.state)
