"""Dot instructions and their tiles by name, so that traces which name them can be replayed."""

from __future__ import annotations

import re

from tvmlab.te import TensorIntrin, intrinsic_family

from .dot import dot, dot_tile
from .interleave import interleave
from .kinds import KINDS

_TILE = re.compile(r"(?P<kind>\w+)_(?P<rows>\d+)x(?P<columns>\d+)x(?P<depth>\d+)", re.ASCII)
_PACKED = re.compile(r"interleave_(?P<dtype>\w+)_(?P<group>\d+)x(?P<columns>\d+)", re.ASCII)
_MOST = 1 << 16
"""Sizes beyond it are no tile: a name from elsewhere must not make code without end."""


@intrinsic_family
def dot_by_name(name: str) -> TensorIntrin | None:
    """The intrinsic that `dot`, `dot_tile` or `interleave` declares under a name, if one does."""
    kinds = {kind.name: kind for kind in KINDS}
    if name in kinds:
        return dot(kinds[name])
    if (found := _TILE.fullmatch(name)) is not None and found["kind"] in kinds:
        kind = kinds[found["kind"]]
        rows, columns, depth = (int(found[part]) for part in ("rows", "columns", "depth"))
        whole = columns % kind.lanes == 0 and depth % kind.group == 0
        small = rows * columns <= _MOST and depth <= _MOST
        if whole and small and min(rows, columns, depth) > 0:
            return dot_tile(kind, rows, columns // kind.lanes, depth)
    if (found := _PACKED.fullmatch(name)) is not None:
        group, columns = int(found["group"]), int(found["columns"])
        for kind in KINDS:
            if (kind.right, kind.group) == (found["dtype"], group) and 0 < columns <= _MOST:
                return interleave(kind, columns)
    return None
