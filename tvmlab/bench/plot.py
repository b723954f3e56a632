"""Results as a page with bars, to open in any browser without a network."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Any

from tvmlab.support import OptionError

from .results import BenchResult


def plot_html(results: Sequence[BenchResult], remarks: Sequence[str] = ()) -> str:
    """A page with a plot for each group and number of threads.

    Raises
    ------
    OptionError
        If plotly is not installed.
    """
    objects = plotly_objects()
    parts: dict[tuple[str, int], list[BenchResult]] = {}
    for result in results:
        parts.setdefault((result.group, result.threads), []).append(result)
    figures = [_figure(objects, group, n, rows) for (group, n), rows in parts.items()]
    return page_of("tvmlab bench", figures, remarks)


def plotly_objects() -> Any:
    """The part of plotly that makes figures.

    Raises
    ------
    OptionError
        If plotly is not installed.
    """
    try:
        return import_module("plotly.graph_objects")  # optional
    except ImportError as error:
        raise OptionError(
            "a plot needs plotly, which is not installed", hint="pip install plotly"
        ) from error


def page_of(title: str, figures: Sequence[Any], remarks: Sequence[str] = ()) -> str:
    """A page with some figures and a line of text for each remark."""
    shown = [
        figure.to_html(full_html=False, include_plotlyjs=number == 0)
        for number, figure in enumerate(figures)
    ]
    said = "".join(f"<p>{_escaped(line)}</p>" for line in remarks)
    return (
        f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{_escaped(title)}</title>'
        f'<body style="font-family: sans-serif">{"".join(shown)}{said}</body></html>'
    )


def _figure(objects: Any, group: str, threads: int, rows: Sequence[BenchResult]) -> Any:
    unit = rows[0].rate(rows[0].ours)[1]
    names = list(dict.fromkeys(s.name for row in rows for s in row.scores))
    figure = objects.Figure()
    for name in names:
        figure.add_bar(name=name, **_bars(rows, name))
    limits = [_limit(row) for row in rows]
    if any(limits):
        figure.add_scatter(
            name="limit of the machine",
            x=[row.name for row in rows],
            y=limits,
            mode="markers",
            marker={"symbol": "line-ew-open", "size": 24, "color": "black"},
        )
    title = f"{group}, {threads} thread{'s' * (threads != 1)}"
    figure.update_layout(barmode="group", title=title, yaxis_title=unit, template="plotly_white")
    return figure


def _bars(rows: Sequence[BenchResult], name: str) -> dict[str, Any]:
    """Medians with the middle half of the turns as whiskers."""
    known = [(row, score) for row in rows for score in row.scores if score.name == name]
    rates = [row.rate(score)[0] for row, score in known]
    half = [rate * score.spread / 2 for rate, (_, score) in zip(rates, known, strict=True)]
    return {
        "x": [row.name for row, _ in known],
        "y": rates,
        "error_y": {"type": "data", "array": half},
    }


def _limit(row: BenchResult) -> float | None:
    """What the machine could do at most, in the row's unit."""
    return None if row.share is None else row.rate(row.ours)[0] / row.share


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;")
