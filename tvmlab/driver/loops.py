"""A program as loops to read: what `lower(..., simple_mode=True)` returns."""

from __future__ import annotations

from dataclasses import dataclass

from tvmlab.ir import Program, Stmt, to_text

READABLE_BEFORE = "partition_loops"
"""The pass that cuts loops into main part and ends: from there on programs are for machines."""


@dataclass(frozen=True, slots=True)
class Loops:
    """A program without blocks, printed as the loops, conditions and stores that it consists of.

    Intermediates stand where they live, in their tight size; loops are not cut or widened yet.
    """

    program: Program

    @property
    def body(self) -> Stmt:
        """The statement."""
        return self.program.body

    def __str__(self) -> str:
        return to_text(self.program)

    def __repr__(self) -> str:
        return str(self)
