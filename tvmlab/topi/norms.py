"""Normalizations: rows, groups or images brought to mean 0 and variance 1, or to a size.

Mean and variance are taken in two passes over data that a cache still holds, which loses nothing
where the mean is large beside the spread. Floats shorter than float32 are computed in float32.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import tvmlab.te as te
from tvmlab.ir import Expr, const_int
from tvmlab.support import ShapeError
from tvmlab.te import Tensor

from .broadcast import add, multiply, subtract
from .elementwise import narrowed, rsqrt, widened
from .reduction import Axes, normalized
from .reduction import sum as total
from .shape import reshape
from .tag import BROADCAST


def mean(a: Tensor, axis: Axes = None, keepdims: bool = False) -> Tensor:
    """The mean over dimensions."""
    share = 1.0 / _count(a, normalized(axis, len(a.shape)))
    return narrowed(multiply(total(widened(a), axis, keepdims), share), a.dtype)


def variance(a: Tensor, axis: Axes = None, keepdims: bool = False) -> Tensor:
    """The mean square of what is left when the mean is taken off."""
    wide = widened(a)
    centered = subtract(wide, mean(wide, axis, keepdims=True))
    return narrowed(mean(multiply(centered, centered), axis, keepdims), a.dtype)


def layer_norm(
    data: Tensor,
    gamma: Tensor | None = None,
    beta: Tensor | None = None,
    axis: int | Sequence[int] = -1,
    epsilon: float = 1e-5,
) -> Tensor:
    """`(data - mean) / sqrt(variance + epsilon) * gamma + beta` over the dimensions `axis`.

    `gamma` and `beta` have the sizes of these dimensions.
    """
    over, wide = normalized(axis, len(data.shape)), widened(data)
    centered = subtract(wide, mean(wide, over, keepdims=True))
    scale = rsqrt(add(mean(multiply(centered, centered), over, keepdims=True), epsilon))
    return narrowed(_scaled(multiply(centered, scale), gamma, beta, over), data.dtype)


def rms_norm(
    data: Tensor, gamma: Tensor | None = None, axis: int | Sequence[int] = -1, epsilon: float = 1e-5
) -> Tensor:
    """`data / sqrt(mean of squares + epsilon) * gamma` over the dimensions `axis`."""
    over, wide = normalized(axis, len(data.shape)), widened(data)
    scale = rsqrt(add(mean(multiply(wide, wide), over, keepdims=True), epsilon))
    return narrowed(_scaled(multiply(wide, scale), gamma, None, over), data.dtype)


def instance_norm(
    data: Tensor, gamma: Tensor | None = None, beta: Tensor | None = None, epsilon: float = 1e-5
) -> Tensor:
    """Each channel of each image on its own: data is (batch, channel, ...)."""
    over = list(range(2, len(data.shape)))
    normal = layer_norm(widened(data), None, None, over, epsilon)
    return narrowed(_scaled(normal, gamma, beta, [1]), data.dtype)


def group_norm(
    data: Tensor,
    groups: int,
    gamma: Tensor | None = None,
    beta: Tensor | None = None,
    epsilon: float = 1e-5,
) -> Tensor:
    """Groups of channels of each image on their own: data is (batch, channel, ...).

    Raises
    ------
    ShapeError
        If the channels cannot be divided into so many groups.
    """
    channels = const_int(data.shape[1])
    if channels is None or channels % groups:
        raise ShapeError(f"{data.shape[1]} channels cannot be divided into {groups} groups")
    parts = (data.shape[0], groups, channels // groups, *data.shape[2:])
    divided = reshape(widened(data), parts)
    over = list(range(2, len(parts)))
    normal = reshape(layer_norm(divided, None, None, over, epsilon), data.shape)
    return narrowed(_scaled(normal, gamma, beta, [1]), data.dtype)


def _scaled(data: Tensor, gamma: Tensor | None, beta: Tensor | None, over: Sequence[int]) -> Tensor:
    """Data times gamma plus beta, which have the dimensions `over`."""
    if gamma is None and beta is None:
        return data

    def value(*indices: Any) -> Expr:
        at = tuple(indices[d] for d in over)
        scaled = data[indices]
        if gamma is not None:
            scaled = scaled * te.cast(gamma[at], data.dtype)
        return scaled if beta is None else scaled + te.cast(beta[at], data.dtype)

    return te.compute(data.shape, value, name="scaled", tag=BROADCAST)


def _count(a: Tensor, over: Sequence[int]) -> float:
    """How many elements are reduced.

    Raises
    ------
    ShapeError
        If that is known only at run time.
    """
    count = 1.0
    for d in over:
        size = const_int(a.shape[d])
        if size is None:
            raise ShapeError(f"the size of dimension {d} must be known for a mean over it")
        count *= size
    return count
