"""The commands of an exercise: look at it, check, hint, predict, show the solution."""

from __future__ import annotations

from typing import Any

from tvmlab.support import UserError

from .asking import Fields, optional_text, text_of
from .session import Session
from .tutor import Tutor, tutor_of


def exercise(session: Session, fields: Fields) -> Any:
    """The exercise as it stands."""
    del fields
    return _required(session).look()


def exercise_do(session: Session, fields: Fields) -> None:
    """Do something of an exercise; views then ask for it again."""
    tutor = _required(session)
    tutor.do(text_of(fields, "what"), optional_text(fields, "value") or "")
    session.refresh()


def _required(session: Session) -> Tutor:
    tutor = tutor_of(session.schedule)
    if tutor is None:
        raise UserError(
            "this schedule belongs to no exercise", hint="explore that of one: ex.schedule"
        )
    return tutor
