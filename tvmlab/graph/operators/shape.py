"""The same elements in another arrangement: reshape, transpose, concat, split, slice, pad, tile."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tvmlab.graph.dims import Dim, Sym, product
from tvmlab.graph.types import TensorType, shape_text
from tvmlab.support import OptionError, ShapeError

from .elementwise import broadcast_shapes, with_attrs
from .registry import Array, Attr, Attrs, Call, axes_of, axis_of, operator, same_dtype


def _reshape_type(call: Call) -> TensorType:
    """In `shape`, -1 stands once for what is left."""
    given = call.attrs.ints("shape")
    if any(s < -1 for s in given) or given.count(-1) > 1:
        raise OptionError(f"shape is {list(given)}: sizes are positive, and at most one is -1")
    total, known = product(call[0].shape), math.prod(s for s in given if s != -1)
    shape: list[Dim] = list(given)
    if -1 in given:
        shape[given.index(-1)] = total // known if known else 0
    if product(shape) != total:
        raise ShapeError(f"{call[0]} has {total} elements, which do not fit into the shape "
                         f"{list(given)}")  # fmt: skip
    return call[0].with_shape(shape)


def _transpose_type(call: Call) -> TensorType:
    order = call.attrs.ints("perm")
    if sorted(order) != list(range(call[0].rank)):
        raise OptionError(f"perm is {list(order)}, no order of {call[0].rank} dimension(s)")
    return call[0].with_shape(call[0].shape[d] for d in order)


def _concat_type(call: Call) -> TensorType:
    first = call[0]
    same_dtype(call.given)
    axis = axis_of(call.attrs.int("axis"), first.rank)
    total: Dim = 0
    for number, other in enumerate(call.given):
        rest = [s for d, s in enumerate(other.shape) if d != axis]
        if other.rank != first.rank or rest != [s for d, s in enumerate(first.shape) if d != axis]:
            raise ShapeError(f"input {number} does not fit to input 0 beside axis {axis}")
        total = total + other.shape[axis]
    return first.with_shape(total if d == axis else s for d, s in enumerate(first.shape))


def _concat(attrs: Attrs, *arrays: Array) -> Array:
    return np.concatenate(arrays, attrs.int("axis"))


def _split_type(call: Call) -> list[TensorType]:
    axis = axis_of(call.attrs.int("axis"), call[0].rank)
    sizes, whole = call.attrs.ints("sizes"), call[0].shape[axis]
    if any(s < 0 for s in sizes) or (isinstance(whole, int) and sum(sizes) != whole):
        raise OptionError(f"sizes are {list(sizes)}, which do not add up to {whole}")
    return [
        call[0].with_shape(size if d == axis else s for d, s in enumerate(call[0].shape))
        for size in sizes
    ]


def _split(attrs: Attrs, x: Array) -> tuple[Array, ...]:
    ends = np.cumsum(attrs.ints("sizes"))[:-1]
    return tuple(np.split(x, ends, attrs.int("axis")))


def slice_bounds(attrs: Attrs, shape: tuple[Dim, ...]) -> list[tuple[int, int, int]]:
    """Start, step and number of elements for each dimension.

    Ends before the first element, for steps backwards, are -1 after clamping.
    """
    axes = axes_of(attrs.ints("axes"), len(shape))
    starts, ends, steps = attrs.ints("starts"), attrs.ints("ends"), attrs.ints("steps")
    if not len(axes) == len(starts) == len(ends) == len(steps):
        raise OptionError("starts, ends, axes and steps must have equal lengths")
    found: list[Any] = [(0, 1, size) for size in shape]
    for axis, start, end, step in zip(axes, starts, ends, steps, strict=True):
        size = shape[axis]
        if step == 0:
            raise OptionError("a step of 0 goes nowhere")
        if isinstance(size, Sym):
            found[axis] = _symbolic_bounds(size, start, end, step)
            continue
        first, last = (s + size if s < 0 else s for s in (start, end))
        if step > 0:
            first, last = min(max(first, 0), size), min(max(last, 0), size)
            found[axis] = (first, step, max(0, -(-(last - first) // step)))
        else:
            first, last = min(max(first, 0), size - 1), min(max(last, -1), size - 1)
            found[axis] = (first, step, max(0, -(-(first - last) // -step)))
    return found


def _symbolic_bounds(size: Sym, start: int, end: int, step: int) -> tuple[Any, int, Any]:
    """Of a size that is not known: its first or last elements, which are taken to exist."""
    if step != 1 or start < 0 <= end:
        raise ShapeError(f"a slice [{start}:{end}:{step}] of an unknown size {size}",
                         hint="give the model's inputs a size")  # fmt: skip
    first: Any = start if start >= 0 else size + start
    last: Any = size if end >= 1 << 31 else size + end if end < 0 else end
    return first, 1, last - first


def _slice_type(call: Call) -> TensorType:
    return call[0].with_shape(n for _, _, n in slice_bounds(call.attrs, call[0].shape))


def _slice(attrs: Attrs, x: Array) -> Array:
    for axis, (first, step, count) in enumerate(slice_bounds(attrs, x.shape)):
        x = np.take(x, first + step * np.arange(count), axis)
    return x


def _pad_type(call: Call) -> TensorType:
    pads, rank = call.attrs.ints("pads"), call[0].rank
    if len(pads) != 2 * rank:
        raise OptionError(f"pads has {len(pads)} numbers, not two for each of {rank} dimension(s)")
    shape = [s + pads[d] + pads[d + rank] for d, s in enumerate(call[0].shape)]
    mode = call.attrs.text("mode")
    for d, size in enumerate(call[0].shape):
        most = max(pads[d], pads[d + rank])
        if mode == "reflect" and isinstance(size, int) and most >= max(size, 1) and most > 0:
            raise OptionError(f"pads has {most}, but only {max(size - 1, 0)} can be reflected")
    return call[0].with_shape(shape)


def _pad(attrs: Attrs, x: Array) -> Array:
    pads, mode = attrs.ints("pads"), attrs.text("mode")
    for d in range(x.ndim):
        before, after = pads[d], pads[d + x.ndim]
        if before < 0 or after < 0:
            x = np.take(x, range(max(-before, 0), x.shape[d] - max(-after, 0)), d)
    width = [(max(pads[d], 0), max(pads[d + x.ndim], 0)) for d in range(x.ndim)]
    if mode == "constant":
        return np.pad(x, width, constant_values=np.array(attrs.float("value")).astype(x.dtype))
    pad: Any = np.pad  # its types know modes by literal names alone
    return pad(x, width, mode=mode)


def _tile_type(call: Call) -> TensorType:
    repeats = call.attrs.ints("repeats")
    if len(repeats) != call[0].rank or any(r < 0 for r in repeats):
        raise OptionError(f"repeats is {list(repeats)}: it needs one number for each dimension")
    return call[0].with_shape(s * r for s, r in zip(call[0].shape, repeats, strict=True))


def _expand_type(call: Call) -> TensorType:
    shape = call.attrs.ints("shape")
    return call[0].with_shape(broadcast_shapes([call[0].shape, shape]))


def _expand(attrs: Attrs, x: Array) -> Array:
    shape = np.broadcast_shapes(x.shape, attrs.ints("shape"))
    return np.ascontiguousarray(np.broadcast_to(x, shape))


def _trilu(attrs: Attrs, x: Array) -> Array:
    k = attrs.int("k")
    rows, columns = np.indices(x.shape[-2:])
    kept = columns - rows >= k if attrs.flag("upper") else columns - rows <= k
    made: Array = np.where(kept, x, np.zeros((), x.dtype))
    return made


def _trilu_type(call: Call) -> TensorType:
    if call[0].rank < 2:
        raise ShapeError(f"a triangle needs two dimensions, not {shape_text(call[0].shape)}")
    return call[0]


def _reverse_sequence_type(call: Call) -> TensorType:
    batch, time = call.attrs.int("batch_axis"), call.attrs.int("time_axis")
    if {batch, time} != {0, 1} or call[0].rank < 2:
        raise OptionError(f"batch_axis and time_axis are {batch} and {time}, not 0 and 1")
    return call[0]


def _reverse_sequence(attrs: Attrs, x: Array, lengths: Array) -> Array:
    result, time = x.copy(), attrs.int("time_axis")
    for number, length in enumerate(lengths):
        place = (slice(None), number) if time == 0 else (number,)
        result[place] = np.concatenate([x[place][:length][::-1], x[place][length:]])
    return result


operator(
    "reshape",
    _reshape_type,
    with_attrs(lambda a, x: x.reshape(a.ints("shape"))),
    shape=Attr("ints"),
)
operator(
    "transpose",
    _transpose_type,
    with_attrs(lambda a, x: np.ascontiguousarray(x.transpose(a.ints("perm")))),
    perm=Attr("ints"),
)
operator(
    "concat",
    _concat_type,
    _concat,
    inputs=(1, None),
    axis=Attr("int"),
)
operator("split", _split_type, _split, outputs=0, axis=Attr("int", 0), sizes=Attr("ints"))
operator(
    "slice",
    _slice_type,
    _slice,
    starts=Attr("ints"),
    ends=Attr("ints"),
    axes=Attr("ints"),
    steps=Attr("ints"),
)
operator(
    "pad",
    _pad_type,
    _pad,
    pads=Attr("ints"),
    value=Attr("float", 0.0),
    mode=Attr("text", "constant", ("constant", "reflect", "edge", "wrap")),
)
operator(
    "tile", _tile_type, with_attrs(lambda a, x: np.tile(x, a.ints("repeats"))), repeats=Attr("ints")
)
operator("expand", _expand_type, _expand, shape=Attr("ints"))
operator("trilu", _trilu_type, _trilu, upper=Attr("flag", True), k=Attr("int", 0))
operator("reverse_sequence", _reverse_sequence_type, _reverse_sequence, inputs=2,
         batch_axis=Attr("int", 1), time_axis=Attr("int", 0))  # fmt: skip
