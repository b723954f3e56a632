"""A graded schedule as plain data, as text and for a notebook."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape

from .goals import GoalKind

_SIGNS = {True: ("✓", "#2c7a3f", "met"), False: ("✗", "#b02a37", "not met")}


@dataclass(frozen=True, slots=True)
class GoalResult:
    """A goal, whether it is met, and what was found."""

    kind: GoalKind
    title: str
    met: bool
    found: str


@dataclass(frozen=True, slots=True)
class CheckReport:
    """All goals of an exercise, graded."""

    name: str
    results: tuple[GoalResult, ...]

    @property
    def met(self) -> int:
        """How many goals are met."""
        return sum(result.met for result in self.results)

    @property
    def passed(self) -> bool:
        """Whether all goals are met."""
        return self.met == len(self.results)

    def __str__(self) -> str:
        lines = [self._head()]
        for result in self.results:
            sign, _, words = _SIGNS[result.met]
            lines.append(f"{sign} {words:7} {result.kind:9} {result.title} ({result.found})")
        return "\n".join(lines)

    def __repr__(self) -> str:
        """The same: a report that is the value of a line is meant to be read."""
        return str(self)

    def _head(self) -> str:
        end = " - solved" if self.passed else ""
        return f"{self.name}: {self.met} of {len(self.results)} goals{end}"

    def _repr_html_(self) -> str:
        cell = 'style="text-align:left;padding:0 12px 0 0"'
        rows = "".join(
            f'<tr><td {cell}><b style="color:{_SIGNS[r.met][1]}">{_SIGNS[r.met][0]} '
            f"{_SIGNS[r.met][2]}</b></td><td {cell}>{escape(r.kind)}</td>"
            f"<td {cell}>{escape(r.title)}</td><td {cell}>{escape(r.found)}</td></tr>"
            for r in self.results
        )
        return f"<div><b>{escape(self._head())}</b><table>{rows}</table></div>"
