"""Steps that several schedules take."""

from __future__ import annotations

from collections.abc import Sequence

from tvmlab.schedule import LoopRef, Schedule


def write_out(sch: Schedule, loops: Sequence[LoopRef]) -> None:
    """Make vectors of the last loop and unroll the others."""
    for loop in loops[:-1]:
        sch.unroll(loop)
    if loops:
        sch.vectorize(loops[-1])
