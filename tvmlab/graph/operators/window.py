"""Windows that move over an image of any number of dimensions: convolutions and pooling.

Images are (batch, channel, *spatial); filters (out, in / groups, *spatial), or for transposed
convolutions (in, out / groups, *spatial). Pads are all those before, then all those after.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from tvmlab.graph.dims import Dim
from tvmlab.graph.types import TensorType
from tvmlab.support import INT32, INT64, OptionError, ShapeError

from .registry import Array, Attr, Attrs, Call, need, operator, same_dtype

_WINDOW: dict[str, Any] = {"strides": Attr("ints"), "pads": Attr("ints"), "dilations": Attr("ints")}


def checked_window(attrs: Attrs, kernel: Sequence[int]) -> None:
    """Refuse strides, pads and dilations that do not fit to the number of dimensions.

    Raises
    ------
    OptionError
        It names the attribute.
    """
    rank = len(kernel)
    for name, count, least in (("strides", rank, 1), ("dilations", rank, 1), ("pads", 2 * rank, 0)):
        values = attrs.ints(name)
        if len(values) != count or any(v < least for v in values):
            raise OptionError(f"{name} is {list(values)}: it needs {count} numbers of at least "
                              f"{least}")  # fmt: skip


def window_places(attrs: Attrs, sizes: Sequence[Dim], kernel: Sequence[int]) -> list[Dim]:
    """How many places a window has along each dimension."""
    checked_window(attrs, kernel)
    strides, pads, dilations = (attrs.ints(n) for n in ("strides", "pads", "dilations"))
    rank, found = len(kernel), list[Dim]()
    for d, size in enumerate(sizes):
        reach = (kernel[d] - 1) * dilations[d] + 1
        room = size + pads[d] + pads[d + rank] - reach
        if kernel[d] < 1 or (isinstance(room, int) and room < 0):
            raise ShapeError(f"a window of {reach} does not fit into {room + reach} in spatial "
                             f"dimension {d}")  # fmt: skip
        extra = strides[d] - 1 if "ceil" in attrs and attrs.flag("ceil") else 0
        count = (room + extra) // strides[d] + 1
        if extra and isinstance(count, int) and isinstance(size, int):
            # A window that would begin in the margin behind the image is left out.
            count -= (count - 1) * strides[d] >= size + pads[d]
        found.append(count)
    return found


def _filter(call: Call, at: int = 1) -> tuple[int, ...]:
    image, weight = call[0], call[at]
    if image.rank < 3 or weight.rank != image.rank:
        raise ShapeError(f"an image (batch, channel, ...) and filters of as many dimensions are "
                         f"needed, not {image} and {weight}")  # fmt: skip
    return weight.with_shape(weight.shape[2:]).sizes


def _conv_type(call: Call) -> TensorType:
    dtype = same_dtype([t for t in call.types if t is not None])
    need(call[0], "number")
    return TensorType.of(dtype, _conv_shape(call))


def _conv_shape(call: Call) -> list[Dim]:
    kernel, groups = _filter(call), call.attrs.int("groups")
    channels, out, inner = call[0].shape[1], call[1].shape[0], call[1].shape[1]
    if groups < 1 or inner * groups != channels:
        raise OptionError(f"groups is {groups}: filters over {inner} channels each do not add up "
                          f"to {channels}")  # fmt: skip
    if isinstance(out, int) and out % groups:
        raise OptionError(f"groups is {groups}, which does not divide {out} filters")
    bias = call.get(2)
    if bias is not None and bias.shape != (out,):
        raise ShapeError(f"the bias is {bias}, but there are {out} filters")
    return [call[0].shape[0], out, *window_places(call.attrs, call[0].shape[2:], kernel)]


def _windows(x: Array, attrs: Attrs, kernel: Sequence[int], fill: Any) -> tuple[Array, list[int]]:
    """All windows of the padded image: (batch, channel, *places, *kernel)."""
    rank = len(kernel)
    places = [int(p) for p in window_places(attrs, x.shape[2:], kernel)]  # type: ignore[arg-type]
    strides, pads, dilations = (attrs.ints(n) for n in ("strides", "pads", "dilations"))
    width: list[tuple[int, int]] = [(0, 0), (0, 0)]
    for d in range(rank):
        reach = (places[d] - 1) * strides[d] + (kernel[d] - 1) * dilations[d] + 1
        width.append((pads[d], max(reach - x.shape[2 + d] - pads[d], 0)))
    padded = np.pad(x, width, constant_values=fill)
    index: list[Any] = [slice(None), slice(None)]
    for d in range(rank):
        grid = np.arange(places[d])[:, None] * strides[d] + np.arange(kernel[d]) * dilations[d]
        shape = [1] * (2 * rank)
        shape[d], shape[rank + d] = grid.shape
        index.append(grid.reshape(shape))
    return padded[tuple(index)], places


def _conv(attrs: Attrs, x: Array, w: Array, bias: Array | None = None) -> Array:
    wide = np.float32 if x.dtype.itemsize == 2 and x.dtype.kind not in "iu" else x.dtype
    result = _convolved(attrs, x.astype(wide), w.astype(wide))
    if bias is not None:
        result = result + bias.astype(wide).reshape(-1, *[1] * (x.ndim - 2))
    return result.astype(x.dtype)


def _convolved(attrs: Attrs, x: Array, w: Array) -> Array:
    groups, rank = attrs.int("groups"), x.ndim - 2
    windows, places = _windows(x, attrs, w.shape[2:], 0)
    batch, out, inner = x.shape[0], w.shape[0], w.shape[1]
    count, reach = math.prod(places), math.prod(w.shape[2:])
    per = windows.reshape(batch, groups, inner, count, reach)
    filters = w.reshape(groups, out // groups, inner, reach)
    made = np.einsum("bgcpk,gock->bgop", per, filters, optimize=rank > 1)
    return np.asarray(made).reshape(batch, out, *places)


def _integer_conv_type(call: Call) -> TensorType:
    need(call[0], "int")
    need(call[1], "int")
    return TensorType.of(INT32, _conv_shape(call))


def _integer_conv(attrs: Attrs, x: Array, w: Array) -> Array:
    return _convolved(attrs, x.astype(np.int32), w.astype(np.int32))


operator("conv", _conv_type, _conv, "complex", inputs=(2, 3), groups=Attr("int", 1), **_WINDOW)
operator("conv_integer", _integer_conv_type, _integer_conv, "complex", inputs=2,
         groups=Attr("int", 1), **_WINDOW)  # fmt: skip


def transposed_sizes(attrs: Attrs, sizes: Sequence[Dim], kernel: Sequence[int]) -> list[Dim]:
    """The sizes of an image that is spread out by a transposed convolution."""
    checked_window(attrs, kernel)
    strides, pads, dilations = (attrs.ints(n) for n in ("strides", "pads", "dilations"))
    extra, rank = attrs.ints("output_padding"), len(kernel)
    if len(extra) != rank:
        raise OptionError(f"output_padding is {list(extra)}: it needs {rank} numbers")
    found = list[Dim]()
    for d, s in enumerate(sizes):
        whole = (s - 1) * strides[d] + (kernel[d] - 1) * dilations[d] + 1 + extra[d]
        size = whole - pads[d] - pads[d + rank]
        if isinstance(size, int) and size < 1:
            raise ShapeError(f"pads {list(pads)} leave nothing of {whole} in dimension {d}")
        found.append(size)
    return found


def _transposed_type(call: Call) -> TensorType:
    need(call[0], "float")
    dtype = same_dtype([t for t in call.types if t is not None])
    kernel, groups = _filter(call), call.attrs.int("groups")
    if call[0].shape[1] != call[1].shape[0] or groups < 1:
        raise ShapeError(f"the image has {call[0].shape[1]} channels, the filters "
                         f"{call[1].shape[0]}")  # fmt: skip
    sizes = transposed_sizes(call.attrs, call[0].shape[2:], kernel)
    return TensorType.of(dtype, [call[0].shape[0], call[1].shape[1] * groups, *sizes])


def _transposed(attrs: Attrs, x: Array, w: Array, bias: Array | None = None) -> Array:
    groups, rank = attrs.int("groups"), x.ndim - 2
    strides, pads, dilations = (attrs.ints(n) for n in ("strides", "pads", "dilations"))
    sizes = [int(s) for s in transposed_sizes(attrs, x.shape[2:], w.shape[2:])]  # type: ignore[arg-type]
    batch, channels, out = x.shape[0], x.shape[1], w.shape[1]
    whole = [s + pads[d] + pads[d + rank] for d, s in enumerate(sizes)]
    total = np.zeros((batch, groups, out, *whole), x.dtype)
    per = x.reshape(batch, groups, channels // groups, *x.shape[2:])
    filters = w.reshape(groups, channels // groups, out, *w.shape[2:])
    for place in itertools.product(*(range(k) for k in w.shape[2:])):
        part = np.einsum("bgc...,gco->bgo...", per, filters[(..., *place)])
        target = tuple(
            slice(p * dilations[d], p * dilations[d] + (x.shape[2 + d] - 1) * strides[d] + 1,
                  strides[d])
            for d, p in enumerate(place)
        )  # fmt: skip
        total[(slice(None), slice(None), slice(None), *target)] += part
    inner = tuple(slice(pads[d], pads[d] + s) for d, s in enumerate(sizes))
    made = total[(slice(None), slice(None), slice(None), *inner)].reshape(batch, -1, *sizes)
    return made if bias is None else made + bias.reshape(-1, *[1] * rank)


operator("conv_transpose", _transposed_type, _transposed, "complex", inputs=(2, 3),
         groups=Attr("int", 1), output_padding=Attr("ints"), **_WINDOW)  # fmt: skip


def _pool_type(call: Call) -> TensorType:
    need(call[0], "number")
    kernel = call.attrs.ints("kernel")
    if call[0].rank != len(kernel) + 2:
        raise OptionError(f"kernel is {list(kernel)}, but the image is {call[0]}")
    places = window_places(call.attrs, call[0].shape[2:], kernel)
    return call[0].with_shape([*call[0].shape[:2], *places])


def _max_pool(attrs: Attrs, x: Array) -> Array:
    fill = np.iinfo(x.dtype).min if x.dtype.kind in "iu" else -np.inf
    windows, _ = _windows(x, attrs, attrs.ints("kernel"), fill)
    return windows.max(axis=tuple(range(x.ndim, windows.ndim)))


def _indices_type(call: Call) -> TensorType:
    return _pool_type(call).with_dtype(INT64)


def _max_pool_indices(attrs: Attrs, x: Array) -> Array:
    kernel = attrs.ints("kernel")
    windows, _ = _windows(x, attrs, kernel, -np.inf if x.dtype.kind == "f" else 0)
    flat: Array = np.reshape(np.arange(x.size), x.shape)
    order = "F" if attrs.flag("column_major") else "C"
    if order == "F":
        spatial = math.prod(x.shape[2:])
        inner: Array = np.reshape(np.arange(spatial), x.shape[2:], order="F")
        shape = (*x.shape[:2], *[1] * (x.ndim - 2))
        images: Any = np.arange(x.shape[0] * x.shape[1], dtype=np.int64).reshape(shape)
        flat = images * spatial + inner
    places, _ = _windows(flat, attrs, kernel, 0)
    shape = windows.shape[: x.ndim]
    best = windows.reshape(*shape, -1).argmax(-1)[..., None]
    return np.take_along_axis(places.reshape(*shape, -1), best, -1)[..., 0].astype(np.int64)


def _avg_pool(attrs: Attrs, x: Array) -> Array:
    kernel = attrs.ints("kernel")
    over = tuple(range(x.ndim, x.ndim + len(kernel)))
    windows, _ = _windows(x.astype(np.float64), attrs, kernel, 0)
    ones = np.ones((1, 1, *x.shape[2:]))
    if attrs.flag("count_include_pad"):
        pads, rank = attrs.ints("pads"), len(kernel)
        ones = np.pad(ones, [(0, 0), (0, 0), *((pads[d], pads[d + rank]) for d in range(rank))],
                      constant_values=1)  # fmt: skip
        values = {n: attrs.ints(n) for n in ("strides", "dilations", "kernel")}
        inner = Attrs({**values, "pads": (0,) * 2 * rank, "ceil": attrs.flag("ceil")})
        counts = _places_of(ones, inner, kernel, windows.shape[2 : x.ndim])
    else:
        counts = _windows(ones, attrs, kernel, 0)[0]
    return (windows.sum(over) / counts.sum(over)).astype(x.dtype)


def _places_of(ones: Array, attrs: Attrs, kernel: Sequence[int], places: Sequence[int]) -> Array:
    """Windows of the mask of what counts, at exactly so many places."""
    strides, dilations = attrs.ints("strides"), attrs.ints("dilations")
    width = [(0, 0), (0, 0)]
    for d, count in enumerate(places):
        reach = (count - 1) * strides[d] + (kernel[d] - 1) * dilations[d] + 1
        width.append((0, max(0, reach - ones.shape[2 + d])))
    grown = np.pad(ones, width)
    plain = Attrs({"strides": strides, "dilations": dilations, "pads": (0,) * 2 * len(kernel)})
    found = _windows(grown, plain, kernel, 0)[0]
    return found[(slice(None), slice(None), *(slice(0, p) for p in places))]


_POOL: dict[str, Any] = {**_WINDOW, "kernel": Attr("ints"), "ceil": Attr("flag", False)}
operator("max_pool", _pool_type, _max_pool, "reduction", **_POOL)
operator(
    "max_pool_indices",
    _indices_type,
    _max_pool_indices,
    "opaque",
    column_major=Attr("flag", False),
    **_POOL,
)
operator("avg_pool", _pool_type, _avg_pool, "reduction",
         count_include_pad=Attr("flag", False), **_POOL)  # fmt: skip
