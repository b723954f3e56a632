"""Threads as concurrent iterations: the groups of a kernel, and the threads of a group."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from math import prod

from tvmlab.ir import Buffer, Var

from .failure import Fault
from .memory import ConcurrentLoop, Slot


class Team(ConcurrentLoop):
    """The threads of one group; `now` is the number of the thread whose turn it is."""

    word = "thread"
    why = "with no barrier in between"

    def __init__(self, writes: frozenset[Buffer]) -> None:
        super().__init__(Var(self.word), "thread", writes)
        self._sizes: dict[str, int] = {}

    def begin(self, sizes: dict[str, int]) -> None:
        """Start anew, with so many threads for each tag."""
        self._sizes = sizes
        self.start()

    def members(self) -> Iterator[dict[str, int]]:
        """The indices of all members, the first tag fastest; sets `now`."""
        tags = list(reversed(self._sizes))
        ranges = [range(self._sizes[t]) for t in tags]
        for number, values in enumerate(itertools.product(*ranges)):
            self.now = number
            yield dict(zip(tags, values, strict=True))

    def where(self, number: int) -> tuple[tuple[str, int], ...]:
        """The indices of a member by its number."""
        found: list[tuple[str, int]] = []
        for tag, size in self._sizes.items():
            found.append((tag, number % size))
            number //= size
        return tuple(found)

    def describe(self, number: int) -> str:
        """A member in words."""
        indices = ", ".join(f"{tag}={i}" for tag, i in self.where(number))
        return f"({indices})" if prod(self._sizes.values()) > 1 else self.word

    def race(self, slot: Slot, offset: int, done: str, one: int, doing: str, other: int) -> Fault:
        """The failure of two members that touch one element."""
        text = (
            f"is {done} by {self.word} {self.describe(one)} and {doing} by {self.word} "
            f"{self.describe(other)} {self.why}: their order is not defined"
        )
        fault = Fault("race", text, slot.buffer, slot.index_of(offset))
        fault.collision = (self.where(one), self.where(other))
        return fault


class Grid(Team):
    """The groups of one kernel, which never wait for each other."""

    word = "group"
    why = "and groups do not wait for each other"
