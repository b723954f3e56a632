"""How many bytes a lowered program needs for its intermediates.

>>> report = storage_report(lower(schedule.program, target).program)
>>> report.peak
8192
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

from tvmlab.ir import Alloc, Program, Stmt, children, const_int

from .share_storage import SHARED


@dataclass(frozen=True, slots=True)
class StorageUse:
    """One allocation: its bytes (None if known only at run time) and whose values it holds."""

    name: str
    scope: str
    bytes: int | None
    holds: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class StorageReport:
    """The allocations of a program.

    Attributes
    ----------
    peak
        Most bytes of known size that one thread holds at a time, registers left out.
    saved
        Bytes that sharing took off: each further buffer in a place, counted by that place.
    """

    uses: tuple[StorageUse, ...]
    peak: int
    saved: int


def storage_report(program: Program) -> StorageReport:
    """What a lowered program allocates; sizes are exact, however large."""
    rows = cast(
        "tuple[tuple[str, tuple[str, ...]], ...]", dict(program.annotations).get(SHARED, ())
    )
    holds = dict(rows)
    uses: list[StorageUse] = []
    peak = _collect(program.body, uses, holds)
    saved = sum((use.bytes or 0) * (len(use.holds) - 1) for use in uses)
    return StorageReport(tuple(uses), peak, saved)


def _collect(stmt: Stmt, uses: list[StorageUse], holds: dict[str, tuple[str, ...]]) -> int:
    inner = [_collect(c, uses, holds) for c in children(stmt) if isinstance(c, Stmt)]
    most = max(inner, default=0)
    if not isinstance(stmt, Alloc) or stmt.buffer.scope == "register":
        return most
    buffer = stmt.buffer
    size: int | None = buffer.dtype.itemsize
    for dim in buffer.shape:
        count = const_int(dim)
        size = None if size is None or count is None else size * count
    uses.append(StorageUse(buffer.name, buffer.scope, size, holds.get(buffer.name, (buffer.name,))))
    return most + (size or 0)
