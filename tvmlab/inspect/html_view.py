"""The loop nest as static HTML: what a schedule looks like as the value of a notebook cell.

Works in a saved notebook with no kernel and no network; colors follow JupyterLab's theme where its
variables exist, and each kind of loop has a letter as well.
"""

from __future__ import annotations

from html import escape

from tvmlab.ir import Program
from tvmlab.schedule import Schedule

from .nest import NestReport, Row, nest_report
from .text_view import letter, line_text
from .wording import percent, plural

_COLORS = {
    "P": "#8f3fb0",
    "V": "#0b7a75",
    "U": "#a8550a",
    "R": "#b02a57",
    "T": "#2458d3",
    "G": "#2458d3",
    "I": "#4a7fd6",
}
_INK = "var(--jp-content-font-color1, inherit)"
_DIM = "var(--jp-content-font-color2, #5b5f6d)"
_LINE = "var(--jp-border-color2, #d8dae2)"
_MONO = "var(--jp-code-font-family, ui-monospace, monospace)"


def nest_html(source: Schedule | Program | NestReport) -> str:
    """A table of the nest: letter, line, bars of compute and data moved, share of time."""
    report = source if isinstance(source, NestReport) else nest_report(source)
    head = escape(report.name)
    counts = f"{plural(report.loops, 'loop')}, {plural(report.blocks, 'block')}"
    body = "".join(_row(row) for row in report.rows)
    return (
        f'<div style="font:12.5px/1.5 {_MONO};color:{_INK};overflow-x:auto">'
        f'<div style="color:{_DIM}"><b style="color:{_INK}">{head}</b> · {counts} · bars: '
        "estimated share of arithmetic (above) and of data moved (below)</div>"
        f'<table style="border-collapse:collapse;margin:4px 0;font:inherit">{body}</table></div>'
    )


def _row(row: Row) -> str:
    sign = letter(row)
    color = _COLORS.get(sign, _DIM)
    border = f"border:1px solid {color};border-radius:3px;" if row.type == "loop" else ""
    words = ", ".join(part for part in (row.note, *row.marks) if part)
    note = f' <span style="color:{_DIM}"># {escape(words)}</span>' if words else ""
    # The table is laid out by padding, so that copied text keeps its indentation by spaces too.
    indent = "&nbsp;" * (2 * row.depth)
    text = escape(line_text(row))
    cell = 'style="border:0;padding:0 8px 0 0;text-align:left;background:none;white-space:pre"'
    return (
        f'<tr style="background:none"><td {cell}><span title="{escape(row.kind)}" '
        f'style="{border}color:{color};padding:0 4px">{sign}</span></td>'
        f"<td {cell}>{indent}{text}{note}</td>"
        f'<td style="border:0;padding:0 8px;background:none">{_bars(row)}</td>'
        f'<td style="border:0;padding:0;color:{_DIM};text-align:right;background:none">'
        f"{percent(row.cost.time) if row.cost else ''}</td></tr>"
    )


def _bars(row: Row) -> str:
    if row.cost is None:
        return ""
    bars = "".join(
        f'<div style="height:4px;width:{share:.1%};background:{color}"></div>'
        for share, color in ((row.cost.compute, "#2e6fb7"), (row.cost.moved, "#c77b1e"))
    )
    return f'<div style="width:110px;background:{_LINE};border-radius:2px">{bars}</div>'
