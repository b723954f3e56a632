"""How many accesses of a program miss the teaching caches."""

from __future__ import annotations

from tvmlab.inspect import TINY, memory_report
from tvmlab.inspect.memory_trace import MOST_ACCESSES
from tvmlab.ir import Program
from tvmlab.support import UserError


def misses(program: Program) -> tuple[int, ...]:
    """The misses at each level, over the whole run.

    Raises
    ------
    UserError
        If the program is too long to be run whole.
    """
    report = memory_report(program, TINY, "teaching caches", 4 * MOST_ACCESSES)
    if report.sample:
        raise UserError(
            f"the run is too long to count its misses: only {report.sample} fit",
            hint="give the exercise a smaller size",
        )
    return tuple(level.misses for level in report.levels)
