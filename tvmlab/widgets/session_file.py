"""Sessions as files: the history, the names, the measurements and the points of the plot.

A file is plain JSON, read with every field checked; steps are taken again, not trusted. Times that
were measured on another machine are left out.
"""

from __future__ import annotations

import json
import os
import re
import tempfile
from pathlib import Path
from typing import Any

from tvmlab.schedule import read_history, write_history
from tvmlab.support import ParseError, UserError, fields_of, items_of
from tvmlab.tune import MeasureResult, machine_id

from .ledger import PlottedSchedule
from .recording import recording
from .session import Session

FORMAT = "tvmlab-session"
VERSION = 1
ENDING = ".tvmlab.json"

_IN_PAGE = re.compile(r'<script type="application/json" id="tvmlab-recording">(.*?)</script>', re.S)


def session_text(session: Session) -> str:
    """A session as the text of a file."""
    ledger = session.ledger
    data = {
        "format": FORMAT,
        "version": VERSION,
        "name": session.name,
        "history": write_history(session.schedule.history),
        "results": [
            {"hash": known, "checked": checked, "result": result.to_json()}
            for known, result, checked in ledger.results()
        ],
        "points": [_point(p) for p in ledger.points],
        "seen": sorted(ledger.seen),
        "preview": recording(session, whole=False),
    }
    return json.dumps(data)


def save_session(session: Session, path: str | os.PathLike[str]) -> Path:
    """Write a session to a file; a file that is there is replaced only by a whole new one."""
    goal = Path(path)
    if not goal.name.endswith(".json"):
        goal = goal.with_name(goal.name + ENDING)
    with tempfile.NamedTemporaryFile(
        "w", encoding="utf-8", dir=goal.parent, prefix=goal.name, delete=False
    ) as file:
        file.write(session_text(session))
    os.replace(file.name, goal)
    return goal


def load_session(path: str | os.PathLike[str], **options: Any) -> Session:
    """The session of a file.

    Raises
    ------
    UserError
        If there is no such file.
    ParseError
        If it is no session, or of a newer version.
    """
    try:
        text = Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"the session {os.fspath(path)} cannot be read: {error}") from error
    return read_session(file_in_page(text) if text.startswith("<!doctype") else text, **options)


def read_session(text: str, **options: Any) -> Session:
    """The session of a file's text; what could not be brought back is told in `session.notes`."""
    try:
        fields = fields_of(json.loads(text))
    except (ValueError, RecursionError) as error:
        raise ParseError(f"this session is not valid JSON: {error}") from error
    if fields is None or fields.get("format") != FORMAT:
        raise ParseError(
            "this file is not a session of tvmlab", hint="save one with session.save(path)"
        )
    if fields.get("version") != VERSION:
        raise ParseError(
            f"this session has version {fields.get('version')!r}; "
            f"this tvmlab reads version {VERSION}"
        )
    read = read_history(fields.get("history"))
    name = fields.get("name")
    session = Session(read.schedule, name=name if isinstance(name, str) else None, **options)
    session.notes = (*read.problems, *_take_results(session, fields.get("results")))
    for point in items_of(fields.get("points")) or ():
        plotted = _read_point(point, read.nodes)
        if plotted is not None:
            session.ledger.points.append(plotted)
    session.ledger.seen |= {s for s in items_of(fields.get("seen")) or () if isinstance(s, str)}
    session.refresh()
    return session


def _take_results(session: Session, data: object) -> list[str]:
    here, elsewhere = machine_id(), 0
    for entry in items_of(data) or ():
        fields = fields_of(entry) or {}
        known, result = fields.get("hash"), MeasureResult.from_json(fields.get("result"))
        if not isinstance(known, str):
            raise ParseError("a measurement of the session does not say of what")
        if result.machine not in ("", here):
            elsewhere += 1
            continue
        session.ledger.file(result, known, checked=fields.get("checked") is True)
    if not elsewhere:
        return []
    return [f"{elsewhere} measurements are left out: they were taken on another machine"]


def _point(point: PlottedSchedule) -> dict[str, Any]:
    return {
        "hash": point.program_hash,
        "label": point.label,
        "predicted": point.predicted,
        "measured": point.measured,
        "trace": point.trace,
        "node": point.node,
    }


def _read_point(data: object, nodes: dict[int, int]) -> PlottedSchedule | None:
    fields = fields_of(data) or {}
    node, trace = fields.get("node"), fields.get("trace")
    if isinstance(node, int) and node not in nodes:
        return None
    try:
        return PlottedSchedule(
            str(fields["hash"]),
            str(fields["label"]),
            float(str(fields["predicted"])),
            float(str(fields["measured"])),
            trace if isinstance(trace, str) else None,
            nodes[node] if isinstance(node, int) else None,
        )
    except (KeyError, TypeError, ValueError) as error:
        raise ParseError(f"a point of the session's plot cannot be read: {error}") from error


def file_in_page(text: str) -> str:
    """The session's file that a page carries.

    Raises
    ------
    ParseError
        If the page carries none.
    """
    found = _IN_PAGE.search(text)
    try:
        fields = fields_of(json.loads(found[1])) if found else None
    except (ValueError, RecursionError) as error:
        raise ParseError(f"the recording in this page is damaged: {error}") from error
    file = None if fields is None else fields.get("file")
    if not isinstance(file, str):
        raise ParseError("this page carries no session of tvmlab")
    return file
