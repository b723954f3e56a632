"""`tvmlab inspect`: a saved session, its nest, its history and its code."""

from __future__ import annotations

import argparse

from tvmlab.inspect import HistoryReporter, history_text, nest_report, nest_text
from tvmlab.widgets import Session

from .saved import fill_common, opened, print_json, state_named

SUMMARY = "show a saved session"
DESCRIPTION = """\
Show a session that the explorer has saved: the loop nest with its estimated costs, the states with
their gains, and the steps as Python.
"""


def fill(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    fill_common(parser)
    parser.add_argument("--state", metavar="STATE", help="a state, by number or checkpoint name")


def run(arguments: argparse.Namespace) -> int:
    """Print the session."""
    session = opened(arguments)
    if arguments.state is not None:
        session.schedule.goto(state_named(session, arguments.state).id)
    if arguments.json:
        print_json({**session.state, "notes": list(session.notes)})
    else:
        print(_text(session))
    return 0


def _text(session: Session) -> str:
    nest = nest_text(nest_report(session.schedule, target=session.target))
    code = session.schedule.trace.to_python() or "# no step yet"
    measured = session.writer.measured_nodes(session.ledger)
    history = HistoryReporter(session.schedule.history).report(measured)
    return "\n\n".join([nest, history_text(history), code])
