"""A session as a recording: what a view can show of it when no kernel answers any more.

Every state of the history has its nest, its loops and its steps; the later stages of the code are
kept for the start, the current state and the named ones, since they are long and take time to make;
so are the answers of the tabs that look at a state alone.
"""

from __future__ import annotations

import json
from typing import Any

from tvmlab.inspect import (
    LinkedCode,
    line_report,
    linked_loops,
    linked_lowered,
    linked_machine,
    linked_python,
    nest_report,
    pass_reports,
    plain,
)
from tvmlab.schedule import HistoryNode, Schedule
from tvmlab.support import TvmlabError

from .baked import Baker
from .session import Session

MIME = "application/vnd.tvmlab.session+json"
VERSION = 1
MOST_STATES_WITH_CODE = 12


def recording(session: Session, *, whole: bool = True) -> dict[str, Any]:
    """The session as plain data for a view without a kernel.

    Parameters
    ----------
    whole
        Whether to keep every state, with machine code, or only this one.
    """
    history = session.schedule.history
    found = {"version": VERSION, "state": session.state}
    if not whole:
        node = history.node
        return {**found, "nodes": {str(node.id): _state(session, node, full=False)}}
    full = _states_with_code(session)
    states = {str(n.id): _state(session, n, full=n.id in full) for n in history.nodes.values()}
    baker = Baker(session)
    for number in full:  # the current one first, since room may run short
        schedule = _at(session.schedule, history.nodes[number])
        sizes = number == history.current
        states[str(number)]["answers"] = baker.answers(schedule, sizes=sizes)
    return {**found, "nodes": states}


def _states_with_code(session: Session) -> list[int]:
    history = session.schedule.history
    wanted = [history.current, 0, *(n.id for n in history.nodes.values() if n.label)]
    return list(dict.fromkeys(wanted))[:MOST_STATES_WITH_CODE]


def _state(session: Session, node: HistoryNode, *, full: bool) -> dict[str, Any]:
    """One state of the history: as it would show if it were the current one."""
    schedule = _at(session.schedule, node)
    report = nest_report(schedule, ids=session.ids, target=session.target)
    sources = {
        "python": _source(linked_python(schedule.history, session.ids)),
        "loops": _source(linked_loops(node.program, session.ids)),
    }
    state: dict[str, Any] = {"rows": plain(report.rows), "sources": sources}
    if full:
        sources |= _late_sources(session, node)
        state["passes"] = plain(pass_reports(node.program, session.target))
        state["details"] = _details(session, schedule)
    return state


def _at(schedule: Schedule, node: HistoryNode) -> Schedule:
    """A schedule of its own that stands at a state, with the way to it as its history."""
    fresh = Schedule(schedule.history.nodes[0].program)
    for step in schedule.history.path(node.id)[1:]:
        assert step.step is not None
        fresh.history.add(step.step, step.program)
    return fresh


def _late_sources(session: Session, node: HistoryNode) -> dict[str, Any]:
    try:
        return {
            "lowered": _source(linked_lowered(node.program, session.target, session.ids)),
            "llvm": _source(linked_machine(node.program, session.target, "llvm", session.ids)),
            "asm": _source(linked_machine(node.program, session.target, "asm", session.ids)),
        }
    except TvmlabError:
        return {}  # a program for another device has no code on this machine


def _source(code: LinkedCode) -> dict[str, Any]:
    return plain(code)


def _details(session: Session, schedule: Schedule) -> dict[str, Any]:
    """What each line does, in words."""
    found: dict[str, Any] = {}
    for row in nest_report(schedule, ids=session.ids, target=session.target).rows:
        if row.type in ("loop", "block"):
            line = line_report(schedule, session.ids.find(row.id), session.target)
            found[row.id] = {"sentence": line.sentence, "facts": plain(line.facts)}
    return found


def in_script(data: object) -> str:
    """Data as JSON that can stand in a script element, whatever texts it holds."""
    text = json.dumps(data, ensure_ascii=False)
    return text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")
