"""A verdict of the legality service as plain data."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tvmlab.schedule import Fix, Verdict

FixToken = Callable[[Fix], str]
"""Gives a fix the name by which a view asks for it."""


@dataclass(frozen=True, slots=True)
class FixReport:
    """A checked way out."""

    title: str
    token: str


@dataclass(frozen=True, slots=True)
class VerdictReport:
    """The fields are those of the protocol's `Verdict`."""

    status: str
    rule: str
    reason: str
    witness: str | None
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
        tuple(FixReport(f.title, token(f) if token else "") for f in verdict.fixes),
    )
