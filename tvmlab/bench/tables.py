"""Results as tables of words, and what is to be said below them."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import geometric_mean

from .results import BenchResult, Score

Table = list[tuple[str, ...]]


def result_tables(results: Sequence[BenchResult]) -> list[tuple[str, Table, list[str]]]:
    """One table for each group and number of threads: its title, its lines, and remarks.

    Behind it come those of what else is known of a contender's results, if anything is.
    """
    parts: dict[tuple[str, int], list[BenchResult]] = {}
    for result in results:
        parts.setdefault((result.group, result.threads), []).append(result)
    made: list[tuple[str, Table, list[str]]] = []
    for (group, threads), rows in parts.items():
        made.append((_title(group, threads, rows), _table(rows), _remarks(rows)))
        whose = dict.fromkeys(s.name for row in rows for s in row.scores if s.facts)
        title = f"{group}, {threads} thread{'s' * (threads != 1)}, what"
        made += [(f"{title} {name} needs", _facts(rows, name), []) for name in whose]
    return made


def _facts(rows: Sequence[BenchResult], contender: str) -> Table:
    """What else is known of a contender's results."""
    known = {row.name: s.facts for row in rows for s in row.scores if s.name == contender}
    names = list(dict.fromkeys(name for facts in known.values() for name in facts))
    return [("", *names), *((row, *(facts.get(n, "-") for n in names))
                            for row, facts in known.items())]  # fmt: skip


def _title(group: str, threads: int, rows: Sequence[BenchResult]) -> str:
    unit = rows[0].rate(rows[0].ours)[1]
    return f"{group}, {threads} thread{'s' * (threads != 1)}, {unit}"


def _table(rows: Sequence[BenchResult]) -> Table:
    names = list(dict.fromkeys(s.name for row in rows for s in row.scores))
    with_error = [f"{name}" for name in names]
    head = ("", *with_error, "to best", "of limit", "error", "of peers")
    return [head, *(_line(row, names) for row in rows)]


def _line(row: BenchResult, names: Sequence[str]) -> tuple[str, ...]:
    scores = {score.name: score for score in row.scores}
    errors = [score.error for score in row.scores[1:]]
    return (
        row.name,
        *(_cell(row, scores.get(name)) for name in names),
        "" if row.ratio is None else f"{row.ratio:.2f}",
        "" if row.share is None else f"{row.share:.0%}",
        f"{row.ours.error:.1e}" + ("" if row.agrees else " WRONG"),
        _span(errors),
    )


def _span(errors: Sequence[float]) -> str:
    if not errors:
        return ""
    low, high = f"{min(errors):.1e}", f"{max(errors):.1e}"
    return low if low == high else f"{low} to {high}"


def _cell(row: BenchResult, score: Score | None) -> str:
    if score is None:
        return "-"
    return f"{row.rate(score)[0]:.4g} ±{50 * score.spread:.0f}%"


def _remarks(rows: Sequence[BenchResult]) -> list[str]:
    said: list[str] = []
    ratios = [row.ratio for row in rows if row.ratio is not None]
    if len(ratios) > 1:
        lost = [row.name for row in rows if row.ratio is not None and row.ratio < 1]
        said.append(
            f"to the best peer: {geometric_mean(ratios):.2f} (geometric mean), "
            f"lost: {', '.join(lost) or 'none'}"
        )
    prepared = {s.name: s.prepared for row in rows for s in row.scores if s.prepared}
    said += [f"{name}: {words}, not in the time" for name, words in prepared.items()]
    missing = {name: why for row in rows for name, why in row.missing.items()}
    said += [f"without {name}: {why}" for name, why in missing.items()]
    return said
