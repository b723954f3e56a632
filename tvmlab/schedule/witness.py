"""A concrete case against a step: two iterations, and the element that they fight over."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

ClashKind: TypeAlias = Literal["flow", "anti", "output", "update"]
"""What the first and the second iteration do with the element: write and read, read and write,
write both, or both update it (a sum)."""


@dataclass(frozen=True, slots=True)
class Iteration:
    """One execution of a block: the values of the loops around it."""

    block: str
    loops: Mapping[str, int]

    def __str__(self) -> str:
        return ", ".join(f"{name}={value}" for name, value in self.loops.items())


@dataclass(frozen=True, slots=True)
class Witness:
    """Two iterations that a step would bring out of order, or run at the same time.

    Attributes
    ----------
    first, second
        The iterations, in the order in which they run before the step.
    buffer, cell
        The element; an index that is not known in advance is None.
    sizes
        Sizes for which it happens, where they are known only at run time.
    """

    first: Iteration
    second: Iteration
    buffer: str
    cell: tuple[int | None, ...]
    kind: ClashKind
    sizes: Mapping[str, int] = field(default_factory=dict[str, int])

    @property
    def rank(self) -> tuple[int, ...]:
        """Small for a case that is easy to read."""
        loops = (*self.first.loops.values(), *self.second.loops.values())
        return (sum(map(abs, (*self.sizes.values(), *loops))), *loops)

    @property
    def element(self) -> str:
        """The element as it is written in a program; `?` for an index that is not known."""
        places = ("?" if place is None else str(place) for place in self.cell)
        return f"{self.buffer}[{', '.join(places) or '()'}]"

    @property
    def actions(self) -> tuple[str, str]:
        """What the first and the second iteration do with the element."""
        words = {"flow": ("writes", "reads"), "anti": ("reads", "writes")}
        both = "writes" if self.kind == "output" else "updates"
        return words.get(self.kind, (both, both))

    def __str__(self) -> str:
        one, other = self._names()
        if self.kind == "flow":
            text = f"{one} writes {self.element}, which {other} reads"
        elif self.kind == "anti":
            text = f"{one} reads {self.element}, which {other} writes"
        else:
            verb = "write" if self.kind == "output" else "update"
            text = f"{one} and {other} both {verb} {self.element}"
        if self.sizes:
            text += f" (with {', '.join(f'{n}={v}' for n, v in self.sizes.items())})"
        return text

    def _names(self) -> tuple[str, str]:
        """The iterations by the loops that tell them apart, and by block if there are two."""
        loops = [dict(side.loops) for side in (self.first, self.second)]
        equal = [n for n in loops[0] if loops[0][n] == loops[1].get(n)]
        texts: list[str] = []
        for side, values in zip((self.first, self.second), loops, strict=True):
            kept = {n: v for n, v in values.items() if n not in equal or len(equal) == len(values)}
            place = str(Iteration(side.block, kept))
            if self.first.block != self.second.block:
                place = f"{side.block} at {place}" if place else side.block
            texts.append(place)
        return texts[0], texts[1]
