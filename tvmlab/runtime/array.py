"""Arrays that kernels like: aligned to a cache line, the large ones in large pages of memory."""

from __future__ import annotations

import math
import mmap
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tvmlab.support import DType

ALIGNMENT = 64
_LARGE_PAGE = 2 << 20


def empty(shape: int | Sequence[int], dtype: DType | str = "float32") -> NDArray[Any]:
    """An uninitialized array whose data starts at a multiple of 64 bytes.

    >>> empty((3, 5)).ctypes.data % 64
    0
    """
    sizes = (shape,) if isinstance(shape, int) else tuple(shape)
    element = DType.of(dtype).numpy
    count = math.prod(sizes) * element.itemsize
    return _memory(count).view(element).reshape(sizes)


def gathered(arrays: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    """Copies of arrays side by side in one piece of memory.

    Weights that are read once in each run come from memory sooner if few pages hold all of them:
    processors read ahead within a page.
    """
    made = side_by_side({name: (array.shape, array.dtype) for name, array in arrays.items()})
    for name, array in arrays.items():
        made[name][...] = array
    return made


def side_by_side(
    wanted: Mapping[str, tuple[tuple[int, ...], np.dtype[Any]]],
) -> dict[str, NDArray[Any]]:
    """Uninitialized arrays of shapes and types in one piece of memory, each at a cache line."""
    sizes = {name: math.prod(shape) * dtype.itemsize for name, (shape, dtype) in wanted.items()}
    memory = _memory(sum(-(-size // ALIGNMENT) * ALIGNMENT for size in sizes.values()))
    made: dict[str, NDArray[Any]] = {}
    place = 0
    for name, (shape, dtype) in wanted.items():
        made[name] = memory[place : place + sizes[name]].view(dtype).reshape(shape)
        place += -(-sizes[name] // ALIGNMENT) * ALIGNMENT
    return made


def _memory(count: int) -> NDArray[np.uint8]:
    """So many bytes; in large pages if they fill some and the system has them."""
    room = ALIGNMENT
    if count >= _LARGE_PAGE and hasattr(mmap, "MADV_HUGEPAGE"):
        room = _LARGE_PAGE
        flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS
        try:
            pages = mmap.mmap(-1, count + room, flags=flags)
        except OSError as error:  # what NumPy says where there is not so much
            raise MemoryError(f"there is no room for {count} bytes") from error
        with suppress(OSError):  # a system may be built without them
            pages.madvise(mmap.MADV_HUGEPAGE)
        raw = np.frombuffer(pages, np.uint8)
    else:
        raw = np.empty(count + room, np.uint8)
    start = -raw.ctypes.data % room
    return raw[start : start + count]
