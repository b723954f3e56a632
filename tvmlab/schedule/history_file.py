"""A whole history as data: the program as text, every state with its step, and names.

Programs between are not stored; reading takes the steps again, each checked as if it were new. A
state whose step does not work any more, for example since its primitive is not registered here, is
left out with all that follows from it, and the reader is told.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tvmlab.ir import parse, to_text
from tvmlab.support import ParseError, TvmlabError, fields_of, items_of

from .history import History
from .refs import Ref
from .schedule import Schedule, replay_step
from .trace import StepWriter, read_step

FORMAT = "tvmlab-history"
VERSION = 1


@dataclass(frozen=True, slots=True)
class ReadHistory:
    """What was read: the schedule at its state, what became of each node, and what did not."""

    schedule: Schedule
    nodes: dict[int, int]
    """Ids in the file, and the ids of these states now; those left out are missing."""
    problems: tuple[str, ...]


def write_history(history: History) -> dict[str, Any]:
    """The history as plain data for JSON."""
    writer = StepWriter()
    nodes: list[dict[str, Any]] = []
    for node in history.nodes.values():
        steps = [] if node.step is None else [i.to_plain() for i in writer.write([node.step])]
        nodes.append({"id": node.id, "parent": node.parent, "label": node.label, "steps": steps})
    return {
        "format": FORMAT,
        "version": VERSION,
        "program": to_text(history.nodes[0].program),
        "nodes": nodes,
        "current": history.current,
    }


def read_history(data: object) -> ReadHistory:
    """A schedule with the history that `write_history` wrote.

    Raises
    ------
    ParseError
        If the data are no history, or of a newer version.
    """
    fields = fields_of(data)
    if fields is None or fields.get("format") != FORMAT:
        raise ParseError("this is not the history of a schedule")
    if fields.get("version") != VERSION:
        raise ParseError(
            f"this history has version {fields.get('version')!r}; "
            f"this tvmlab reads version {VERSION}"
        )
    text, nodes = fields.get("program"), items_of(fields.get("nodes"))
    if not isinstance(text, str) or not nodes:
        raise ParseError("the history has no program, or no states")
    reader = _Reader(Schedule(parse(text)))
    for node in nodes[1:]:
        reader.take(node)
    current = fields.get("current")
    reader.schedule.goto(reader.known.get(current, 0) if isinstance(current, int) else 0)
    reader.label(nodes[0], 0)
    return ReadHistory(reader.schedule, reader.known, tuple(reader.problems))


class _Reader:
    """Takes the steps of states in the order in which they were made."""

    def __init__(self, schedule: Schedule) -> None:
        self.schedule = schedule
        self.known: dict[int, int] = {0: 0}
        self.names: dict[str, Ref] = {}
        self.problems: list[str] = []

    def take(self, data: object) -> None:
        """One state after its parent; noted as a problem if that does not work."""
        fields = fields_of(data) or {}
        number, parent = fields.get("id"), fields.get("parent")
        if not isinstance(number, int) or not isinstance(parent, int):
            raise ParseError("a state of the history has no id, or no parent")
        if parent not in self.known:
            return  # what it follows from was left out, which is said already
        history = self.schedule.history
        history.goto(self.known[parent])
        before = len(history)
        try:
            for place, step in enumerate(items_of(fields.get("steps")) or ()):
                replay_step(self.schedule, read_step(place, step), self.names)
        except TvmlabError as error:
            self.problems.append(f"state {number} is left out: {error.message}")
            return
        if len(history) != before + 1:
            raise ParseError(f"state {number} of the history is not one step")
        self.known[number] = history.current
        self.label(fields, history.current)

    def label(self, data: object, node: int) -> None:
        """Give a state the name that it has in the file."""
        name = (fields_of(data) or {}).get("label")
        if isinstance(name, str) and name.strip():
            self.schedule.history.nodes[node].label = name
