"""Sessions of schedules that are opened inside another view, and reached through its widget.

Messages to and from such a session travel in an envelope:
`{"type": "inner", "session": id, "message": ...}`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .asking import fields_of
from .commands import answer
from .registry import find_session

Message = dict[str, Any]


class InnerSessions:
    """Carries messages between one widget and the sessions that were opened in it.

    Parameters
    ----------
    send
        Sends a message to the view.
    """

    def __init__(self, send: Callable[[Message], None]) -> None:
        self._send = send
        self._stops: dict[str, Callable[[], None]] = {}

    def take(self, command: object) -> bool:
        """Carry out a command if it is for such a session; returns whether it was."""
        fields = fields_of(command)
        if fields.get("type") != "inner":
            return False
        self._answer(str(fields.get("session")), fields.get("message"))
        return True

    def close(self) -> None:
        """Follow none any more; the sessions live on."""
        for stop in self._stops.values():
            stop()
        self._stops.clear()

    def _answer(self, name: str, command: object) -> None:
        session = find_session(name)
        with session.lock:
            if name not in self._stops:
                self._stops[name] = session.subscribe(lambda m: self._wrap(name, m))
            reply = answer(session, command)
            if fields_of(command).get("type") == "state":
                self._wrap(name, {"type": "state", "state": session.state})
            self._wrap(name, reply)

    def _wrap(self, name: str, message: Message) -> None:
        self._send({"type": "inner", "session": name, "message": message})
