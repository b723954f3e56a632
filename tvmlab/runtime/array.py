"""Arrays that kernels like: aligned to a cache line."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tvmlab.support import DType

ALIGNMENT = 64


def empty(shape: int | Sequence[int], dtype: DType | str = "float32") -> NDArray[Any]:
    """An uninitialised array whose data starts at a multiple of 64 bytes.

    >>> empty((3, 5)).ctypes.data % 64
    0
    """
    sizes = (shape,) if isinstance(shape, int) else tuple(shape)
    element = DType.of(dtype).numpy
    count = math.prod(sizes) * element.itemsize
    raw = np.empty(count + ALIGNMENT, np.uint8)
    start = -raw.ctypes.data % ALIGNMENT
    return raw[start : start + count].view(element).reshape(sizes)
