"""Whether the regions that a block declares cover those that its body touches.

Only certain violations are reported: where an index is no literal, the doubt is in favor of the
block, for to compare expressions is the simplifier's business, which stands above the IR.
"""

from __future__ import annotations

from collections.abc import Sequence

from .buffer import Region
from .expr import Expr, const_int


def region_problem(region: Region) -> str | None:
    """What is wrong with the form of a region, if anything."""
    rank = len(region.buffer.shape)
    if len(region.mins) != rank or len(region.extents) != rank:
        return f"a region of {region.buffer.name} has not the {rank} dimension(s) of the buffer"
    if not all(e.dtype.is_int and e.dtype.lanes == 1 for e in (*region.mins, *region.extents)):
        return f"a region of {region.buffer.name} is bounded by something else than whole numbers"
    return None


def covered(needed: Region, given: Sequence[Region]) -> bool:
    """Whether some given region of the same buffer may hold all of the needed one."""
    return any(region.buffer is needed.buffer and _may_hold(region, needed) for region in given)


def _may_hold(outer: Region, inner: Region) -> bool:
    dims = zip(outer.mins, outer.extents, inner.mins, inner.extents, strict=True)
    return not any(_leaves(*dim) for dim in dims)


def _leaves(low: Expr, extent: Expr, inner_low: Expr, inner_extent: Expr) -> bool:
    """Whether an index certainly leaves a range; a whole dimension is only an upper bound."""
    start, size = const_int(low), const_int(extent)
    at = const_int(inner_low)
    if start is None or at is None or const_int(inner_extent) != 1:
        return False
    return at < start or (size is not None and at >= start + size)
