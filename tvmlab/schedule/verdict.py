"""Verdicts: may this step be taken, by which rule, why not, shown by what, mended how."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, overload

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


class FixesOnDemand(Sequence[Fix]):
    """Fixes that are looked for when somebody reads them: a menu has more refusals than readers."""

    def __init__(self, search: Callable[[], tuple[Fix, ...]]) -> None:
        self._search = search

    @cached_property
    def _found(self) -> tuple[Fix, ...]:
        return self._search()

    @overload
    def __getitem__(self, index: int) -> Fix: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Fix, ...]: ...
    def __getitem__(self, index: int | slice) -> Fix | tuple[Fix, ...]:
        return self._found[index]

    def __len__(self) -> int:
        return len(self._found)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and self._found == tuple(other)  # pyright: ignore

    def __hash__(self) -> int:
        return id(self)

    def __repr__(self) -> str:
        return repr(self._found)


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
        Checked repairs. They are looked for when they are read.
    """

    status: Status
    rule: str = ""
    reason: str = ""
    witness: Witness | str | None = None
    fixes: Sequence[Fix] = ()

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
