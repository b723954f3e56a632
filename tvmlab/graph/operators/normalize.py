"""Normalizations: by channel with given figures, or by figures of the data itself."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from tvmlab.graph.dims import Dim
from tvmlab.graph.types import TensorType
from tvmlab.support import OptionError, ShapeError

from .elementwise import broadcast_shapes
from .registry import Array, Attr, Attrs, Call, axis_of, need, operator

_EPSILON = Attr("float", 1e-5)


def _wide(x: Array) -> Array:
    return x.astype(np.float32) if x.dtype.itemsize == 2 else x


def by_channel(x: Array, rank: int) -> Array:
    """A vector over channels, to be stretched over (batch, channel, ...)."""
    return x.reshape(-1, *[1] * (rank - 2))


def _channel_type(call: Call) -> TensorType:
    need(call[0], "float")
    if call[0].rank < 2:
        raise ShapeError(f"{call[0]} has no dimension of channels")
    for number in range(1, len(call.types)):
        other = call.get(number)
        if other is not None and other.shape != (call[0].shape[1],):
            raise ShapeError(
                f"input {number} is {other}, but there are {call[0].shape[1]} channels"
            )
    return call[0]


def _batch_norm(attrs: Attrs, x: Array, scale: Array, bias: Array, mean: Array,
                variance: Array) -> Array:  # fmt: skip
    s, b, m, v = (by_channel(_wide(a), x.ndim) for a in (scale, bias, mean, variance))
    return (((_wide(x) - m) / np.sqrt(v + attrs.float("epsilon"))) * s + b).astype(x.dtype)


operator("batch_norm", _channel_type, _batch_norm, inputs=5, epsilon=_EPSILON)


def _instance_norm(attrs: Attrs, x: Array, scale: Array, bias: Array) -> Array:
    wide, over = _wide(x), tuple(range(2, x.ndim))
    mean, variance = wide.mean(over, keepdims=True), wide.var(over, keepdims=True)
    spread = (wide - mean) / np.sqrt(variance + attrs.float("epsilon"))
    return (spread * by_channel(scale, x.ndim) + by_channel(bias, x.ndim)).astype(x.dtype)


operator("instance_norm", _channel_type, _instance_norm, "reduction", inputs=3, epsilon=_EPSILON)


def _trailing_type(call: Call) -> TensorType:
    need(call[0], "float")
    axis = axis_of(call.attrs.int("axis"), call[0].rank)
    for number in range(1, len(call.types)):
        other = call.get(number)
        if other is not None:
            tail: Sequence[Dim] = call[0].shape[axis:]
            if broadcast_shapes([tail, other.shape]) != tuple(tail):
                raise ShapeError(f"input {number} is {other}, which does not stretch over {tail}")
    return call[0]


def _layer_norm(attrs: Attrs, x: Array, scale: Array | None = None,
                bias: Array | None = None) -> Array:  # fmt: skip
    wide, over = _wide(x), tuple(range(axis_of(attrs.int("axis"), x.ndim), x.ndim))
    mean, variance = wide.mean(over, keepdims=True), wide.var(over, keepdims=True)
    made = (wide - mean) / np.sqrt(variance + attrs.float("epsilon"))
    made = made if scale is None else made * _wide(scale)
    return (made if bias is None else made + _wide(bias)).astype(x.dtype)


def _rms_norm(attrs: Attrs, x: Array, scale: Array | None = None) -> Array:
    wide, over = _wide(x), tuple(range(axis_of(attrs.int("axis"), x.ndim), x.ndim))
    made = wide / np.sqrt((wide * wide).mean(over, keepdims=True) + attrs.float("epsilon"))
    return (made if scale is None else made * _wide(scale)).astype(x.dtype)


operator(
    "layer_norm",
    _trailing_type,
    _layer_norm,
    "reduction",
    inputs=(1, 3),
    axis=Attr("int", -1),
    epsilon=_EPSILON,
)
operator("rms_norm", _trailing_type, _rms_norm, "reduction", inputs=(1, 2),
         axis=Attr("int", -1), epsilon=_EPSILON)  # fmt: skip


def _group_type(call: Call) -> TensorType:
    need(call[0], "float")
    groups, channels = call.attrs.int("groups"), call[0].shape[1]
    if groups < 1 or (isinstance(channels, int) and channels % groups):
        raise OptionError(f"groups is {groups}, which does not divide {channels} channels")
    for number in (1, 2):
        if call[number].shape not in ((channels,), (groups,)):
            raise ShapeError(f"input {number} is {call[number]}, but there are {channels} channels")
    return call[0]


def _group_norm(attrs: Attrs, x: Array, scale: Array, bias: Array) -> Array:
    groups = attrs.int("groups")
    flat = _wide(x).reshape(x.shape[0], groups, -1)
    mean, variance = flat.mean(2, keepdims=True), flat.var(2, keepdims=True)
    spread = (flat - mean) / np.sqrt(variance + attrs.float("epsilon"))
    made = spread.reshape(x.shape)
    each = x.shape[1] // scale.size
    s, b = (by_channel(np.repeat(_wide(a), each), x.ndim) for a in (scale, bias))
    return (made * s + b).astype(x.dtype)


operator("group_norm", _group_type, _group_norm, "reduction", inputs=3, groups=Attr("int"),
         epsilon=_EPSILON)  # fmt: skip


def lrn_window(size: int) -> tuple[int, int]:
    """How many channels before and after count."""
    return math.floor((size - 1) / 2), math.ceil((size - 1) / 2)


def _lrn_type(call: Call) -> TensorType:
    need(call[0], "float")
    if call[0].rank < 3 or call.attrs.int("size") < 1:
        raise ShapeError(f"{call[0]} is no image, or size is below 1")
    return call[0]


def _lrn(attrs: Attrs, x: Array) -> Array:
    before, after = lrn_window(attrs.int("size"))
    square: Any = np.pad(_wide(x) ** 2, [(0, 0), (before, after), *[(0, 0)] * (x.ndim - 2)])
    total = sum(square[:, n : n + x.shape[1]] for n in range(attrs.int("size")))
    share = attrs.float("bias") + attrs.float("alpha") / attrs.int("size") * total
    return np.asarray(x / share ** attrs.float("beta")).astype(x.dtype)


operator("lrn", _lrn_type, _lrn, "reduction", size=Attr("int"), alpha=Attr("float", 1e-4),
         beta=Attr("float", 0.75), bias=Attr("float", 1.0))  # fmt: skip
