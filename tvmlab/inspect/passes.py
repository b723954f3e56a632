"""What each pass of lowering does to a program: its reason, its time, and the lines it changed."""

from __future__ import annotations

from dataclasses import dataclass

from tvmlab.ir import Program, to_text
from tvmlab.lower import lower
from tvmlab.target import Target

from .line_diff import DiffLine, diff_lines

_CONTEXT = 2


@dataclass(frozen=True, slots=True)
class PassReport:
    """One pass in its place; `diff` leaves out what is far from any change."""

    name: str
    reason: str
    changed: bool
    milliseconds: float
    added: int
    removed: int
    diff: tuple[DiffLine, ...]


def pass_reports(program: Program, target: Target) -> tuple[PassReport, ...]:
    """Every pass in order, those that changed nothing included."""
    reports: list[PassReport] = []
    text = to_text(program)
    for record in lower(program, target).record:
        after = to_text(record.after) if record.changed else text
        diff = diff_lines(text, after, context=_CONTEXT) if after != text else ()
        reports.append(
            PassReport(
                record.name,
                record.reason,
                after != text,
                record.seconds * 1e3,
                sum(line.sign == "+" for line in diff),
                sum(line.sign == "-" for line in diff),
                diff,
            )
        )
        text = after
    return tuple(reports)
