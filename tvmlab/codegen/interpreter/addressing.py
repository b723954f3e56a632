"""From indices to row-major offsets, with every index checked against its dimension."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .arithmetic import ActiveLanes
from .failure import Fault
from .linear import Value
from .memory import Slot


def scalar_offset(slot: Slot, parts: Sequence[Value], doing: str) -> Value:
    """The closure of the offset of one element; `doing` is "read" or "written"."""
    if len(parts) == 1:
        return _offset_1(slot, parts[0], doing)
    if len(parts) == 2:
        return _offset_2(slot, parts[0], parts[1], doing)

    def offset() -> int:
        result = 0
        index = [part() for part in parts]
        for i, dim in zip(index, slot.dims, strict=True):
            if not 0 <= i < dim:
                raise _outside(slot, index, doing)
            result = result * dim + i
        return result

    return offset


def _offset_1(slot: Slot, part: Value, doing: str) -> Value:
    def offset() -> int:
        i = part()
        if not 0 <= i < slot.dims[0]:
            raise _outside(slot, [i], doing)
        return i

    return offset


def _offset_2(slot: Slot, row: Value, column: Value, doing: str) -> Value:
    def offset() -> int:
        i, j = row(), column()
        rows, columns = slot.dims
        if not (0 <= i < rows and 0 <= j < columns):
            raise _outside(slot, [i, j], doing)
        return i * columns + j

    return offset


def lane_offsets(
    slot: Slot,
    parts: Sequence[Value],
    test: Value | None,
    lanes: int,
    active: ActiveLanes,
    doing: str,
) -> Value:
    """The closure of (lanes that count, their offsets); `test` gives the mask of the access."""

    def run() -> tuple[Any, Any]:
        on = np.ones(lanes, np.bool_) if test is None else np.array(test(), np.bool_)
        if active.mask is not None:
            on &= active.mask
        (where,) = np.nonzero(on)
        offsets = np.zeros(len(where), np.int64)
        index = [np.broadcast_to(part(), lanes)[where] for part in parts]
        for i, dim in zip(index, slot.dims, strict=True):
            bad = (i < 0) | (i >= dim)
            if bad.any():
                lane = int(np.argmax(bad))
                raise _outside(slot, [int(part[lane]) for part in index], doing)
            offsets = offsets * dim + i
        return where, offsets

    return run


def row_offsets(
    slot: Slot, base: Value, stride: Value, lanes: int, active: ActiveLanes, doing: str
) -> Value:
    """The same for the commonest access: equally spaced elements of a flat buffer, no mask."""
    numbers = np.arange(lanes)

    def run() -> tuple[Any, Any]:
        first, step, size = base(), stride(), slot.dims[0]
        last = first + step * (lanes - 1)
        where = numbers if active.mask is None else np.nonzero(active.mask)[0]
        offsets = where * step + first
        if not (0 <= first < size and 0 <= last < size):
            for at in offsets.tolist():
                if not 0 <= at < size:
                    raise _outside(slot, [at], doing)
        return where, offsets

    return run


def _outside(slot: Slot, index: Sequence[int], doing: str) -> Fault:
    """The failure of an index that leaves its buffer."""
    for number, (i, dim) in enumerate(zip(index, slot.dims, strict=True)):
        if not 0 <= i < dim:
            size = f"dimension {number} has the indices 0 to {dim - 1}" if dim else "it is empty"
            text = f"is {doing} outside of the buffer: {size}"
            return Fault("out-of-bounds", text, slot.buffer, tuple(index))
    raise AssertionError("no index is outside")
