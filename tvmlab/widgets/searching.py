"""A search that begins with a session's schedule; what it finds comes back into the history."""

from __future__ import annotations

import threading
import time
from typing import Any

from tvmlab.inspect.tuning_view import measured_trials
from tvmlab.support import UserError
from tvmlab.tune import Trial, Tuner, partial_space

from .asking import Fields
from .graft import graft
from .search_commands import answer_search
from .search_session import SearchSession
from .session import Session

TRIALS = 64
_REFRESH_SECONDS = 0.4
_OVER = ("ready", "done", "failed")


def search(session: Session, fields: Fields) -> Any:
    """Begin a search; or carry out a command of its live view."""
    message = fields.get("message")
    if message is None:
        start_search(session)
        return None
    return {"search": answer_search(search_of(session), message)}


def search_take(session: Session, fields: Fields) -> Any:
    """Make the schedule of a trial, by default the fastest, a branch of the history."""
    trial = fields.get("trial")
    if trial is not None and (not isinstance(trial, int) or isinstance(trial, bool)):
        raise UserError("the command search_take needs a whole number 'trial', or null")
    tuner = search_of(session).tuner
    trials = measured_trials(tuner)
    chosen = _best(trials) if trial is None else trial
    if not 0 <= chosen < len(trials):
        raise UserError(f"there is no trial {chosen + 1} among {len(trials)}")
    found = trials[chosen].schedule(tuner.space.program)
    graft(session.schedule, found.trace.to_json())
    label = f"search, trial {chosen + 1}"
    session.schedule.checkpoint(label)
    return {"taken": label}


def start_search(session: Session, trials: int = TRIALS) -> SearchSession:
    """Search inside the outer loops of the current schedule; a new search replaces the old.

    Raises
    ------
    UserError
        If a search runs already, or there is nothing to search.
    """
    known = session.search
    if isinstance(known, SearchSession) and known.status not in _OVER:
        raise UserError("a search runs already", hint="stop it first")
    schedule = session.schedule.copy()
    space = partial_space(schedule, session.target)
    tuner = Tuner(space, runner=session.measuring.runner, starts=(schedule,))
    begun = session.search = SearchSession(tuner, trials)
    begun.start()
    # Not by its listeners: they are told while the search is locked, and commands lock the session
    # first.
    follow = threading.Thread(target=_follow, args=(session, begun), daemon=True)
    follow.start()
    session.refresh()
    return begun


def search_of(session: Session) -> SearchSession:
    """The search that was begun in a session."""
    if not isinstance(session.search, SearchSession):
        raise UserError("no search was begun here", hint="begin one in the tab Search")
    return session.search


def _best(trials: list[Trial]) -> int:
    timed = [(t.seconds, n) for n, t in enumerate(trials) if t.seconds]
    if not timed:
        raise UserError("the search has measured no schedule yet")
    return min(timed)[1]


def _follow(session: Session, begun: SearchSession) -> None:
    while begun.status not in _OVER:
        time.sleep(_REFRESH_SECONDS)
        session.refresh()
    session.refresh()
