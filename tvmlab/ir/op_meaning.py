"""What functions of the op table mean where NumPy has no function for it.

Arguments are NumPy arrays or scalars; integer scalars may also be Python integers.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from tvmlab.support import DType


def rsqrt(x: Any) -> Any:
    """Reciprocal of the square root."""
    return 1 / np.sqrt(x)


def exp10(x: Any) -> Any:
    """Ten to the power of x, in the type of x."""
    return np.power(np.asarray(x).dtype.type(10), x)


def erf(x: Any) -> Any:
    """Gauss error function; NumPy has none, so each element goes through the C library's."""
    over_elements: Any = np.vectorize(math.erf, otypes=[np.float64])
    return over_elements(x)


def round_half_away(x: Any) -> Any:
    """The nearest whole number, a half away from zero."""
    if np.asarray(x).dtype.kind in "iub":
        return x
    whole = np.trunc(x)
    # The fraction is exact; adding a half before cutting would not be.
    return whole + np.copysign(np.asarray(np.abs(x - whole) >= 0.5, whole.dtype), x)


def power(x: Any, y: Any) -> Any:
    """`x ** y`; of integers it wraps, and a negative exponent gives the reciprocal, cut off."""
    kind = np.asarray(x).dtype
    if kind.kind not in "iu":
        return np.power(x, y)
    if isinstance(x, np.ndarray):
        powers: Any = np.vectorize(_integer_power, otypes=[np.uint64])
        return powers(x.astype(object), y.astype(object)).astype(kind)
    return _integer_power(int(x), int(y))


def _integer_power(x: int, y: int) -> int:
    """The power modulo 2**64, of which any integer type keeps its low bits."""
    if y < 0:
        x, y = (x, -y) if abs(x) == 1 else (0, 1)
    return pow(x, y, 1 << 64)


def multiply_add(a: Any, b: Any, c: Any) -> Any:
    """`a * b + c`."""
    return a * b + c


def popcount(x: Any) -> Any:
    """The number of bits that are set."""
    return np.bitwise_count(_unsigned(x))


def leading_zeros(x: Any) -> Any:
    """The number of zero bits above the highest bit that is set."""
    bits = _unsigned(x)
    width = bits.dtype.itemsize * 8
    lengths: Any = np.vectorize(int.bit_length, otypes=[np.int64])
    return width - lengths(bits.astype(object))


def _unsigned(x: Any) -> Any:
    bits: Any = np.asarray(x)
    return bits.view(f"u{bits.dtype.itemsize}")


def q_multiply_shift(x: Any, y: Any, q: Any, shift: Any) -> Any:
    """The product of two numbers with q fraction bits, times 2**shift, rounded half up.

    All in 64 bits. A total right shift below 1 has nothing to round.
    """
    x, y, q, shift = (np.asarray(v, np.int64) for v in (x, y, q, shift))
    with np.errstate(over="ignore"):
        product = (x << np.clip(shift, 0, 63)) * y
        right = np.clip(q - np.minimum(shift, 0), 0, 63)
        half = np.where(right > 0, np.int64(1) << np.maximum(right - 1, 0), 0)
        return ((product + half) >> right).astype(np.int32)


def outside(index: Any, limit: Any, number: Any) -> Any:
    """What a failed check of an index evaluates; it has no value."""
    del number
    raise IndexError(f"index {index} is outside a dimension of size {limit}")


def saturating(dtype: DType) -> Callable[[Any], Any]:
    """The conversion to an integer type with the nearest value for what does not fit, 0 for NaN."""
    low, high = int(dtype.min_value), int(dtype.max_value)

    def one(value: Any) -> int:
        number = value.item() if hasattr(value, "item") else value
        if isinstance(number, float):
            if math.isnan(number):
                return 0
            if math.isinf(number):
                return high if number > 0 else low
        elif not isinstance(number, (int, float)):
            number = float(number)
        return min(max(int(number), low), high)

    def run(x: Any) -> Any:
        if not isinstance(x, np.ndarray):
            return one(x)
        each: Any = np.vectorize(one, otypes=[dtype.numpy])
        return each(x)

    return run
