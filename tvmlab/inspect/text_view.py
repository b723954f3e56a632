"""Reports as plain text, for the terminal.

The loop nest has a letter for the kind of each line, so that nothing depends on color.
"""

from __future__ import annotations

from collections.abc import Sequence

from .history import HistoryReport
from .nest import NestReport, Row
from .wording import percent, plural, size

LETTERS = {
    "serial": "S",
    "parallel": "P",
    "vectorized": "V",
    "unrolled": "U",
    "thread": "T",
    "grid": "G",
    "virtual": "I",
    "tensor": "X",
    "block": "·",
    "buffer": "▫",
    "let": "=",
    "call": "ƒ",
    "barrier": "‖",
}
"""One letter or sign for each kind of line; a serial loop that adds up is an R."""

_BAR = 10


def letter(row: Row) -> str:
    """The sign that stands before a line."""
    if row.reduction and row.kind == "serial":
        return "R"
    return LETTERS[row.kind]


def line_text(row: Row) -> str:
    """A line as program text, without its indentation."""
    if row.type == "loop":
        extent = row.text or str(row.extent)
        words = {"serial": "range", "grid": "thread"}
        return f"for {row.name} in {words.get(row.kind, row.kind)}({extent})"
    if row.type == "buffer":
        where = f", {row.scope}" if row.scope else ""
        space = f"  # {size(row.bytes)}{where}" if row.bytes is not None else ""
        return f"{row.name}: {row.text}{space}"
    return f"{row.name}{row.text}"


def nest_text(report: NestReport, *, costs: bool = True) -> str:
    """The loop nest, by default with the estimated share of time of each line at the right."""
    bodies: list[str] = []
    for row in report.rows:
        words = ", ".join(part for part in (row.note, *row.marks) if part)
        note = f"  # {words}" if words else ""
        bodies.append(f"{letter(row)} {'  ' * row.depth}{line_text(row)}{note}")
    if not costs:
        return "\n".join(bodies)
    width = max((len(b) for b in bodies), default=0)
    loops, blocks = plural(report.loops, "loop"), plural(report.blocks, "block")
    lines = [f"{report.name}: {loops}, {blocks}"]
    for row, body in zip(report.rows, bodies, strict=True):
        lines.append(f"{body.ljust(width)}  {_bar(row)}".rstrip())
    return "\n".join(lines)


def history_text(report: HistoryReport) -> str:
    """The states in the order they were made, the current one marked."""
    rows: list[tuple[str, ...]] = []
    for node in report.nodes:
        gain = "" if node.gain is None else str(node.gain)
        name = f"[{node.checkpoint}]" if node.checkpoint else ""
        rows.append((">" if node.id == report.current else "", node.id, node.label, gain, name))
    return table(rows)


def table(rows: Sequence[Sequence[str]]) -> str:
    """Columns as wide as what stands in them."""
    if not rows:
        return ""
    widths = [max(len(row[c]) for row in rows) for c in range(len(rows[0]))]
    return "\n".join(
        "  ".join(cell.ljust(w) for cell, w in zip(row, widths, strict=True)).rstrip()
        for row in rows
    )


def _bar(row: Row) -> str:
    if row.cost is None:
        return ""
    filled = round(row.cost.time * _BAR)
    return f"{'█' * filled}{'░' * (_BAR - filled)} {percent(row.cost.time):>4}"
