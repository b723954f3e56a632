"""Where values lie: one workspace for all that lives only between kernels.

Values that are never alive together share memory. The largest are placed first, each at the lowest
place that is free for its whole life.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

_LINE = 64


@dataclass(frozen=True, slots=True)
class Life:
    """A value's size in bytes, and the first and the last step that need it."""

    name: str
    nbytes: int
    first: int
    last: int

    @property
    def room(self) -> int:
        """Its size in whole cache lines."""
        return -(-self.nbytes // _LINE) * _LINE


@dataclass(frozen=True, slots=True)
class MemoryPlan:
    """Offsets of values, the size of the workspace, and the least that any plan needs."""

    offsets: Mapping[str, int]
    peak: int
    lower_bound: int
    unshared: int


def plan_memory(lives: Sequence[Life]) -> MemoryPlan:
    """A place for each value."""
    placed: list[tuple[Life, int]] = []
    for life in sorted(lives, key=lambda l: (-l.room, l.first)):
        at = 0
        alive = [(o, l) for l, o in placed if l.first <= life.last and life.first <= l.last]
        for offset, other in sorted(alive, key=lambda pair: pair[0]):
            if offset >= at + life.room:
                break
            at = max(at, offset + other.room)
        placed.append((life, at))
    peak = max((offset + life.room for life, offset in placed), default=0)
    return MemoryPlan({life.name: offset for life, offset in placed}, peak, lower_bound(lives),
                      sum(life.room for life in lives))  # fmt: skip


def lower_bound(lives: Sequence[Life]) -> int:
    """The most bytes that are alive during one step."""
    steps = {life.first for life in lives} | {life.last for life in lives}
    return max(
        (sum(l.room for l in lives if l.first <= step <= l.last) for step in steps), default=0
    )
