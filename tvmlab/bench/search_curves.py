"""The curves of searches as a page: a small plot for each workload, in light and dark."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .plot import page_of, plotly_objects
from .search_report import best_known, grouped, median_at
from .search_run import DEFAULT, SearchRun

_LINES = ("solid", "dash", "dot", "dashdot", "longdash")
_COLORS = ("#2b7bd9", "#d9662b", "#2f9e61", "#a05bd0", "#b5892c")
"""Told apart on white and on black; lines differ in their dashes too."""

_STYLE = """<style>
:root { color-scheme: light dark; }
body { margin: 1rem; background: #ffffff; color: #1f2328; }
@media (prefers-color-scheme: dark) { body { background: #16181c; color: #e6e8eb; } }
body { display: grid; grid-template-columns: repeat(auto-fill, minmax(22rem, 1fr)); gap: 0.5rem; }
body > p { grid-column: 1 / -1; margin: 0.2rem 0; }
</style>
<script>
const night = matchMedia("(prefers-color-scheme: dark)");
function paint() {
  const ink = night.matches ? "#e6e8eb" : "#1f2328", grid = night.matches ? "#3a3f47" : "#dde1e6";
  const look = { "font.color": ink, "xaxis.gridcolor": grid, "yaxis.gridcolor": grid };
  for (const plot of document.querySelectorAll(".plotly-graph-div")) Plotly.relayout(plot, look);
}
addEventListener("load", paint);
night.addEventListener("change", paint);
</script>"""


def curves_html(runs: Sequence[SearchRun]) -> str:
    """A page with a plot for each workload: the median of the seeds after each trial.

    Bands go from the worst to the best seed. The scale is the share of the best known schedule, as
    the paper's figure 12 relates all to one library.

    Raises
    ------
    OptionError
        If plotly is not installed.
    """
    objects = plotly_objects()
    searches = list(dict.fromkeys(run.search for run in runs if run.search != DEFAULT))
    workloads = dict.fromkeys(run.workload for run in runs)
    figures = [_figure(objects, runs, workload, searches) for workload in workloads]
    remarks = ["Lines: median of the seeds. Bands: from the worst to the best seed."]
    if any(run.search == DEFAULT for run in runs):
        remarks.append("Thin line: the schedule that tvmlab's operators give by default.")
    return page_of("searches", figures, remarks).replace("</title>", f"</title>{_STYLE}", 1)


def _figure(objects: Any, runs: Sequence[SearchRun], workload: str, searches: list[str]) -> Any:
    figure = objects.Figure()
    known = best_known(runs, workload) or 1.0
    groups = grouped([run for run in runs if run.workload == workload])
    longest = max((len(run.curve) for run in runs if run.workload == workload), default=1)
    for n, search in enumerate(searches):
        group = groups.get((workload, search), [])
        if group:
            _add_search(figure, group, known, _COLORS[n % 5], _LINES[n % 5])
    for run in groups.get((workload, DEFAULT), []):
        figure.add_scatter(
            name=DEFAULT, x=[1, longest], y=[run.best / known] * 2, mode="lines",
            line={"color": "#8a8f98", "width": 1},
        )  # fmt: skip
    figure.update_layout(
        title={"text": f"{workload}: best {known:.0f} GFLOP/s", "font": {"size": 14}},
        height=280, margin={"l": 48, "r": 8, "t": 32, "b": 40},
        paper_bgcolor="rgba(0,0,0,0)", plot_bgcolor="rgba(0,0,0,0)",
        legend={"x": 1, "y": 0, "xanchor": "right", "yanchor": "bottom",
                "bgcolor": "rgba(0,0,0,0)"},
        xaxis={"title": "trials", "zeroline": False},
        yaxis={"title": "share of best", "tickformat": ".0%", "range": [0, 1.05],
               "zeroline": False},
    )  # fmt: skip
    return figure


def _add_search(
    figure: Any, group: Sequence[SearchRun], known: float, color: str, dash: str
) -> None:
    name = group[0].search
    most = max(len(run.curve) for run in group)
    trials = list(range(1, most + 1))
    ends = [[v for run in group if (v := run.at(n)) is not None] for n in trials]
    for bound, fill in ((max, None), (min, "tonexty")):
        figure.add_scatter(
            x=trials, y=[bound(values) / known for values in ends], mode="lines", fill=fill,
            line={"width": 0, "color": color}, opacity=0.2, showlegend=False, hoverinfo="skip",
            fillcolor=f"rgba{(*bytes.fromhex(color[1:]), 0.15)}",
        )  # fmt: skip
    figure.add_scatter(
        name=name, x=trials, mode="lines", line={"color": color, "dash": dash, "width": 2},
        y=[(median_at(group, n) or 0.0) / known for n in trials],
    )  # fmt: skip
