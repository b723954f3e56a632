"""The commands of the protocol: what a view may ask of a session, and the replies.

A refused or failed command leaves everything as it was, and its reply says why.

>>> answer(session, {"type": "undo", "id": 1})
{'type': 'reply', 're': 1, 'ok': False, 'data': None, 'error': 'there is nothing to undo: ...'}
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from typing import Any, cast, get_args

from tvmlab.driver import SourceKind
from tvmlab.inspect import (
    Offer,
    Symbol,
    action_reports,
    diff_lines,
    line_report,
    move_to,
    nest_report,
    nest_text,
    offers,
    plain,
    slots_report,
    step_summary,
    verdict_report,
)
from tvmlab.ir import Program
from tvmlab.schedule import Attempt, RefusedError
from tvmlab.support import TvmlabError, UserError

from .session import Session
from .telling import told

Fields = Mapping[str, Any]
Reply = dict[str, Any]

_log = logging.getLogger(__name__)


class _StepRefusedError(UserError):
    """A step that was not taken, with the data that its reply carries."""

    def __init__(self, message: str, data: object) -> None:
        UserError.__init__(self, message)
        self.data = data


def answer(session: Session, command: object) -> Reply:
    """Carry out one command; never raises, whatever the command is."""
    fields = fields_of(command)
    number = fields.get("id")
    with session.lock:
        try:
            data = _handler(fields)(session, fields)
        except _StepRefusedError as refused:
            return _reply(number, False, refused.data, refused.message)
        except TvmlabError as error:
            return _reply(number, False, None, told(error))
        except Exception as error:  # a bug must cost one command, not the session
            _log.exception("command %s of session %s failed", fields.get("type"), session.id)
            text = f"this did not work, by a fault of tvmlab: {type(error).__name__}: {error}"
            return _reply(number, False, None, text)
    return _reply(number, True, data, None)


def fields_of(command: object) -> Fields:
    """The fields of a command; none for what is no object at all."""
    return cast("Fields", command) if isinstance(command, dict) else {}


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


def _text(fields: Fields, name: str) -> str:
    value = fields.get(name)
    if not isinstance(value, str):
        raise UserError(f"the command {fields['type']} needs a text {name!r}")
    return value


# ------------------------------------------------------------------ questions


def _actions(session: Session, fields: Fields) -> Any:
    row = _text(fields, "row")
    symbol = session.ids.find(row)
    line = line_report(session.schedule, symbol, session.target)
    reports = action_reports(
        session.schedule,
        symbol,
        session.ids,
        target=session.target,
        token=session.fix_token,
        predict=session.guesses.predict,
    )
    return {"row": row, "sentence": line.sentence, "facts": line.facts, "actions": reports}


def _check(session: Session, fields: Fields) -> Any:
    offer, arguments = _step(session, fields)
    attempt = session.schedule.preview(offer.action.primitive, **arguments)
    predict = session.guesses.predict
    summary = step_summary(session.schedule, offer, arguments, attempt, session.target, predict)
    return _checked(session, attempt, summary)


def _source(session: Session, fields: Fields) -> Any:
    kind = _text(fields, "kind")
    if kind not in get_args(SourceKind):
        raise UserError(f"there is no source {kind!r}; there are {', '.join(get_args(SourceKind))}")
    return {"kind": kind, "text": session.source(cast("SourceKind", kind))}


def _slots(session: Session, fields: Fields) -> Any:
    symbol = session.ids.find(_text(fields, "row"))
    return slots_report(session.schedule, symbol, session.ids, session.fix_token)


def _state(session: Session, fields: Fields) -> Any:
    del session, fields  # the transport sends the state before each reply to this command
    return None


# ---------------------------------------------------------------------- steps


def _apply(session: Session, fields: Fields) -> None:
    offer, arguments = _step(session, fields)
    _take(session, offer.action.primitive, arguments)


def _move(session: Session, fields: Fields) -> None:
    symbol, row = (session.ids.find(_text(fields, name)) for name in ("row", "to"))
    place = _text(fields, "place")
    move = move_to(session.schedule, symbol, row, "into" if place == "into" else "before")
    if isinstance(move, str):
        raise UserError(f"{symbol.name} cannot be moved there: {move}")
    _take(session, move.primitive, move.args)


def _take(session: Session, primitive: str, arguments: dict[str, Any]) -> None:
    """Take a step; if it is refused, the reply says why and what would work."""
    try:
        session.schedule.apply(primitive, **arguments)
    except RefusedError as refused:
        data = _checked(session, Attempt(refused.verdict), "")
        raise _StepRefusedError(refused.verdict.reason, data) from refused


def _fix(session: Session, fields: Fields) -> None:
    token = _text(fields, "token")
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
    node = _text(fields, "node")
    if not node.isdigit():
        raise UserError(f"there is no state {node!r} in the history")
    session.schedule.goto(int(node))


def _checkpoint(session: Session, fields: Fields) -> None:
    name = _text(fields, "name").strip()
    if name:
        session.schedule.checkpoint(name)
    else:
        session.schedule.history.node.label = None
        session.refresh()


def _load(session: Session, fields: Fields) -> None:
    session.load(_text(fields, "point"))


# ----------------------------------------------------------------- background


def _measure(session: Session, fields: Fields) -> None:
    del fields
    session.measure()


def _explore(session: Session, fields: Fields) -> None:
    count = fields.get("count")
    if not isinstance(count, int) or count < 1:
        raise UserError("the command explore needs a positive whole number 'count'")
    session.explore(count)


def _cancel(session: Session, fields: Fields) -> None:
    del fields
    session.cancel()


_HANDLERS: dict[str, Callable[[Session, Fields], Any]] = {
    "actions": _actions,
    "check": _check,
    "source": _source,
    "slots": _slots,
    "state": _state,
    "apply": _apply,
    "move": _move,
    "fix": _fix,
    "undo": _undo,
    "redo": _redo,
    "goto": _goto,
    "checkpoint": _checkpoint,
    "load": _load,
    "measure": _measure,
    "explore": _explore,
    "cancel": _cancel,
}


def _step(session: Session, fields: Fields) -> tuple[Offer, dict[str, Any]]:
    """The offer that a command names, and the arguments that its form makes."""
    symbol: Symbol = session.ids.find(_text(fields, "row"))
    wanted = _text(fields, "action")
    params = fields.get("params")
    if not isinstance(params, dict):
        raise UserError(f"the command {fields['type']} needs an object 'params'")
    for offer in offers(session.schedule, symbol):
        if offer.id == wanted:
            return offer, offer.arguments(cast("Fields", params), session.ids)
    raise UserError(f"there is no action {wanted!r} for {symbol.name}")


def _checked(session: Session, attempt: Attempt, summary: str) -> Any:
    preview = None
    if attempt.applied is not None:
        before, after = session.schedule.program, attempt.applied.program
        preview = diff_lines(_nest(before, session), _nest(after, session))
    verdict = verdict_report(attempt.verdict, session.fix_token)
    return {"verdict": verdict, "summary": summary, "preview": preview}


def _nest(program: Program, session: Session) -> str:
    return nest_text(nest_report(program, target=session.target), costs=False)
