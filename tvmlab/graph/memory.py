"""Where values lie: one workspace for all that lives only between kernels.

Values that are never alive together share memory. One after another is placed, each at the lowest
place that is free for its whole life; of several orders the best counts.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
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


_ORDERS: tuple[Callable[[Life], tuple[int, ...]], ...] = (
    lambda l: (-l.room, l.first),
    lambda l: (-l.room * (l.last - l.first + 1), l.first),
    lambda l: (l.first - l.last, -l.room),
    lambda l: (l.first, -l.room),
)
"""The largest first, those that fill most, that live longest, that come first."""


def plan_memory(lives: Sequence[Life]) -> MemoryPlan:
    """A place for each value."""
    least = lower_bound(lives)
    best: MemoryPlan | None = None
    for order in _ORDERS:
        placed, peak = _placed(sorted(lives, key=order))
        if best is None or peak < best.peak:
            offsets = {life.name: offset for life, offset in placed}
            best = MemoryPlan(offsets, peak, least, sum(life.room for life in lives))
        if best.peak <= least:
            break
    assert best is not None
    return best


def _placed(lives: Sequence[Life]) -> tuple[list[tuple[Life, int]], int]:
    """Offsets for values in an order, and where the last one ends."""
    placed: list[tuple[Life, int]] = []
    for life in lives:
        at = 0
        alive = [(o, l) for l, o in placed if l.first <= life.last and life.first <= l.last]
        for offset, other in sorted(alive, key=lambda pair: pair[0]):
            if offset >= at + life.room:
                break
            at = max(at, offset + other.room)
        placed.append((life, at))
    return placed, max((offset + life.room for life, offset in placed), default=0)


def lower_bound(lives: Sequence[Life]) -> int:
    """The most bytes that are alive during one step."""
    steps = {life.first for life in lives} | {life.last for life in lives}
    return max(
        (sum(l.room for l in lives if l.first <= step <= l.last) for step in steps), default=0
    )
