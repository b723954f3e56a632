"""Reading a command: its fields, the step, line or state that it names, and what a try gives."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from tvmlab.inspect import (
    Offer,
    Symbol,
    diff_lines,
    nest_report,
    nest_text,
    offers,
    verdict_report,
)
from tvmlab.ir import Block, BlockSymbol, Program, Var
from tvmlab.schedule import Attempt, HistoryNode, index_of
from tvmlab.support import UserError

from .session import Session

Fields = Mapping[str, Any]


class StepNotTakenError(UserError):
    """A step that was not taken, with the data that its reply carries."""

    def __init__(self, message: str, data: object) -> None:
        UserError.__init__(self, message)
        self.data = data


def fields_of(command: object) -> Fields:
    """The fields of a command; none for what is no object at all."""
    return cast("Fields", command) if isinstance(command, dict) else {}


def text_of(fields: Fields, name: str) -> str:
    """A field that must be a text."""
    value = fields.get(name)
    if not isinstance(value, str):
        raise UserError(f"the command {fields['type']} needs a text {name!r}")
    return value


def optional_text(fields: Fields, name: str) -> str | None:
    """A field that is a text or left out."""
    return None if fields.get(name) is None else text_of(fields, name)


def block_at(session: Session, row: str) -> Block:
    """The block that a line is, or the first inside it."""
    symbol = session.ids.find(row)
    index = index_of(session.schedule.program)
    if isinstance(symbol, BlockSymbol) and symbol in index.blocks:
        return index.blocks[symbol]
    if isinstance(symbol, Var) and symbol in index.loops:
        inside = index.blocks_under(index.loops[symbol])
    else:
        inside = list(index.blocks.values())
    if not inside:
        raise UserError("there is no block there")
    return inside[0]


def node_of(session: Session, fields: Fields, name: str) -> HistoryNode:
    """The state of the history that a field names."""
    node = text_of(fields, name)
    if not node.isdigit() or int(node) not in session.schedule.history.nodes:
        raise UserError(f"there is no state {node!r} in the history")
    return session.schedule.history.nodes[int(node)]


def step_of(session: Session, fields: Fields) -> tuple[Offer, dict[str, Any]]:
    """The offer that a command names, and the arguments that its form makes."""
    symbol: Symbol = session.ids.find(text_of(fields, "row"))
    wanted = text_of(fields, "action")
    params = fields.get("params")
    if not isinstance(params, dict):
        raise UserError(f"the command {fields['type']} needs an object 'params'")
    for offer in offers(session.schedule, symbol):
        if offer.id == wanted:
            return offer, offer.arguments(cast("Fields", params), session.ids)
    raise UserError(f"there is no action {wanted!r} for {symbol.name}")


def checked(session: Session, attempt: Attempt, summary: str) -> Any:
    """What a step would do: its verdict, and the nest as it would be."""
    preview = None
    if attempt.applied is not None:
        before, after = session.schedule.program, attempt.applied.program
        preview = diff_lines(_nest(before, session), _nest(after, session))
    verdict = verdict_report(attempt.verdict, session.fix_token)
    return {"verdict": verdict, "summary": summary, "preview": preview}


def _nest(program: Program, session: Session) -> str:
    return nest_text(nest_report(program, target=session.target), costs=False)
