"""Steps that the templates of generic spaces share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .plan import Plan
from .reader import Knobs

_NEIGHBOURS = 64
"""Elements of a row that one vector statement covers, at most, where whole buffers are written."""


def inlined(
    sch: Any, plan: Plan, knobs: Knobs, places: tuple[str, ...] = ("inline", "tile", "whole")
) -> list[str]:
    """Inline element-wise blocks; returns the producers that are computed for each tile.

    Those that are computed whole get vectors and threads of their own.
    """
    for name in plan.consumers[:-1]:
        sch.compute_inline(name)
    chosen = {name: knobs.choose(f"{name}.at", places) for name in plan.producers}
    for name, how in chosen.items():
        if how == "inline":
            sch.compute_inline(name)
        elif how == "whole":
            spread(sch, name)
    return [name for name, how in chosen.items() if how == "tile"]


def spread(sch: Any, block: Any) -> None:
    """Vectors along the last loop of a block that stands alone, and threads for the first two."""
    loops = sch.loops(block)
    if not len(loops):
        return
    *outer, last = loops
    sch.vectorize(sch.split(last, [None, _NEIGHBOURS])[1])
    if outer:
        sch.parallel(sch.fuse(*outer[:2]) if len(outer) > 1 else outer[0])


def write_out(sch: Any, loops: Any, *, unroll: bool = False) -> None:
    """Vectorize the last of the loops of a copy, perhaps unroll the others.

    A copy of a single element has no loops.
    """
    if not loops:
        return
    for loop in loops[:-1] if unroll else ():
        sch.unroll(loop)
    sch.vectorize(loops[-1])


def shared_out(sch: Any, loops: Sequence[Any], knobs: Knobs) -> list[Any]:
    """Share the outermost loops out to threads; returns the loops that there are then."""
    count = knobs.choose("parallel", tuple(range(len(loops) + 1)))
    if not count:
        return list(loops)
    fused = sch.fuse(*loops[:count]) if count > 1 else loops[0]
    sch.parallel(fused)
    return [fused, *loops[count:]]
