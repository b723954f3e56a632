"""Storage of the interpreter: elements, which of them were written, and who touched them.

Races are found with one shadow for each pair of a concurrent loop and a buffer seen from outside
its iterations. The shadow remembers which iterations read and wrote each element.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tvmlab.ir import Buffer, Var

from .failure import Fault


class Slot:
    """The storage behind one buffer. An `Alloc` that runs again starts with fresh storage."""

    __slots__ = ("buffer", "dims", "flat", "written")

    def __init__(self, buffer: Buffer) -> None:
        self.buffer = buffer
        self.dims: tuple[int, ...] = ()
        self.flat: Any = None
        self.written: bytearray | None = None

    def attach(self, array: np.ndarray[Any, Any], dims: tuple[int, ...]) -> None:
        """Use the memory of a contiguous array, all of whose elements count as written."""
        self.dims = dims
        self.flat = array.reshape(-1)

    def allocate(self, dims: tuple[int, ...]) -> None:
        """Fresh storage in which nothing has been written."""
        size = 1
        for dim in dims:
            size *= dim
        self.dims = dims
        self.flat = np.zeros(size, self.buffer.dtype.numpy)
        self.written = bytearray(size)

    def index_of(self, offset: int) -> tuple[int, ...]:
        """The indices of a row-major offset."""
        index: list[int] = []
        for dim in reversed(self.dims):
            index.append(offset % dim)
            offset //= dim
        return tuple(reversed(index))

    def unwritten(self, offset: int) -> Fault:
        """The failure of reading an element that nothing has written."""
        text = "is read before anything was written there"
        return Fault("uninitialized-read", text, self.buffer, self.index_of(offset))


class ConcurrentLoop:
    """A parallel or vectorized loop while it runs: its current iteration and its shadows.

    `writes` are the buffers that its body stores to: only on those can iterations collide.
    """

    __slots__ = ("kind", "now", "shadows", "var", "writes")

    def __init__(self, var: Var, kind: str, writes: frozenset[Buffer]) -> None:
        self.var = var
        self.kind = kind
        self.writes = writes
        self.now = 0
        self.shadows: list[Shadow] = []

    def start(self) -> None:
        """Forget what an earlier run of the loop did."""
        for shadow in self.shadows:
            shadow.clear()

    def race(self, slot: Slot, offset: int, done: str, one: int, doing: str, other: int) -> Fault:
        """The failure of two iterations that touch one element."""
        text = (
            f"is {done} in iteration {{one}} and {doing} in iteration {{other}} "
            f"of the {self.kind} loop {{loop}}: their order is not defined"
        )
        fault = Fault("race", text, slot.buffer, slot.index_of(offset))
        fault.collision = (((self.var, one),), ((self.var, other),))
        return fault


class Shadow:
    """Who touched the elements of one buffer during one run of one concurrent loop.

    Parameters
    ----------
    loop, slot
        The pair that is watched.
    private
        Whether lowering may give each iteration its own copy of the buffer: then iterations may
        overwrite each other's elements, but none may read what another one wrote.
    """

    __slots__ = ("first", "loop", "private", "second", "slot", "writer")

    def __init__(self, loop: ConcurrentLoop, slot: Slot, private: bool) -> None:
        self.loop = loop
        self.slot = slot
        self.private = private
        self.writer: dict[int, int] = {}
        self.first: dict[int, int] = {}
        self.second: dict[int, int] = {}
        loop.shadows.append(self)

    def clear(self) -> None:
        self.writer.clear()
        self.first.clear()
        self.second.clear()

    def read(self, offset: int) -> None:
        """Note a read by the current iteration."""
        now = self.loop.now
        writer = self.writer.get(offset, now)
        if writer != now:
            raise self.loop.race(self.slot, offset, "written", writer, "read", now)
        # Two different readers are enough to catch every later writer.
        if not self.private and self.first.setdefault(offset, now) != now:
            self.second.setdefault(offset, now)

    def write(self, offset: int) -> None:
        """Note a write by the current iteration."""
        now = self.loop.now
        if not self.private:
            writer = self.writer.get(offset, now)
            if writer != now:
                raise self.loop.race(self.slot, offset, "written", writer, "written", now)
            for readers in (self.first, self.second):
                reader = readers.get(offset, now)
                if reader != now:
                    raise self.loop.race(self.slot, offset, "read", reader, "written", now)
        self.writer[offset] = now
