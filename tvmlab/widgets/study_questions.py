"""What studies found, in the lines of the view that asks."""

from __future__ import annotations

from typing import Any

from tvmlab.support import UserError

from .asking import Fields, text_of
from .session import Session
from .studies import STUDIES, Found, Study

_NO_PROOF: Found = {"sizes": "", "runs": [], "findings": [], "notes": []}
_NO_PROFILE: Found = {
    "lines": [], "counters": [], "samples": 0, "unknown": 0.0, "elsewhere": 0.0, "overhead": 0.0,
    "seconds": 0.0, "message": "",
}  # fmt: skip
_NO_POOL: Found = {"machines": [], "rows": [], "flips": [], "values": []}


def study_of(fields: Fields, name: str) -> Study:
    """The study that a field names."""
    wanted = text_of(fields, name)
    for study in STUDIES:
        if study == wanted:
            return study
    raise UserError(f"there is no study {wanted!r}; there are {', '.join(STUDIES)}")


def proof(session: Session, fields: Fields) -> Any:
    """What the interpreter found, each with the line of the nest that it happened in."""
    del fields
    found = {**_told(session, "proof"), **_NO_PROOF, **(session.studies.found("proof") or {})}
    findings = [{**f, "row": _row(session, f)} for f in found["findings"]]
    return {**found, "findings": findings}


def _row(session: Session, finding: Found) -> str | None:
    """The line of the innermost loop that has a line, or of the block that is named."""
    rows = {r["name"]: r["id"] for r in session.state["rows"] if r["type"] in ("loop", "block")}
    names = [*finding["loops"], finding["line"].removeprefix("block ")]
    return next((rows[name] for name in reversed(names) if name in rows), None)


def profile(session: Session, fields: Fields) -> Any:
    """Where the time of the current state goes, and what was counted."""
    del fields
    return {
        **_told(session, "profile"),
        **_NO_PROFILE,
        **(session.studies.found("profile") or {}),
    }


def pool(session: Session, fields: Fields) -> Any:
    """The states of the path on several processors."""
    del fields
    return {**_told(session, "pool"), **_NO_POOL, **(session.studies.found("pool") or {})}


def _told(session: Session, what: Study) -> Found:
    return {"study": what, "known": session.studies.found(what) is not None, "failure": ""}
