"""How values flow between the steps of a compiled graph, as lanes beside the list of steps.

Each value that later steps read has a lane of its own from the step that makes it to the last that
reads it; a lane is free again afterwards. Lanes never change their place, so a picture of them is
straight lines and one bend for each read.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Lanes:
    """What is drawn beside one step.

    Attributes
    ----------
    column
        The lane in which the step stands.
    into
        Lanes of the values that it reads, which bend into it.
    through
        Lanes of values that pass it, because a later step reads them.
    out
        Whether its own lane goes on below it.
    """

    column: int
    into: tuple[int, ...]
    through: tuple[int, ...]
    out: bool


def lanes_of(reads: Sequence[Sequence[int]]) -> list[Lanes]:
    """The lanes of steps, from the numbers of the steps that each one reads."""
    last: dict[int, int] = {}
    for number, sources in enumerate(reads):
        last.update(dict.fromkeys(sources, number))
    taken: dict[int, int] = {}  # lane -> the step whose value it carries
    found: list[Lanes] = []
    for number, sources in enumerate(reads):
        lane_of = {step: lane for lane, step in taken.items()}
        into = sorted(lane_of[s] for s in sources)
        ending = {lane for lane, step in taken.items() if last[step] == number}
        through = sorted(lane for lane in taken if lane not in ending)
        column = _first_free(set(through), into)
        for lane in ending:
            del taken[lane]
        goes_on = number in last
        if goes_on:
            taken[column] = number
        found.append(Lanes(column, tuple(into), tuple(through), goes_on))
    return found


def _first_free(busy: set[int], preferred: Sequence[int]) -> int:
    """A lane for a step: that of a value which ends here, or the first free one."""
    for lane in preferred:
        if lane not in busy:
            return lane
    return next(n for n in range(len(busy) + 1) if n not in busy)
