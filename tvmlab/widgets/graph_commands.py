"""The commands of the graph view: what it may ask of a graph session, and the replies.

>>> answer_graph(session, {"type": "profile", "id": 1})            # doctest: +SKIP
{'type': 'reply', 're': 1, 'ok': True, 'data': None, 'error': None}
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

from tvmlab.support import TvmlabError, UserError

from .asking import Fields, fields_of
from .graph_session import GraphSession
from .telling import told

_log = logging.getLogger(__name__)


def answer_graph(session: GraphSession, command: object) -> dict[str, Any]:
    """Carry out one command; never raises, whatever the command is."""
    fields = fields_of(command)
    number = fields.get("id")
    data, error = None, None
    try:
        data = _handler(fields)(session, fields)
    except TvmlabError as failed:
        error = told(failed)
    except Exception as failed:  # a bug must cost one command, not the session
        _log.exception("command %s of graph %s failed", fields.get("type"), session.id)
        error = f"this did not work, by a fault of tvmlab: {type(failed).__name__}: {failed}"
    return {
        "type": "reply",
        "re": number if isinstance(number, int) else -1,
        "ok": error is None,
        "data": data,
        "error": error,
    }


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
