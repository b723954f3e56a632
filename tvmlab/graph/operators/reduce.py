"""Sums, extremes and other reductions over dimensions; running sums; places of extremes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tvmlab.graph.dims import Dim
from tvmlab.graph.types import TensorType
from tvmlab.support import INT64

from .registry import Array, Attr, Attrs, Call, axes_of, axis_of, need, operator

AXES = Attr("ints", ())
KEEP = Attr("flag", True)


def reduced_shape(shape: tuple[Dim, ...], axes: tuple[int, ...], keep: bool) -> tuple[Dim, ...]:
    """A shape without some dimensions, or with these of size 1."""
    if keep:
        return tuple(1 if d in axes else s for d, s in enumerate(shape))
    return tuple(s for d, s in enumerate(shape) if d not in axes)


def _infer(call: Call) -> TensorType:
    """Dimensions `axes`, none of which means none; the importer fills in all."""
    need(call[0], "number")
    axes = axes_of(call.attrs.ints("axes"), call[0].rank)
    return call[0].with_shape(reduced_shape(call[0].shape, axes, call.attrs.flag("keepdims")))


def _work(function: Callable[..., Any]) -> Callable[[Attrs, Array], Array]:
    def computed(attrs: Attrs, x: Array) -> Array:
        wide = x.astype(np.float32) if x.dtype.itemsize == 2 and x.dtype.kind not in "iu" else x
        result = function(wide, axis=attrs.ints("axes"), keepdims=attrs.flag("keepdims"))
        return np.asarray(result).astype(x.dtype)

    return computed


def _extreme(function: Any, low: bool) -> Callable[..., Any]:
    def computed(x: Array, axis: tuple[int, ...], keepdims: bool) -> Any:
        if x.dtype.kind in "iu":
            info = np.iinfo(x.dtype)
            start: Any = info.min if low else info.max
        else:
            start = -np.inf if low else np.inf
        return function(x, axis=axis, keepdims=keepdims, initial=start)

    return computed


for _name, _function in {
    "sum": np.sum,
    "prod": np.prod,
    "mean": np.mean,
    "max": _extreme(np.max, low=True),
    "min": _extreme(np.min, low=False),
}.items():
    operator(_name, _infer, _work(_function), "reduction", axes=AXES, keepdims=KEEP)


def _arg_type(call: Call) -> TensorType:
    need(call[0], "number")
    axis = axis_of(call.attrs.int("axis"), call[0].rank)
    shape = reduced_shape(call[0].shape, (axis,), call.attrs.flag("keepdims"))
    return TensorType.of(INT64, shape)


def _arg(function: Any) -> Callable[[Attrs, Array], Array]:
    def computed(attrs: Attrs, x: Array) -> Array:
        axis, keep = axis_of(attrs.int("axis"), x.ndim), attrs.flag("keepdims")
        if not attrs.flag("last"):
            return np.asarray(function(x, axis=axis, keepdims=keep), np.int64)
        place = function(np.flip(x, axis), axis=axis, keepdims=keep)
        return np.asarray(x.shape[axis] - 1 - place, np.int64)

    return computed


for _name, _function in {"argmax": np.argmax, "argmin": np.argmin}.items():
    operator(_name, _arg_type, _arg(_function), "reduction", axis=Attr("int", 0), keepdims=KEEP,
             last=Attr("flag", False))  # fmt: skip


def _cumulative_type(call: Call) -> TensorType:
    need(call[0], "number")
    axis_of(call.attrs.int("axis"), call[0].rank)
    return call[0]


def _cumulative(function: Any, start: int) -> Callable[[Attrs, Array], Array]:
    def computed(attrs: Attrs, x: Array) -> Array:
        axis = axis_of(attrs.int("axis"), x.ndim)
        given = np.flip(x, axis) if attrs.flag("reverse") else x
        result = function(given, axis=axis, dtype=x.dtype)
        if attrs.flag("exclusive"):
            first = np.full_like(np.take(result, [0], axis), start)
            result = np.concatenate([first, np.take(result, range(x.shape[axis] - 1), axis)], axis)
        return np.flip(result, axis) if attrs.flag("reverse") else result

    return computed


for _name, _function, _start in (("cumsum", np.cumsum, 0), ("cumprod", np.cumprod, 1)):
    operator(_name, _cumulative_type, _cumulative(_function, _start), "opaque",
             axis=Attr("int", 0), exclusive=Attr("flag", False),
             reverse=Attr("flag", False))  # fmt: skip
