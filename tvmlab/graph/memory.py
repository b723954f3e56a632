"""Where values lie: one workspace for all that lives only between kernels.

Values that are never alive together share memory. One after another is placed, each at the lowest
place that is free for its whole life; of several orders the best counts. Then, what lay highest
is placed first, and so on, as long as memory could be saved.
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


_ROUNDS, _PLACED = 32, 16000
"""How often values are placed once more, and how many in all, to come nearer to the least."""


def plan_memory(lives: Sequence[Life]) -> MemoryPlan:
    """A place for each value."""
    least, unshared = lower_bound(lives), sum(life.room for life in lives)
    found: list[tuple[int, list[Life], dict[str, int]]] = []
    for rule in _ORDERS:
        order = sorted(lives, key=rule)
        found.append(_planned(order))
        if found[-1][0] <= least:
            break
    peak, order, offsets = min(found, key=lambda plan: plan[0])
    for _ in range(min(_ROUNDS, _PLACED // max(len(lives), 1))):
        if peak <= least:
            break
        # What ends last did not find a better place: it comes first now.
        last = max(order, key=lambda life: offsets[life.name] + life.room)
        order = [last, *(life for life in order if life is not last)]
        height, order, offsets = _planned(order)
        found.append((height, order, offsets))
        peak = min(peak, height)
    peak, _, offsets = min(found, key=lambda plan: plan[0])
    return MemoryPlan(offsets, peak, least, unshared)


def _planned(order: list[Life]) -> tuple[int, list[Life], dict[str, int]]:
    """What an order needs, itself, and where it puts values."""
    placed, peak = _placed(order)
    return peak, order, {life.name: offset for life, offset in placed}


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
