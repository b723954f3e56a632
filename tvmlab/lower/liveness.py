"""When buffers are in use: the first and the last statement of a sequence that touches each.

    with alloc(float32[64]) as T:
        T[...] = ...              0       T lives from 0 to 1
        U[...] = f(T[...])        1       U from 1 to 2
    C[...] = U[...]               2

A sequence is read through the allocations in it, so that their nesting does not matter.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from tvmlab.ir import Alloc, Buffer, Seq, Stmt

from .accesses import touched_buffers


@dataclass(frozen=True, slots=True)
class Life:
    """Positions of the first and the last statement that touches a buffer, both included."""

    first: int
    last: int

    def overlaps(self, other: Life) -> bool:
        """Whether there is a statement during both."""
        return self.first <= other.last and other.first <= self.last


@dataclass(frozen=True, slots=True)
class Stretch:
    """Statements that run one after another, and the buffers allocated around parts of them."""

    stmts: tuple[Stmt, ...]
    allocs: tuple[Buffer, ...]

    @staticmethod
    def of(stmt: Stmt) -> Stretch:
        """The sequence that a statement is, with sequences and allocations opened."""
        stmts: list[Stmt] = []
        allocs: list[Buffer] = []
        stack = [stmt]
        while stack:
            current = stack.pop()
            if isinstance(current, Seq):
                stack.extend(reversed(current.stmts))
            elif isinstance(current, Alloc):
                allocs.append(current.buffer)
                stack.append(current.body)
            else:
                stmts.append(current)
        return Stretch(tuple(stmts), tuple(allocs))


def lives_in(stmts: Sequence[Stmt], buffers: Iterable[Buffer]) -> dict[Buffer, Life]:
    """The lives of buffers in a sequence; a buffer that nothing touches has none."""
    wanted = set(buffers)
    found: dict[Buffer, Life] = {}
    for position, stmt in enumerate(stmts):
        for buffer in touched_buffers(stmt) & wanted:
            first = found[buffer].first if buffer in found else position
            found[buffer] = Life(first, position)
    return found
