"""The commands of the graph view: what it may ask of a graph session, and the replies.

>>> answer_graph(session, {"type": "profile", "id": 1})            # doctest: +SKIP
{'type': 'reply', 're': 1, 'ok': True, 'data': None, 'error': None}
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tvmlab.support import UserError

from .asking import Fields
from .graph_session import GraphSession
from .replying import replied


def answer_graph(session: GraphSession, command: object) -> dict[str, Any]:
    """Carry out one command; never raises, whatever the command is."""
    return replied(command, lambda f: _handler(f)(session, f), f"graph {session.id}")


def _text(fields: Fields, name: str) -> str:
    value = fields.get(name)
    if not isinstance(value, str):
        raise UserError(f"the command {fields.get('type')} needs a text {name!r}")
    return value


def _profile(session: GraphSession, fields: Fields) -> None:
    del fields
    session.profile()


def _open(session: GraphSession, fields: Fields) -> Any:
    opened = session.open(_text(fields, "row"))
    return {"session": opened.id, "name": opened.name}


def _pin(session: GraphSession, fields: Fields) -> None:
    session.pin(_text(fields, "row"))


def _unpin(session: GraphSession, fields: Fields) -> None:
    session.unpin(_text(fields, "row"))


def _pass(session: GraphSession, fields: Fields) -> Any:
    return {"lines": session.compare_pass(_text(fields, "name"))}


_HANDLERS: dict[str, Callable[[GraphSession, Fields], Any]] = {
    "profile": _profile,
    "open": _open,
    "pin": _pin,
    "unpin": _unpin,
    "pass": _pass,
}


def _handler(fields: Fields) -> Callable[[GraphSession, Fields], Any]:
    name = fields.get("type")
    if not isinstance(name, str) or name not in _HANDLERS:
        raise UserError(f"there is no command {name!r} for graphs")
    return _HANDLERS[name]
