"""The sessions of this process. Views that are opened later find theirs here, by id."""

from __future__ import annotations

import threading
from typing import Any

from tvmlab.schedule import Schedule
from tvmlab.support import UserError

from .session import Session

_sessions: dict[str, Session] = {}
_guard = threading.Lock()


def open_session(schedule: Schedule, **options: Any) -> Session:
    """The session of a schedule: the one that it has, or a new one with the options given."""
    with _guard:
        for session in _open():
            if session.schedule is schedule:
                return session
        session = Session(schedule, **options)
        _sessions[session.id] = session
        return session


def keep_session(session: Session) -> Session:
    """Let views find a session that was made elsewhere."""
    with _guard:
        _sessions[session.id] = session
    return session


def sessions() -> list[Session]:
    """The open sessions, oldest first."""
    with _guard:
        return _open()


def find_session(name: str | None) -> Session:
    """The session of an id; the newest for None.

    Raises
    ------
    UserError
        If there is no such session.
    """
    with _guard:
        found = _open()
    if name is None:
        if found:
            return found[-1]
        raise UserError(
            "there is no session in this kernel yet", hint="run tl.explore(sch) in a cell"
        )
    for session in found:
        if session.id == name:
            return session
    raise UserError(
        f"session {name} is gone", hint="run the cell with tl.explore(sch) again to get a new one"
    )


def _open() -> list[Session]:
    for name in [n for n, s in _sessions.items() if s.closed]:
        del _sessions[name]
    return list(_sessions.values())
