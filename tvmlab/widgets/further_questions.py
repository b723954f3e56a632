"""Questions beyond the state at hand: other sizes, other machines, what the model has learned."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast, get_args

from tvmlab.inspect import (
    OTHERS,
    TINY,
    Part,
    Residual,
    attribution_report,
    flow_report,
    iterations_report,
    learning_report,
    machine_caches,
    machines_report,
    memory_report,
    residuals_report,
    step_label,
    what_if_report,
)
from tvmlab.inspect.wording import duration
from tvmlab.ir import Program
from tvmlab.schedule import Schedule
from tvmlab.support import UserError
from tvmlab.tune import Features

from .asking import Fields, block_at, node_of, optional_text, text_of
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
    guesses = session.guesses
    return attribution_report(guesses.learner.model, guesses.features(program), guesses.group)


def memory(session: Session, fields: Fields) -> Any:
    """Where the accesses of this state find their data, and beside it those of another."""
    caches = text_of(fields, "caches")
    if caches == "tiny":
        geometry, words = TINY, "a tiny teaching cache"
    elif caches == "machine":
        geometry = machine_caches(session.target)
        words = "the caches of this machine, each taken to have 8 lines a set"
    else:
        raise UserError(f"there are no caches {caches!r}; there are tiny and machine")
    report = memory_report(session.schedule.program, geometry, words)
    if optional_text(fields, "beside") is None:
        return report
    node = node_of(session, fields, "beside")
    label = node.label or step_label(node.step)
    other = replace(memory_report(node.program, geometry, words), label=label)
    return replace(report, label="this state", beside=other)


def residuals(session: Session, fields: Fields) -> Any:
    """Schedules of which the model was wrong, and what they share."""
    points = [
        Residual(f"P{number}", p.label, p.measured, p.predicted, p.measured / p.predicted,
                 p.node is not None or p.trace is not None)
        for number, p in enumerate(session.ledger.points)
        if p.measured > 0 and p.predicted > 0
    ]  # fmt: skip

    def features(point: str) -> Features | None:
        plotted = session.ledger.point(point)
        if plotted is None or (plotted.node is None and plotted.trace is None):
            return None
        return session.guesses.features_of(
            plotted.program_hash, lambda: _program_of(session, point)
        )

    return residuals_report(points, text_of(fields, "chosen"), _region(fields), features)


def _region(fields: Fields) -> tuple[float, float, float, float] | None:
    given = fields.get("region")
    if given is None:
        return None
    listed = cast("list[Any]", given) if isinstance(given, list) else []
    bounds = [float(b) for b in listed if isinstance(b, (int, float))]
    if len(bounds) != 4:
        raise UserError("a region has four numbers: measured from, to, predicted from, to")
    left, right, low, high = bounds
    return left, right, low, high


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


def flow(session: Session, fields: Fields) -> Any:
    """What blocks produce and consume."""
    del fields
    return flow_report(session.schedule.program, session.ids, session.target)


def iterations(session: Session, fields: Fields) -> Any:
    """The iterations of a block and what they need."""
    wanted = text_of(fields, "part")
    part = next((p for p in get_args(Part) if p == wanted), None)
    if part is None:
        raise UserError(f"there is no part {wanted!r} of an axis; there are start and end")
    block = block_at(session, text_of(fields, "row"))
    across, down = (optional_text(fields, name) for name in ("x", "y"))
    row = session.ids.of(block.symbol)
    return iterations_report(
        session.schedule.program,
        block,
        row,
        x=across,
        y=down,
        part="end" if part == "end" else "start",
    )
