"""`tvmlab compare`: two states of a saved session side by side."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from tvmlab.inspect import CompareReport, DiffLine, compare_report, table

from .saved import fill_common, opened, print_json, state_named

SUMMARY = "compare two states of a saved session"
DESCRIPTION = """\
Compare two states of a saved session, by number or checkpoint name: what differs in the nest and
in the steps, what is estimated, and which is faster.
"""


def fill(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    fill_common(parser)
    parser.add_argument("a", help="a state, by number or checkpoint name")
    parser.add_argument("b", help="the state to compare it with")


def run(arguments: argparse.Namespace) -> int:
    """Print the comparison."""
    session = opened(arguments)
    a, b = (state_named(session, name).id for name in (arguments.a, arguments.b))
    measured = session.writer.measured_nodes(session.ledger)
    report = compare_report(session.schedule.history, a, b, session.target, measured)
    if arguments.json:
        print_json(report)
    else:
        print(_text(report))
    return 0


def _text(report: CompareReport) -> str:
    facts = table(
        [("", report.a_label, report.b_label), *((f.label, f.a, f.b) for f in report.facts)]
    )
    parts = [f"both come from {report.shared}", facts, _diff(report.nest), _diff(report.code)]
    if report.gain is not None:
        parts.append(f"{report.b_label} is {report.gain} as fast as {report.a_label}")
    return "\n\n".join(part for part in parts if part)


def _diff(lines: Sequence[DiffLine]) -> str:
    return "\n".join(f"{line.sign} {line.text}" for line in lines)
