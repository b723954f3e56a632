"""Which iterations need each other, by the elements that they touch, one iteration after another.

For each read the last write before it, and for each write the last write and the reads since: the
pairs that no order may turn round. They are told by their distance, with one pair of each.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from .access_order import Array

Need = Literal["flow", "anti", "output"]
_WORDS = {
    "flow": "reads what the other wrote",
    "anti": "overwrites what the other read",
    "output": "overwrites what the other wrote",
}
_MOST = 24


@dataclass(frozen=True, slots=True)
class Touch:
    """Accesses of one kind to a buffer: the elements, and which iterations touch them."""

    buffer: str
    element: Array
    iteration: Array
    write: bool


@dataclass(frozen=True, slots=True)
class Dependence:
    """All pairs of iterations at one distance, and one of them.

    `source` runs first. `dx` and `dy` say how far `sink` lies from it.
    """

    kind: Need
    buffer: str
    dx: int
    dy: int
    pairs: int
    source: tuple[int, int]
    sink: tuple[int, int]
    words: str


def dependences(points: Array, touches: Sequence[Touch], x: str, y: str) -> tuple[Dependence, ...]:
    """The dependences between points that run in their order, most frequent first."""
    found: dict[tuple[Need, str, int, int], list[tuple[int, int]]] = {}
    for kind, buffer, source, sink in pairs_of(touches):
        dx, dy = (int(d) for d in points[sink] - points[source])
        found.setdefault((kind, buffer, dx, dy), []).append((source, sink))
    result = [
        Dependence(
            kind,
            buffer,
            dx,
            dy,
            len(pairs),
            _point(points, pairs[0][0]),
            _point(points, pairs[0][1]),
            _sentence(kind, buffer, _point(points, pairs[0][1]), dx, dy, (x, y)),
        )
        for (kind, buffer, dx, dy), pairs in found.items()
    ]
    result.sort(key=lambda d: (-d.pairs, d.kind, d.dx, d.dy))
    return tuple(result[:_MOST])


def pairs_of(touches: Sequence[Touch]) -> list[tuple[Need, str, int, int]]:
    """Each pair of iterations that must stay in their order: kind, buffer, earlier, later."""
    found: dict[tuple[Need, str, int, int], None] = {}
    for buffer in dict.fromkeys(t.buffer for t in touches):
        own = [t for t in touches if t.buffer == buffer]
        if not any(t.write for t in own):
            continue
        # Within an iteration reads come before writes: an update reads what it then replaces.
        moments = sorted(
            (int(i), t.write, int(e))
            for t in own
            for i, e in zip(t.iteration.tolist(), t.element.tolist(), strict=True)
        )
        writer: dict[int, int] = {}
        readers: dict[int, set[int]] = {}
        for at, write, element in moments:
            last = writer.get(element)
            if last is not None and last != at:
                found[("output" if write else "flow", buffer, last, at)] = None
            if not write:
                readers.setdefault(element, set()).add(at)
                continue
            for reader in sorted(readers.pop(element, ())):
                if reader != at:
                    found[("anti", buffer, reader, at)] = None
            writer[element] = at
    return list(found)


def _point(points: Array, at: int) -> tuple[int, int]:
    return int(points[at, 0]), int(points[at, 1])


def _sentence(
    kind: Need, buffer: str, sink: tuple[int, int], dx: int, dy: int, names: tuple[str, str]
) -> str:
    """Such as `i=0, k=1 reads what the other wrote in C, at i=0, k=0`."""
    (x, y), (at_x, at_y) = names, sink
    later = f"{y}={at_y}, {x}={at_x}"
    earlier = f"{y}={at_y - dy}, {x}={at_x - dx}"
    return f"{later} {_WORDS[kind]} in {buffer}, at {earlier}"
