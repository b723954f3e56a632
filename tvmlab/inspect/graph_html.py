"""A compiled graph as a plain table, for who opens a notebook without a kernel."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from .graph_view import GraphRow

_MOST = 200


def graph_html(name: str, rows: Sequence[GraphRow]) -> str:
    """The kernels of a graph as an HTML table."""
    shown = rows[:_MOST]
    lines = "".join(
        "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in _cells(row)) + "</tr>"
        for row in shown
    )
    more = f"<p>{len(rows) - len(shown)} more kernels</p>" if len(rows) > len(shown) else ""
    return (
        f"<table><caption>{escape(name)}</caption><thead><tr><th>kernel</th><th>nodes</th>"
        f"<th>result</th><th>µs</th></tr></thead><tbody>{lines}</tbody></table>{more}"
    )


def _cells(row: GraphRow) -> tuple[str, ...]:
    result = row.outputs[0].type if row.outputs else ""
    time = "" if row.time is None else f"{row.time.seconds * 1e6:.1f}"
    return row.name, ", ".join(row.ops), result, time
