"""Verdicts: may this step be taken, by which rule, why not, shown by what, mended how."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

from tvmlab.support import ScheduleError

from .witness import Witness

Status = Literal["allowed", "refused", "unknown"]


@dataclass(frozen=True, slots=True)
class Fix:
    """Steps that would make a refused step possible; each was tried before it is offered.

    `steps` are (primitive, arguments by name), as `Schedule.apply` takes them. Loops that an
    earlier step of the fix makes are named "$n": the n-th output so far. Of several fixes of one
    `group`, such as the same steps with other numbers, the first that works is enough.
    """

    title: str
    steps: tuple[tuple[str, dict[str, Any]], ...]
    group: str = ""


@dataclass(frozen=True, slots=True, repr=False)
class Verdict:
    """The answer of the legality service to one asked step.

    Attributes
    ----------
    status
        "allowed", "refused" (it would change what is computed, or makes no sense), or "unknown"
        (it could not be proved safe, so it is not done either).
    rule
        Stable id of the deciding rule, such as "parallel.reduction"; empty if allowed.
    reason
        One sentence for people.
    witness
        A concrete case: two iterations that would clash, or a sentence. `str` gives the sentence.
    fixes
        Checked repairs.
    """

    status: Status
    rule: str = ""
    reason: str = ""
    witness: Witness | str | None = None
    fixes: tuple[Fix, ...] = field(default=())

    def __bool__(self) -> bool:
        return self.status == "allowed"

    def __str__(self) -> str:
        if self:
            return "allowed"
        lines = [f"{self.status} [{self.rule}]: {self.reason}"]
        if self.witness:
            lines.append(f"  for example: {self.witness}")
        lines += [f"  fix: {fix.title}" for fix in self.fixes]
        return "\n".join(lines)

    def __repr__(self) -> str:
        """The same: a verdict that is the value of a line in a console is meant to be read."""
        return str(self)


ALLOWED = Verdict("allowed")


class RefusedError(ScheduleError):
    """A primitive was refused; carries the verdict."""

    def __init__(self, verdict: Verdict, *, subject: object = None) -> None:
        self.verdict = verdict
        self.subject = subject
        notes = [f"for example: {verdict.witness}"] if verdict.witness else []
        hint = "; or ".join(fix.title for fix in verdict.fixes) or None
        ScheduleError.__init__(self, verdict.reason, notes=notes, hint=hint)


def refuse(
    rule: str,
    reason: str,
    *,
    witness: Witness | str | None = None,
    fixes: tuple[Fix, ...] = (),
    subject: object = None,
) -> RefusedError:
    """The error for a step that is not allowed; raise it."""
    return RefusedError(Verdict("refused", rule, reason, witness, fixes), subject=subject)


def unsure(
    rule: str,
    reason: str,
    *,
    witness: Witness | str | None = None,
    fixes: tuple[Fix, ...] = (),
    subject: object = None,
) -> RefusedError:
    """The error for a step that could not be proved safe; raise it."""
    return RefusedError(Verdict("unknown", rule, reason, witness, fixes), subject=subject)
