"""The commands of the live view of a search, and the replies.

>>> answer_search(session, {"type": "pause", "id": 1})             # doctest: +SKIP
{'type': 'reply', 're': 1, 'ok': True, 'data': None, 'error': None}
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tvmlab.support import UserError

from .asking import Fields
from .replying import replied
from .search_session import SearchSession

_MOST = 1_000_000


def answer_search(session: SearchSession, command: object) -> dict[str, Any]:
    """Carry out one command; never raises, whatever the command is."""
    return replied(command, lambda f: _handler(f)(session, f), f"search {session.id}")


def _number(fields: Fields, name: str, low: int, high: int) -> int:
    value = fields.get(name)
    if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
        raise UserError(
            f"the command {fields.get('type')} needs a number {name!r} from {low} to {high}"
        )
    return value


def _start(session: SearchSession, fields: Fields) -> None:
    session.start(_number(fields, "more", 0, _MOST))


def _pause(session: SearchSession, fields: Fields) -> None:
    del fields
    session.pause()


def _resume(session: SearchSession, fields: Fields) -> None:
    del fields
    session.resume()


def _stop(session: SearchSession, fields: Fields) -> None:
    del fields
    session.stop()


def _open(session: SearchSession, fields: Fields) -> Any:
    opened = session.open(_number(fields, "trial", 0, _MOST))
    return {"session": opened.id, "name": opened.name}


_HANDLERS: dict[str, Callable[[SearchSession, Fields], Any]] = {
    "start": _start,
    "pause": _pause,
    "resume": _resume,
    "stop": _stop,
    "open": _open,
}


def _handler(fields: Fields) -> Callable[[SearchSession, Fields], Any]:
    name = fields.get("type")
    if not isinstance(name, str) or name not in _HANDLERS:
        raise UserError(f"there is no command {name!r} for searches")
    return _HANDLERS[name]
