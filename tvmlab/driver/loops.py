"""A program as loops to read: what `lower(..., simple_mode=True)` returns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tvmlab.ir import Program, Stmt, to_text

if TYPE_CHECKING:
    from tvmlab.lower import Lowered


@dataclass(frozen=True, slots=True)
class Loops:
    """A program without blocks, printed as the loops, conditions and stores that it consists of.

    Intermediates stand where they live, in their tight size; loops are not cut or widened yet.
    """

    program: Program

    @staticmethod
    def of(lowered: Lowered) -> Loops:
        """The program before the pass that cuts loops into main part and ends."""
        return Loops(next(r.before for r in lowered.record if r.name == "partition_loops"))

    @property
    def body(self) -> Stmt:
        """The statement."""
        return self.program.body

    def __str__(self) -> str:
        return to_text(self.program)

    def __repr__(self) -> str:
        return str(self)
