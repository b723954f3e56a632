"""The commands of the protocol: what a view may ask of a session, and the replies.

A refused or failed command leaves everything as it was, and its reply says why.

>>> answer(session, {"type": "undo", "id": 1})
{'type': 'reply', 're': 1, 'ok': False, 'data': None, 'error': 'there is nothing to undo: ...'}
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

from tvmlab.inspect import move_to, plain
from tvmlab.inspect.wording import decimal_bytes
from tvmlab.schedule import Attempt, RefusedError, repeat_steps
from tvmlab.support import TvmlabError, UserError

from .asking import (
    Fields,
    StepNotTakenError,
    checked,
    fields_of,
    node_of,
    optional_text,
    step_of,
    text_of,
)
from .questions import QUESTIONS
from .searching import search, search_take
from .session import Session
from .study_questions import study_of
from .telling import told
from .tutoring import exercise_do

Reply = dict[str, Any]

_log = logging.getLogger(__name__)


def answer(session: Session, command: object) -> Reply:
    """Carry out one command; never raises, whatever the command is."""
    fields = fields_of(command)
    number = fields.get("id")
    with session.lock, decimal_bytes(session.decimal_bytes):
        try:
            data = _handler(fields)(session, fields)
        except StepNotTakenError as refused:
            return _reply(number, False, refused.data, refused.message)
        except TvmlabError as error:
            return _reply(number, False, None, told(error))
        except Exception as error:  # a bug must cost one command, not the session
            _log.exception("command %s of session %s failed", fields.get("type"), session.id)
            text = f"this did not work, by a fault of tvmlab: {type(error).__name__}: {error}"
            return _reply(number, False, None, text)
    return _reply(number, True, data, None)


def _reply(number: object, ok: bool, data: object, error: str | None) -> Reply:
    named = number if isinstance(number, int) else -1
    return {"type": "reply", "re": named, "ok": ok, "data": plain(data), "error": error}


def _handler(fields: Fields) -> Callable[[Session, Fields], Any]:
    name = fields.get("type")
    if not isinstance(name, str) or name not in _HANDLERS:
        raise UserError(
            f"there is no command {name!r}; this session speaks version 1 of the protocol"
        )
    return _HANDLERS[name]


# ---------------------------------------------------------------------- steps


def _apply(session: Session, fields: Fields) -> None:
    offer, arguments = step_of(session, fields)
    _take(session, offer.action.primitive, arguments)


def _move(session: Session, fields: Fields) -> None:
    symbol, row = (session.ids.find(text_of(fields, name)) for name in ("row", "to"))
    place = text_of(fields, "place")
    move = move_to(session.schedule, symbol, row, "into" if place == "into" else "before")
    if isinstance(move, str):
        raise UserError(f"{symbol.name} cannot be moved there: {move}")
    _take(session, move.primitive, move.args)


def _take(session: Session, primitive: str, arguments: dict[str, Any]) -> None:
    """Take a step; if it is refused, the reply says why and what would work."""
    try:
        session.schedule.apply(primitive, **arguments)
    except RefusedError as refused:
        data = checked(session, Attempt(refused.verdict), "")
        raise StepNotTakenError(refused.verdict.reason, data) from refused


def _fix(session: Session, fields: Fields) -> None:
    token = text_of(fields, "token")
    program, fix = session.fixes.get(token, (None, None))
    if fix is None or program is not session.schedule.program:
        raise UserError("this fix was for another state of the program; ask for the actions again")
    session.schedule.apply_fix(fix)


def _undo(session: Session, fields: Fields) -> None:
    del fields
    session.schedule.undo()


def _redo(session: Session, fields: Fields) -> None:
    del fields
    session.schedule.redo()


def _goto(session: Session, fields: Fields) -> None:
    session.schedule.goto(node_of(session, fields, "node").id)


def _checkpoint(session: Session, fields: Fields) -> None:
    name = text_of(fields, "name").strip()
    if name:
        session.schedule.checkpoint(name)
    else:
        session.schedule.history.node.label = None
        session.refresh()


def _load(session: Session, fields: Fields) -> None:
    session.load(text_of(fields, "point"))


def _pick(session: Session, fields: Fields) -> None:
    node = node_of(session, fields, "node")
    if node.step is None:
        raise UserError("the start is no step; pick one of the states after it")
    try:
        repeat_steps(session.schedule, [node.step])
    except RefusedError as refused:
        raise StepNotTakenError(
            refused.verdict.reason, checked(session, Attempt(refused.verdict), "")
        ) from refused


# ----------------------------------------------------------------- background


def _measure(session: Session, fields: Fields) -> None:
    del fields
    session.measure()


def _measure_gains(session: Session, fields: Fields) -> None:
    del fields
    session.measuring.measure_gains()


def _measure_machine(session: Session, fields: Fields) -> None:
    del fields
    session.measuring.measure_machine()


def _auto(session: Session, fields: Fields) -> None:
    wanted = fields.get("on")
    if not isinstance(wanted, bool):
        raise UserError("the command auto needs 'on', true or false")
    session.set_auto(wanted)


def _prefer(session: Session, fields: Fields) -> None:
    auto, unit = fields.get("auto"), fields.get("bytes")
    if not isinstance(auto, bool) or unit not in ("binary", "decimal"):
        raise UserError(
            "the command prefer needs 'auto', true or false, and 'bytes', binary or decimal"
        )
    session.prefer(auto=auto, decimal_bytes=unit == "decimal")


def _explore(session: Session, fields: Fields) -> None:
    count = fields.get("count")
    if not isinstance(count, int) or count < 1:
        raise UserError("the command explore needs a positive whole number 'count'")
    session.explore(count)


def _guess(session: Session, fields: Fields) -> None:
    what, guessing = text_of(fields, "what"), session.measuring.guessing
    if what in ("on", "off"):
        guessing.switch(what == "on")
    else:
        guessing.reveal(what, optional_text(fields, "limit"))
    session.refresh()


def _study(session: Session, fields: Fields) -> None:
    session.studies.start(study_of(fields, "what"))


def _cancel(session: Session, fields: Fields) -> None:
    del fields
    session.cancel()


_HANDLERS: dict[str, Callable[[Session, Fields], Any]] = {
    **QUESTIONS,
    "apply": _apply,
    "move": _move,
    "fix": _fix,
    "undo": _undo,
    "redo": _redo,
    "goto": _goto,
    "checkpoint": _checkpoint,
    "load": _load,
    "pick": _pick,
    "measure": _measure,
    "measure_gains": _measure_gains,
    "measure_machine": _measure_machine,
    "auto": _auto,
    "prefer": _prefer,
    "explore": _explore,
    "exercise_do": exercise_do,
    "study": _study,
    "guess": _guess,
    "search": search,
    "search_take": search_take,
    "cancel": _cancel,
}
