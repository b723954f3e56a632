"""Ranges as old programs give them: by their ends."""

from __future__ import annotations

from typing import Any

from tvmlab.arith import Bounds, simplify
from tvmlab.compat.tvm.mixing import converted
from tvmlab.ir import as_expr
from tvmlab.ir.mixed import mixing
from tvmlab.te import Range as _Range


class Range(_Range):
    """`Range(2, 5)` is 2, 3, 4 and `Range(5)` begins with 0, as Python's ranges do."""

    __slots__ = ()

    def __init__(self, begin: Any, end: Any = None, span: Any = None) -> None:
        del span
        low, high = (0, begin) if end is None else (begin, end)
        with mixing(converted):
            extent = as_expr(high) - low
        super().__init__(as_expr(low), simplify(extent, Bounds.of({})))

    @staticmethod
    def from_min_extent(min_value: Any, extent: Any, span: Any = None) -> Range:
        """The range of so many values from the first one on."""
        del span
        made = Range.__new__(Range)
        _Range.__init__(made, as_expr(min_value), as_expr(extent))
        return made
