"""Questions beyond the state at hand: other sizes, other machines, what the model has learned."""

from __future__ import annotations

from typing import Any, cast

from tvmlab.inspect import (
    OTHERS,
    attribution_report,
    learning_report,
    machines_report,
    what_if_report,
)
from tvmlab.inspect.wording import duration
from tvmlab.ir import Program
from tvmlab.schedule import Schedule
from tvmlab.support import UserError
from tvmlab.tune import extract_features

from .asking import Fields, optional_text
from .session import Session


def what_if(session: Session, fields: Fields) -> Any:
    """The same steps at other sizes."""
    given = fields.get("sizes")
    if not isinstance(given, dict):
        raise UserError("the command what_if needs an object 'sizes'")
    wanted: dict[str, int] = {}
    for name, value in cast("dict[str, Any]", given).items():
        if not isinstance(value, int) or isinstance(value, bool):
            raise UserError(f"the size {name} must be a whole number")
        wanted[str(name)] = value
    predict = session.guesses.predict
    return what_if_report(session.schedule, wanted, session.target, predict)


def machines(session: Session, fields: Fields) -> Any:
    """The same schedule on another machine."""
    other = optional_text(fields, "other") or next(iter(OTHERS))
    history = session.schedule.history
    known = session.ledger.measured(session.writer.hash_of(history.node))
    words = "" if known is None else duration(known.median)
    return machines_report(history, session.target, other, words)


def learning(session: Session, fields: Fields) -> Any:
    """How a model would do with fewer measurements."""
    del fields
    return learning_report(*session.guesses.learner.seen())


def attribution(session: Session, fields: Fields) -> Any:
    """Why the model says what it says, of this state or of a point of the plot."""
    program = _program_of(session, optional_text(fields, "point"))
    row = extract_features(program, session.target.num_threads)
    guesses = session.guesses
    return attribution_report(guesses.learner.model, row, guesses.group)


def _program_of(session: Session, point: str | None) -> Program:
    if point is None:
        return session.schedule.program
    plotted = session.ledger.point(point)
    if plotted is None:
        raise UserError(f"there is no point {point!r} in the plot")
    nodes = session.schedule.history.nodes
    if plotted.node is not None:
        return nodes[plotted.node].program
    if plotted.trace is None:
        raise UserError("the steps of this schedule were not kept")
    return Schedule.replay(nodes[0].program, plotted.trace).program
