"""A verdict of the legality service as plain data, and as a notebook shows it.

A verdict that is the value of a cell, and a refusal that ends one, read the same: the sentence, the
two iterations that clash, what would work, and for a refusal the loop nest with its loop marked.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from html import escape

from tvmlab.schedule import Fix, RefusedError, Verdict, Witness
from tvmlab.support import render_span

_SIGNS = {"allowed": ("✓", "#2c7a3f"), "refused": ("✗", "#b02a37"), "unknown": ("?", "#a8550a")}
_BOLD, _DIM, _RED, _END = "\x1b[1m", "\x1b[2m", "\x1b[31m", "\x1b[0m"

FixToken = Callable[[Fix], str]
"""Gives a fix the name by which a view asks for it."""


@dataclass(frozen=True, slots=True)
class FixReport:
    """A checked way out."""

    title: str
    token: str


@dataclass(frozen=True, slots=True)
class LoopValue:
    """A loop at one of its iterations; whether the other iteration has another value."""

    name: str
    value: int
    differs: bool


@dataclass(frozen=True, slots=True)
class SideReport:
    """One of two iterations that clash, and what it does with the element."""

    block: str
    loops: tuple[LoopValue, ...]
    does: str


@dataclass(frozen=True, slots=True)
class ClashReport:
    """Two iterations and the element that they fight over; `sizes` where it depends on them."""

    first: SideReport
    second: SideReport
    element: str
    sizes: str


@dataclass(frozen=True, slots=True)
class VerdictReport:
    """The fields are those of the protocol's `Verdict`."""

    status: str
    rule: str
    reason: str
    witness: str | None
    clash: ClashReport | None
    fixes: tuple[FixReport, ...]

    def __str__(self) -> str:
        if self.status == "allowed":
            return "allowed"
        lines = [f"{self.status}: {self.reason}", f"  rule: {self.rule}"]
        if self.witness:
            lines.append(f"  for example: {self.witness}")
        lines += [f"  would work: {fix.title}" for fix in self.fixes]
        return "\n".join(lines)


def verdict_report(verdict: Verdict, token: FixToken | None = None) -> VerdictReport:
    """The report of a verdict; without `token`, fixes have a title only."""
    return VerdictReport(
        verdict.status,
        verdict.rule,
        verdict.reason,
        str(verdict.witness) if verdict.witness else None,
        _clash(verdict.witness) if isinstance(verdict.witness, Witness) else None,
        tuple(FixReport(f.title, token(f) if token else "") for f in verdict.fixes),
    )


def _clash(witness: Witness) -> ClashReport:
    sides = (witness.first, witness.second)
    values = [dict(side.loops) for side in sides]
    first, second = (
        SideReport(
            side.block,
            tuple(LoopValue(n, v, other.get(n) != v) for n, v in own.items()),
            does,
        )
        for side, own, other, does in zip(
            sides, values, reversed(values), witness.actions, strict=True
        )
    )
    return ClashReport(first, second, witness.element, _sizes(witness))


def _sizes(witness: Witness) -> str:
    return ", ".join(f"{name}={value}" for name, value in witness.sizes.items())


def verdict_html(verdict: Verdict, nest: str = "") -> str:
    """A verdict as static HTML; `nest` is a printed program to show with it."""
    report = verdict_report(verdict)
    sign, color = _SIGNS[report.status]
    parts = [f'<b style="color:{color}">{sign} {report.status}</b>']
    if report.reason:
        parts.append(f' {escape(report.reason)} <small style="opacity:.7">{report.rule}</small>')
    if isinstance(verdict.witness, Witness):
        parts.append(_clash_table(verdict.witness))
    elif report.witness:
        parts.append(f"<div>for example: {escape(report.witness)}</div>")
    parts += [f"<div>would work: {escape(fix.title)}</div>" for fix in report.fixes]
    if nest:
        parts.append(f'<pre style="margin:6px 0 0">{escape(nest)}</pre>')
    return f'<div style="border-left:3px solid {color};padding:2px 10px">{"".join(parts)}</div>'


def _clash_table(witness: Witness) -> str:
    """The two iterations, one a row: loops, and what each does with the element."""
    cell = 'style="text-align:left;padding:0 12px 0 0;border:0;background:none"'
    rows = "".join(
        f"<tr><td {cell}>{escape(side.block)}</td><td {cell}>{escape(str(side))}</td>"
        f"<td {cell}>{does} {escape(witness.element)}</td></tr>"
        for side, does in zip((witness.first, witness.second), witness.actions, strict=True)
    )
    sizes = _sizes(witness)
    note = f"<div>with {escape(sizes)}</div>" if sizes else ""
    return (
        f"<div>for example: {escape(str(witness))}</div>"
        f'<table style="border-collapse:collapse;margin:2px 0">{rows}</table>{note}'
    )


def refusal_html(error: RefusedError) -> str:
    """A refused step as static HTML."""
    return verdict_html(error.verdict, error.notes[-1] if len(error.notes) > 1 else "")


def refusal_lines(error: RefusedError) -> list[str]:
    """A refused step for a notebook's or terminal's traceback, without tvmlab's own frames."""
    lines = [f"{_RED}{_BOLD}{type(error).__name__}{_END}{_BOLD}: {error.message}{_END}"]
    if error.span is not None:
        lines += render_span(error.span).splitlines()
    for line in (line for note in error.notes for line in note.splitlines()):
        lines.append(f"{_RED}{line}{_END}" if line.startswith("->") else line)
    lines += [f"{_BOLD}would work:{_END} {fix.title}" for fix in error.verdict.fixes]
    lines.append(f"{_DIM}rule: {error.verdict.rule}{_END}")
    return lines
