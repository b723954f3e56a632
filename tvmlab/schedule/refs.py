"""References that users hold: a loop or a block of a schedule.

A reference names a symbol, not a place, so it stays valid across every step that does not consume
its loop or block, and becomes valid again when such a step is undone.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol, TypeAlias

from tvmlab.ir import BlockSymbol, For, Program, Var, const_int, to_text
from tvmlab.support import ScheduleError
from tvmlab.te import Tensor

from .history import History
from .index import index_of


class Owner(Protocol):
    """What a reference needs of the schedule that it belongs to."""

    history: History

    @property
    def program(self) -> Program: ...
    @property
    def tensor_names(self) -> Mapping[Tensor, tuple[str, str]]: ...


@dataclass(frozen=True, slots=True)
class LoopRef:
    """A loop of a schedule."""

    schedule: Owner
    var: Var

    @property
    def name(self) -> str:
        """The loop's own name; a printed program adds a number where two loops share one."""
        return self.var.name

    @property
    def extent(self) -> int | None:
        """Number of iterations; None if it is known only at run time."""
        return const_int(self._loop().extent)

    @property
    def kind(self) -> str:
        """How the loop runs: serial, parallel, vectorized or unrolled."""
        return self._loop().kind

    @property
    def alive(self) -> bool:
        """Whether the loop is in the current program."""
        return self.var in index_of(self.schedule.program).loops

    def __repr__(self) -> str:
        if not self.alive:
            return f"<loop {self.name}, not in the current program>"
        return f"<{self.kind} loop {self.name} of {to_text(self._loop().extent)}>"

    def _loop(self) -> For:
        loops = index_of(self.schedule.program).loops
        if self.var not in loops:
            raise ScheduleError(f"loop {self.name} is not in the current program")
        return loops[self.var]


@dataclass(frozen=True, slots=True)
class BlockRef:
    """A block of a schedule."""

    schedule: Owner
    symbol: BlockSymbol

    @property
    def name(self) -> str:
        return self.symbol.name

    @property
    def alive(self) -> bool:
        """Whether the block is in the current program."""
        return self.symbol in index_of(self.schedule.program).blocks

    def __repr__(self) -> str:
        state = "" if self.alive else ", not in the current program"
        return f"<block {self.name}{state}>"


Ref: TypeAlias = LoopRef | BlockRef
