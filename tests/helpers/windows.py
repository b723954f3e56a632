"""Convolutions and pooling in NumPy, the slow obvious way, in double precision."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


def random(shape: Sequence[int], seed: int, dtype: str = "float32") -> Array:
    return np.random.default_rng(seed).standard_normal(tuple(shape)).astype(dtype)


def windows(
    x: Array,
    kernel: Sequence[int],
    stride: Sequence[int],
    dilation: Sequence[int],
    pads: Sequence[tuple[int, int]],
    fill: float = 0.0,
) -> Array:
    """All windows of NC... data: (batch, channels, places..., kernel...)."""
    padded = np.pad(x.astype("float64"), [(0, 0), (0, 0), *pads], constant_values=fill)
    reach = [(k - 1) * d + 1 for k, d in zip(kernel, dilation, strict=True)]
    axes = tuple(range(2, x.ndim))
    found = np.lib.stride_tricks.sliding_window_view(padded, reach, axes)
    places = tuple(slice(None, None, s) for s in stride)
    inside = tuple(slice(None, None, d) for d in dilation)
    return found[(slice(None), slice(None), *places, *inside)]


def convolution(
    x: Array,
    w: Array,
    stride: Sequence[int],
    dilation: Sequence[int],
    pads: Sequence[tuple[int, int]],
    groups: int = 1,
) -> Array:
    """NC... data by OI... filters."""
    rank = x.ndim - 2
    found = windows(x, w.shape[2:], stride, dilation, pads)
    per_in, per_out = x.shape[1] // groups, w.shape[0] // groups
    parts: list[Array] = []
    for g in range(groups):
        part = found[:, g * per_in : (g + 1) * per_in]
        filters = w[g * per_out : (g + 1) * per_out].astype("float64")
        over = list(range(2 + rank, 2 + 2 * rank))
        summed = np.tensordot(part, filters, axes=([1, *over], list(range(1, 2 + rank))))
        parts.append(np.moveaxis(summed, -1, 1))
    return np.concatenate(parts, axis=1)


def pooling(
    x: Array,
    kernel: Sequence[int],
    stride: Sequence[int],
    dilation: Sequence[int],
    pads: Sequence[tuple[int, int]],
    kind: str,
    places: Sequence[int],
    count_include_pad: bool,
) -> Array:
    """Windows of NC... data one after another; those outside of the margins are cut."""
    out = np.empty((*x.shape[:2], *places))
    for at in product(*(range(p) for p in places)):
        values: list[Array] = []
        count = 0
        for tap in product(*(range(k) for k in kernel)):
            place = [
                a * s + t * d - before
                for a, s, t, d, (before, _) in zip(at, stride, tap, dilation, pads, strict=True)
            ]
            inside = all(0 <= p < n for p, n in zip(place, x.shape[2:], strict=True))
            near = all(
                -b <= p < n + a for p, n, (b, a) in zip(place, x.shape[2:], pads, strict=True)
            )
            if inside:
                values.append(x[(slice(None), slice(None), *place)].astype("float64"))
            count += near if count_include_pad else inside
        if kind == "max":
            empty = np.full(x.shape[:2], float(np.finfo(x.dtype).min))
            out[(slice(None), slice(None), *at)] = np.max(values, axis=0) if values else empty
        else:
            total = np.sum(values, axis=0) if values else 0.0
            out[(slice(None), slice(None), *at)] = total / max(count, 1)
    return out


def transposed(
    x: Array,
    w: Array,
    stride: Sequence[int],
    dilation: Sequence[int],
    pads: Sequence[tuple[int, int]],
    more: Sequence[int],
    groups: int = 1,
) -> Array:
    """Each element of NC... data spreads over a window; filters are IO..., margins are cut off."""
    per_in, per_out = x.shape[1] // groups, w.shape[1]
    full = [
        (n - 1) * s + (k - 1) * d + 1 + m
        for n, k, s, d, m in zip(x.shape[2:], w.shape[2:], stride, dilation, more, strict=True)
    ]
    out = np.zeros((x.shape[0], groups * per_out, *full))
    for tap in product(*(range(k) for k in w.shape[2:])):
        for g in range(groups):
            part = x[:, g * per_in : (g + 1) * per_in].astype("float64")
            filters = w[(slice(g * per_in, (g + 1) * per_in), slice(None), *tap)]
            spread = np.moveaxis(np.tensordot(part, filters, axes=([1], [0])), -1, 1)
            places = tuple(
                slice(t * d, t * d + (n - 1) * s + 1, s)
                for t, d, n, s in zip(tap, dilation, x.shape[2:], stride, strict=True)
            )
            out[(slice(None), slice(g * per_out, (g + 1) * per_out), *places)] += spread
    kept = [slice(b, n - a) for n, (b, a) in zip(full, pads, strict=True)]
    return out[(slice(None), slice(None), *kept)]
