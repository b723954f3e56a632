"""The raw comm by which JupyterLab's side panel and tab reach a session, with no widget manager.

The front end opens a comm on the target `tvmlab.session` with `{"session": id}`, or None for the
newest session. The whole state comes back first, then patches; each command gets its reply.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from tvmlab.support import UserError

from .asking import fields_of
from .commands import answer
from .listeners import Message
from .registry import find_session
from .session import Session

TARGET = "tvmlab.session"


class Comm(Protocol):
    """What is used of a Jupyter comm."""

    def send(self, data: dict[str, Any]) -> None: ...
    def close(self, data: dict[str, Any]) -> None: ...
    def on_msg(self, callback: Callable[[Message], None]) -> None: ...
    def on_close(self, callback: Callable[[Message], None]) -> None: ...


def register_target() -> None:
    """Let comms be opened on sessions; outside a kernel this does nothing of note."""
    from comm import get_comm_manager

    get_comm_manager().register_target(TARGET, opened)


def opened(comm: Comm, message: Message) -> None:
    """Connect a comm that a view has just opened, or close it with the reason why not."""
    wanted = message["content"]["data"].get("session")
    try:
        session = find_session(wanted if isinstance(wanted, str) else None)
    except UserError as error:
        comm.close({"reason": f"{error.message}: {error.hint}"})
        return
    connect(comm, session)


def connect(comm: Comm, session: Session) -> None:
    """Send a session's state and changes over a comm, and carry out the commands that come."""

    def received(message: Message) -> None:
        fields = fields_of(message["content"]["data"])
        if fields.get("type") == "set":
            return  # a view's own shared values; the session keeps none
        with session.lock:
            reply = answer(session, fields)
            if fields.get("type") == "state":
                comm.send({"type": "state", "state": session.state})
            comm.send(reply)

    def closed(message: Message) -> None:
        del message
        stop()

    with session.lock:
        stop = session.subscribe(comm.send)
        comm.on_msg(received)
        comm.on_close(closed)
        comm.send({"type": "state", "state": session.state})
