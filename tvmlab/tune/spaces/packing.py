"""Copies of operands where they are used, plain or packed in panels as wide as vectors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from .common import write_out
from .panels import Panels
from .plan import Operand

_PIECE = 64
"""Elements of a row that are moved by statements written out one after another."""


@dataclass(frozen=True, slots=True)
class Copy:
    """How an operand is copied.

    Attributes
    ----------
    place
        "none", at each step of the outer "sum", for each "tile" of a thread, or "whole".
    width
        Of the panels, in elements; 0 to keep the layout.
    """

    place: str
    width: int = 0


def copies(operand: Operand, lanes: int) -> dict[str, Copy]:
    """The ways to copy an operand, by names for people."""
    found = {place: Copy(place) for place in ("none", "sum", "tile")}
    places = ["whole", "tile", "sum"] if operand.dim == operand.rank - 1 else ["whole", "tile"]
    if operand.dim < operand.rank - 2 or operand.dim < 0 or operand.size % lanes:
        return found
    for width in (lanes, 2 * lanes, 4 * lanes):
        if width < operand.size and operand.size % width == 0:
            found |= {f"{p}, panels of {width}": Copy(p, width) for p in places}
    return found


def copy_whole(sch: Any, main: str, operand: Operand, copy: Copy) -> None:
    """Pack an operand before everything else, each panel by a thread."""
    block = sch.cache_read(main, operand.name, "global")
    sch.transform_layout(main, block.name, Panels(operand.dim, copy.width))
    loops = list(sch.loops(block))
    panel, column = sch.split(loops.pop(operand.dim), [None, copy.width])
    _fill(sch, operand, [panel, *loops], column)
    sch.parallel(panel)


def copy_at(sch: Any, main: str, operand: Operand, copy: Copy, loop: Any) -> None:
    """Copy the part of an operand that an iteration of a loop needs."""
    block = sch.cache_read(main, operand.name, "global" if copy.width else "local")
    loops = sch.compute_at(block, loop)
    if not copy.width:
        write_out(sch, loops)
        return
    sch.transform_layout(main, block.name, Panels(operand.dim, copy.width))
    # The last loops run over more than one element at every point: see `copies`.
    last = loops[len(loops) - 1]
    if operand.dim == operand.rank - 1:
        _, column = sch.split(last, [None, copy.width])
        sch.vectorize(column)
    else:
        panel, column = sch.split(loops[len(loops) - 2], [None, copy.width])
        _fill(sch, operand, [panel, last], column)


def _fill(sch: Any, operand: Operand, loops: Sequence[Any], column: Any) -> None:
    """Nest the loops that fill panels: along rows of the operand."""
    if operand.dim == operand.rank - 1:
        sch.reorder(*loops, column)
        sch.vectorize(column)
        return
    *outer, last = loops
    step, piece = sch.split(last, [None, _PIECE])
    sch.reorder(*outer, step, column, piece)
    sch.unroll(piece)
