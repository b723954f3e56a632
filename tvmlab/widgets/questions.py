"""The questions of the protocol: what costs time to tell is told only when a view asks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, get_args

from tvmlab.bench.peaks import read_peaks
from tvmlab.driver import SourceKind
from tvmlab.inspect import (
    Ceiling,
    LinkedCode,
    action_reports,
    compare_report,
    gains_report,
    line_report,
    linked_loops,
    linked_lowered,
    linked_machine,
    linked_python,
    pass_reports,
    roofline_report,
    slots_report,
    step_summary,
    suggestions_report,
)
from tvmlab.ir import Program, structural_hash
from tvmlab.support import UserError

from .asking import Fields, checked, node_of, step_of, text_of
from .further_questions import (
    attribution,
    flow,
    iterations,
    learning,
    machines,
    memory,
    residuals,
    what_if,
)
from .page import page_text
from .registry import sessions
from .session import Session
from .session_file import ENDING, session_text
from .study_questions import pool, profile, proof
from .tutoring import exercise

_KINDS = ("python", *get_args(SourceKind))


def _actions(session: Session, fields: Fields) -> Any:
    row = text_of(fields, "row")
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
    offer, arguments = step_of(session, fields)
    attempt = session.schedule.preview(offer.action.primitive, **arguments)
    predict = session.guesses.predict
    summary = step_summary(session.schedule, offer, arguments, attempt, session.target, predict)
    return checked(session, attempt, summary)


def _slots(session: Session, fields: Fields) -> Any:
    symbol = session.ids.find(text_of(fields, "row"))
    return slots_report(session.schedule, symbol, session.ids, session.fix_token)


def _source(session: Session, fields: Fields) -> Any:
    kind = text_of(fields, "kind")
    if kind not in _KINDS:
        raise UserError(f"there is no source {kind!r}; there are {', '.join(_KINDS)}")
    code = _code(session, kind)
    return {
        "kind": kind,
        "text": code.text,
        "groups": code.groups,
        "lines": code.lines,
        "coverage": code.coverage,
        "remark": code.remark,
        "inner": code.inner,
    }


def _code(session: Session, kind: str) -> LinkedCode:
    program, target, ids = session.schedule.program, session.target, session.ids
    if kind == "python":
        return linked_python(session.schedule.history, ids)
    if kind == "loops":
        return linked_loops(program, ids)
    if kind == "lowered":
        return linked_lowered(program, target, ids)
    return linked_machine(program, target, kind, ids)


def _passes(session: Session, fields: Fields) -> Any:
    del fields
    return {"passes": pass_reports(session.schedule.program, session.target)}


def _compare(session: Session, fields: Fields) -> Any:
    a, b = (node_of(session, fields, name).id for name in ("a", "b"))
    measured = session.writer.measured_nodes(session.ledger)
    return compare_report(session.schedule.history, a, b, session.target, measured)


def _gains(session: Session, fields: Fields) -> Any:
    del fields

    def measured(program: Program) -> Any:
        return session.ledger.measured(structural_hash(program))

    nodes = session.writer.measured_nodes(session.ledger)
    return gains_report(session.schedule.history, nodes, measured)


def _roofline(session: Session, fields: Fields) -> Any:
    del fields
    peaks = read_peaks()
    threads = max(peaks.gflops) if peaks is not None else 1
    compute = (
        ()
        if peaks is None
        else [
            Ceiling(f"multiply-adds, {n} {'thread' if n == 1 else 'threads'}", rate)
            for n, rate in sorted(peaks.gflops.items(), reverse=True)
        ]
    )
    memory = (
        ()
        if peaks is None
        else [Ceiling(b.level, b.read) for b in peaks.bandwidths if b.threads == threads]
    )
    return roofline_report(
        session.schedule.history,
        session.writer.measured_nodes(session.ledger),
        session.ledger.flops,
        session.target,
        machine="" if peaks is None else peaks.machine,
        compute=compute,
        memory=memory,
    )


def _suggest(session: Session, fields: Fields) -> Any:
    del fields
    residuals = [(p.predicted, p.measured) for p in session.ledger.points]
    return suggestions_report(
        session.schedule,
        session.ids,
        session.target,
        session.guesses.predict,
        residuals,
        doubt=session.guesses.doubt,
    )


def _file(session: Session, fields: Fields) -> Any:
    kind = text_of(fields, "kind")
    if kind == "session":
        name = f"{session.name}{ENDING}"
        return {"name": name, "media": "application/json", "text": session_text(session)}
    if kind == "html":
        return {"name": f"{session.name}.html", "media": "text/html", "text": page_text(session)}
    raise UserError(f"there is no file of kind {kind!r}; there are session and html")


def _sessions(session: Session, fields: Fields) -> Any:
    del session, fields
    names = [{"id": s.id, "name": s.name, "steps": len(s.schedule.trace)} for s in sessions()]
    return {"sessions": names}


def _state(session: Session, fields: Fields) -> Any:
    del session, fields  # the transport sends the state before each reply to this command
    return None


QUESTIONS: dict[str, Callable[[Session, Fields], Any]] = {
    "actions": _actions,
    "check": _check,
    "slots": _slots,
    "source": _source,
    "passes": _passes,
    "compare": _compare,
    "gains": _gains,
    "memory": memory,
    "residuals": residuals,
    "flow": flow,
    "iterations": iterations,
    "what_if": what_if,
    "exercise": exercise,
    "machines": machines,
    "learning": learning,
    "attribution": attribution,
    "proof": proof,
    "profile": profile,
    "pool": pool,
    "roofline": _roofline,
    "suggest": _suggest,
    "file": _file,
    "sessions": _sessions,
    "state": _state,
}
