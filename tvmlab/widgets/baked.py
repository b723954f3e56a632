"""Answers that a recording keeps, so that tabs show something when no kernel answers any more.

Asked of each kept state as if it were the current one; what is large is kept shorter, and once the
room is used up nothing more is kept, which the page then says.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, cast

from tvmlab.inspect import (
    TINY,
    SymbolIds,
    machine_caches,
    memory_report,
    plain,
)
from tvmlab.schedule import Schedule, index_of
from tvmlab.support import TvmlabError
from tvmlab.target import Target

from .further_questions import attribution, flow, iterations, what_if
from .guesses import Guesses
from .ledger import Ledger
from .session import Session

ROOM = 2_400_000
"""Characters of answers in one recording."""
_ACCESSES = 3_000

Answers = dict[str, Any]


@dataclass(frozen=True, slots=True)
class _Standing:
    """As much of a session as questions look at, at one of its states."""

    schedule: Schedule
    ids: SymbolIds
    target: Target
    guesses: Guesses
    ledger: Ledger


class Baker:
    """Asks what a recording keeps, as long as there is room."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._left = ROOM

    def answers(self, schedule: Schedule, *, sizes: bool) -> Answers:
        """The answers of one state, by the commands that ask for them.

        Parameters
        ----------
        sizes
            Whether to try other sizes, too.
        """
        session = self._session
        standing = cast(
            "Session",
            _Standing(schedule, session.ids, session.target, session.guesses, session.ledger),
        )
        found: Answers = {}
        for command in self._commands(standing, sizes):
            try:
                data = plain(_asked(standing, command))
            except TvmlabError:
                continue  # the view says that this was not kept
            text = json.dumps(data)
            if len(text) > self._left:
                continue
            self._left -= len(text)
            found[key_of(command)] = data
        return found

    def _commands(self, standing: Session, sizes: bool) -> Iterator[dict[str, Any]]:
        yield {"type": "flow"}
        for symbol in index_of(standing.schedule.program).blocks:
            for part in ("start", "end"):
                row = standing.ids.of(symbol)
                yield {"type": "iterations", "row": row, "x": None, "y": None, "part": part}
        yield {"type": "attribution", "point": None}
        for caches in ("tiny", "machine"):
            yield {"type": "memory", "caches": caches, "beside": None}
        yield from _sizes(standing, sizes)


def _sizes(standing: Session, others: bool) -> Iterator[dict[str, Any]]:
    """The sizes as they are; and each of them halved, doubled, and one less."""
    yield {"type": "what_if", "sizes": {}}
    if not others:
        return
    try:
        known = what_if(standing, {"type": "what_if", "sizes": {}}).sizes
    except TvmlabError:
        return
    for size in known:
        for value in (size.value // 2, size.value * 2, size.value - 1):
            if value >= 1:
                yield {"type": "what_if", "sizes": {size.name: value}}


def _asked(standing: Session, command: dict[str, Any]) -> Any:
    if command["type"] == "memory":
        program = standing.schedule.program
        if command["caches"] == "tiny":
            return memory_report(program, TINY, "a tiny teaching cache", _ACCESSES)
        words = "the caches of the machine it was saved on, each taken to have 8 lines a set"
        return memory_report(program, machine_caches(standing.target), words, _ACCESSES)
    ask = {"flow": flow, "iterations": iterations, "attribution": attribution, "what_if": what_if}
    return ask[command["type"]](standing, command)


def key_of(command: dict[str, Any]) -> str:
    """A command as the views look for its answer: without spaces, its fields by their names."""
    return json.dumps(command, separators=(",", ":"), sort_keys=True)
