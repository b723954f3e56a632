"""A cache simulator: where each access of a schedule finds its data, and why it misses.

Levels are set-associative with least-recently-used replacement; an access goes to the next level
where one misses. A miss is compulsory the first time a line is touched; a capacity miss if a cache
of the same size without sets would have missed, too; else a conflict miss.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from tvmlab.support import OptionError

Miss = Literal["hit", "compulsory", "capacity", "conflict"]
KINDS: tuple[Miss, ...] = ("hit", "compulsory", "capacity", "conflict")


@dataclass(frozen=True, slots=True)
class CacheGeometry:
    """One level: its size and lines in bytes, and how many lines a set has."""

    name: str
    size: int
    line: int
    ways: int

    def __post_init__(self) -> None:
        if min(self.size, self.line, self.ways) < 1 or self.size % (self.line * self.ways):
            raise OptionError(
                f"a cache of {self.size} bytes does not consist of sets of {self.ways} lines "
                f"of {self.line} bytes",
                hint="its size must be a multiple of ways times line",
            )

    @property
    def sets(self) -> int:
        """How many sets there are."""
        return self.size // (self.line * self.ways)


@dataclass(frozen=True, slots=True)
class LevelResult:
    """How often a level was asked, and how that ended."""

    name: str
    accesses: int
    hits: int
    compulsory: int
    capacity: int
    conflict: int

    @property
    def misses(self) -> int:
        """All that went on to the next level."""
        return self.accesses - self.hits


@dataclass(frozen=True, slots=True)
class Simulation:
    """What came of a sequence of accesses.

    Attributes
    ----------
    found
        For each access the level that had its data; the number of levels stands for memory.
    kinds
        For each access how it ended at the first level, as a place in `KINDS`.
    """

    levels: tuple[LevelResult, ...]
    found: tuple[int, ...]
    kinds: tuple[int, ...]


def simulate(addresses: Iterable[int], geometry: Sequence[CacheGeometry]) -> Simulation:
    """Run byte addresses through the levels, nearest first."""
    levels = [_Level(g) for g in geometry]
    found: list[int] = []
    kinds: list[int] = []
    for address in addresses:
        at = first = 0
        for number, level in enumerate(levels):
            kind = level.access(address)
            first = kind if number == 0 else first
            if kind == 0:
                break
            at = number + 1
        found.append(at)
        kinds.append(first)
    return Simulation(tuple(level.result() for level in levels), tuple(found), tuple(kinds))


class _Level:
    """One level while it runs."""

    def __init__(self, geometry: CacheGeometry) -> None:
        self._geometry = geometry
        self._sets = [OrderedDict[int, None]() for _ in range(geometry.sets)]
        self._whole = OrderedDict[int, None]()  # the same size, but any line may be anywhere
        self._seen: set[int] = set()
        self._counts = [0] * len(KINDS)

    def access(self, address: int) -> int:
        """Touch an address; returns how that ended, as a place in `KINDS`."""
        geometry = self._geometry
        line = address // geometry.line
        hit = _touch(self._sets[line % geometry.sets], line, geometry.ways)
        anywhere = _touch(self._whole, line, geometry.sets * geometry.ways)
        kind = 0 if hit else 1 if line not in self._seen else 2 if not anywhere else 3
        self._seen.add(line)
        self._counts[kind] += 1
        return kind

    def result(self) -> LevelResult:
        hits, compulsory, capacity, conflict = self._counts
        total = sum(self._counts)
        return LevelResult(self._geometry.name, total, hits, compulsory, capacity, conflict)


def _touch(lines: OrderedDict[int, None], line: int, room: int) -> bool:
    """Make a line the newest of some; whether it was there."""
    if line in lines:
        lines.move_to_end(line)
        return True
    lines[line] = None
    if len(lines) > room:
        lines.popitem(last=False)
    return False
