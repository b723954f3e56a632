"""What a comparison of searches says: medians at equal trials, who ends near the best, who wins."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from math import exp, log
from statistics import fmean, median

from .search_run import DEFAULT, SearchRun

_NEAR = 0.05
"""How far below the best known schedule a search may end to count as near it."""


def grouped(runs: Sequence[SearchRun]) -> dict[tuple[str, str], list[SearchRun]]:
    """The runs of each workload and search."""
    groups: dict[tuple[str, str], list[SearchRun]] = {}
    for run in runs:
        groups.setdefault((run.workload, run.search), []).append(run)
    return groups


def median_at(runs: Sequence[SearchRun], mark: int) -> float | None:
    """The median best after so many trials, over the runs that came so far."""
    values = [value for run in runs if (value := run.at(mark)) is not None]
    return median(values) if values else None


def best_known(runs: Sequence[SearchRun], workload: str) -> float:
    """The throughput of the fastest schedule that any run found, the default one included."""
    return max((run.best for run in runs if run.workload == workload), default=0.0)


def summary_rows(runs: Sequence[SearchRun], marks: Sequence[int]) -> list[tuple[str, ...]]:
    """A table: for each workload and search the median over seeds, after so many trials each.

    The last column is the median of where the runs ended, in proportion to the best known.
    """
    head = ("workload", "search", "seeds", *(f"after {mark}" for mark in marks), "of best")
    rows: list[tuple[str, ...]] = [head]
    for (workload, search), group in grouped(runs).items():
        cells = [_shown(median_at(group, mark)) for mark in marks]
        share = median(run.best for run in group) / (best_known(runs, workload) or 1.0)
        rows.append((workload, search, str(len(group)), *cells, f"{share:.1%}"))
    return rows


@dataclass(frozen=True, slots=True)
class Contest:
    """One search against another, at equal trials, over all workloads that both were run on.

    Attributes
    ----------
    ratio
        Geometric mean over the workloads of the ratio of their medians.
    won, lost
        On how many workloads the median is higher, and lower.
    chance
        How likely such a difference is if there is none (Wilcoxon's signed-rank test over the
        workloads); None with fewer than five.
    """

    first: str
    second: str
    mark: int
    ratio: float
    won: int
    lost: int
    chance: float | None


def contests(runs: Sequence[SearchRun], first: str, marks: Sequence[int]) -> list[Contest]:
    """A search against each of the others, after each number of trials."""
    groups = grouped(runs)
    others = dict.fromkeys(run.search for run in runs if run.search not in (first, DEFAULT))
    found: list[Contest] = []
    for other in others:
        for mark in marks:
            ratios = _ratios(groups, first, other, mark)
            if ratios:
                found.append(_contest(first, other, mark, ratios))
    return found


def _ratios(
    groups: dict[tuple[str, str], list[SearchRun]], first: str, other: str, mark: int
) -> list[float]:
    """For each workload how much faster one search's median is, from the seeds that both have."""
    ratios: list[float] = []
    for workload in dict.fromkeys(name for name, _ in groups):
        pair = [groups.get((workload, search), []) for search in (first, other)]
        seeds = [{run.seed for run in group if run.at(mark)} for group in pair]
        both = seeds[0] & seeds[1]
        one, two = (median_at([r for r in group if r.seed in both], mark) for group in pair)
        if one and two:
            ratios.append(one / two)
    return ratios


def _contest(first: str, second: str, mark: int, ratios: Sequence[float]) -> Contest:
    logs = [log(ratio) for ratio in ratios]
    chance = None
    if len(logs) >= 5 and any(logs):
        chance = float(import_module("scipy.stats").wilcoxon(logs).pvalue)
    won, lost = sum(x > 0 for x in logs), sum(x < 0 for x in logs)
    return Contest(first, second, mark, exp(fmean(logs)), won, lost, chance)


def contest_rows(found: Sequence[Contest]) -> list[tuple[str, ...]]:
    """The contests as a table."""
    rows = [("search", "against", "after", "times as fast", "won", "lost", "p")]
    for c in found:
        chance = "-" if c.chance is None else f"{c.chance:.2g}"
        rows.append(
            (c.first, c.second, str(c.mark), f"{c.ratio:.3f}", str(c.won), str(c.lost), chance)
        )
    return rows


def near_rows(runs: Sequence[SearchRun]) -> list[tuple[str, ...]]:
    """For each search on how many workloads its median run ended near the best known schedule."""
    rows = [("search", "workloads", f"within {_NEAR:.0%} of best", "worst", "beats the default")]
    groups = grouped(runs)
    for search in dict.fromkeys(run.search for run in runs):
        ends = {w: median(r.best for r in g) for (w, s), g in groups.items() if s == search}
        shares = {w: end / (best_known(runs, w) or 1.0) for w, end in ends.items()}
        near = sum(share >= 1 - _NEAR for share in shares.values())
        worst = min(shares, key=lambda w: shares[w])
        defaults = {w: g[0].best for (w, s), g in groups.items() if s == DEFAULT and w in ends}
        beats = sum(ends[w] > value for w, value in defaults.items())
        rows.append(
            (search, str(len(ends)), str(near), f"{worst} {shares[worst]:.1%}",
             f"{beats} of {len(defaults)}" if search != DEFAULT else "-")
        )  # fmt: skip
    return rows


def _shown(value: float | None) -> str:
    return "-" if value is None else f"{value:.1f}"
