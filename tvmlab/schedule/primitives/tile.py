"""Tiling: two splits and a reorder in one step."""

from __future__ import annotations

from tvmlab.ir import Program, Var
from tvmlab.schedule.index import index_of
from tvmlab.schedule.legality import require_chain
from tvmlab.schedule.registry import Applied, ParamSpec, primitive
from tvmlab.schedule.verdict import refuse

from .loops import split
from .reorder import reorder


@primitive(
    "tile", "tile", "t",
    ParamSpec("x", "loop", "the loop over rows of tiles"),
    ParamSpec("y", "loop", "the loop over columns of tiles"),
    ParamSpec("fx", "int", "rows of a tile", default=8),
    ParamSpec("fy", "int", "columns of a tile", default=8),
)  # fmt: skip
def tile(program: Program, x: Var, y: Var, fx: int, fy: int) -> Applied:
    """Split two loops of a nest and run the result tile by tile.

    Returns the loops in their new order: two over tiles, two inside a tile.

    Before::

        for i in range(64):
            for j in range(64):
                ...i, j...

    After `tile(i, j, 8, 16)`::

        for i_outer in range(8):
            for j_outer in range(4):
                for i_inner in range(8):
                    for j_inner in range(16):
                        ...i_outer * 8 + i_inner, j_outer * 16 + j_inner...
    """
    index = index_of(program)
    if x is y:
        raise refuse(
            "tile.same-loop",
            f"cannot tile {x.name}: a tile needs two different loops of one nest",
            subject=x,
        )
    require_chain(index, [index.loops[x], index.loops[y]], "tile")
    rows = split(program, x, (None, fx))
    columns = split(rows.program, y, (None, fy))
    order = (rows.outputs[0], columns.outputs[0], rows.outputs[1], columns.outputs[1])
    loops = [v for v in order if isinstance(v, Var)]
    return Applied(reorder(columns.program, loops).program, tuple(loops))
