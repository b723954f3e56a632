"""Converters of what moves elements, and of constants and shapes."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from tvmlab.graph.dims import Dim, Sym, product
from tvmlab.graph.operators import axes_of, axis_of

from .counting import counted_places
from .proto import TensorProto, tensor_array
from .registry import Site, onnx_op

_MOST_FILLED = 1 << 20
"""Elements of a constant that is kept as an array; larger ones are filled when the model runs."""


@onnx_op("Constant")
def _constant(site: Site) -> str:
    attrs = site.attrs
    if isinstance(attrs.get("value"), TensorProto):
        return site.param(tensor_array(attrs["value"], None), site.node.output[0])
    for name, dtype in (("value_float", "float32"), ("value_floats", "float32"),
                        ("value_int", "int64"), ("value_ints", "int64")):  # fmt: skip
        if name in attrs:
            return site.param(np.array(attrs[name], dtype), site.node.output[0])
    raise site.error("a constant of this kind is not supported",
                     hint="supported are tensors, floats and ints")  # fmt: skip


@onnx_op("ConstantOfShape")
def _constant_of_shape(site: Site) -> str:
    shape = site.ints(0, "the shape")
    value = tensor_array(site.attrs["value"], None) if "value" in site.attrs else np.zeros(1, "f4")
    if any(s < 0 for s in shape) or value.size != 1:
        raise site.error(f"the shape is {list(shape)}, the value {value}")
    if math.prod(shape) <= _MOST_FILLED:
        return site.param(np.full(shape, value.reshape(())))
    return site.add("full", shape=shape, value=float(value.reshape(())), dtype=value.dtype.name)


@onnx_op("Shape")
def _shape(site: Site) -> str:
    sizes = site.type().shape
    return site.param(np.array(sizes[shape_slice(site, len(sizes))], np.int64))


def shape_slice(site: Site, rank: int) -> slice:
    """The dimensions that a Shape node asks for."""
    return slice(site.attr("start", 0), site.attr("end", rank))


@onnx_op("Size")
def _size(site: Site) -> str:
    return site.param(np.array(product(site.type().shape), np.int64))


@onnx_op("Reshape")
def _reshape(site: Site) -> str:
    sizes = site.sizes.get(1)
    given = site.ints_of("shape", 1, "the shape") if sizes is None else sizes.reshape(-1).tolist()
    if given is None:
        raise site.error("the shape is missing")
    return site.reshape(site[0], reshaped(site, given))


def reshaped(site: Site, given: Sequence[Dim]) -> list[Dim]:
    """A shape in which 0 means the size that was there, and -1 the rest."""
    old = site.type().shape
    sizes: list[Dim] = []
    for place, size in enumerate(given):
        if size == 0 and not site.attrs.get("allowzero"):
            if place >= len(old):
                raise site.error(f"the shape {list(given)} keeps dimension {place}, but there are "
                                 f"{len(old)}")  # fmt: skip
            sizes.append(old[place])
        else:
            sizes.append(size)
    if -1 in sizes:
        rest, whole = product(s for s in sizes if s != -1), product(old)
        if rest == 0:
            raise site.error(f"the shape {list(given)} leaves no size for -1")
        sizes[sizes.index(-1)] = whole // rest
    if any(isinstance(s, int) and s < 0 for s in sizes):
        raise site.error(f"the shape is {list(given)}")
    return sizes


@onnx_op("Flatten")
def _flatten(site: Site) -> str:
    axis = site.attr("axis", 1)
    axis = axis + site.rank if axis < 0 else axis
    shape = site.type().shape
    return site.reshape(site[0], [product(shape[:axis]), product(shape[axis:])])


@onnx_op("Squeeze")
def _squeeze(site: Site) -> str:
    shape, given = site.type().shape, site.ints_of("axes", 1, "the axes")
    axes = (
        [d for d, s in enumerate(shape) if s == 1] if given is None else axes_of(given, site.rank)
    )
    wrong = [d for d in axes if shape[d] != 1]
    if wrong:
        raise site.error(f"axes has {wrong[0]}, but that dimension is of size {shape[wrong[0]]}")
    return site.reshape(site[0], [s for d, s in enumerate(shape) if d not in axes])


@onnx_op("Unsqueeze")
def _unsqueeze(site: Site) -> str:
    given = site.ints_of("axes", 1, "the axes") or ()
    axes = axes_of(given, site.rank + len(given))
    rest = iter(site.type().shape)
    return site.reshape(site[0], [1 if d in axes else next(rest)
                                  for d in range(site.rank + len(axes))])  # fmt: skip


@onnx_op("Transpose")
def _transpose(site: Site) -> str:
    return site.add("transpose", site[0], perm=site.attr("perm", tuple(range(site.rank))[::-1]))


@onnx_op("Concat")
def _concat(site: Site) -> str:
    return site.add("concat", *site.inputs, axis=site.attr("axis", 1 if site.opset < 4 else None))


@onnx_op("Split")
def _split(site: Site) -> list[str]:
    axis = axis_of(site.attr("axis", 0), site.rank)
    sizes, whole = site.ints_of("split", 1, "the sizes"), site.type().shape[axis]
    count = len(site.node.output)
    if sizes is None:
        if isinstance(whole, Sym):
            raise site.error(f"a dimension of unknown size {whole} cannot be split")
        part = -(-whole // int(site.attr("num_outputs", count)))
        sizes = tuple(max(0, min(part, whole - part * n)) for n in range(count))
    return site.add_several("split", [site[0]], count, {"axis": axis, "sizes": sizes})


@onnx_op("Slice")
def _slice(site: Site) -> str:
    if "starts" in site.attrs:
        starts, ends = site.attrs["starts"], site.attr("ends", ())
        axes, steps = site.attrs.get("axes"), None
    elif (moving := _moving_slice(site)) is not None:
        return moving
    else:
        starts, ends = site.ints(1, "the starts"), site.ints(2, "the ends")
        axes = site.ints(3, "the axes") if site.has(3) else None
        steps = site.ints(4, "the steps") if site.has(4) else None
    return site.add("slice", site[0], starts=tuple(starts), ends=tuple(ends),
                    axes=tuple(range(len(starts)) if axes is None else axes),
                    steps=tuple(steps or [1] * len(starts)))  # fmt: skip


def _moving_slice(site: Site) -> str | None:
    """A slice between places that a loop counts up, if it is one."""
    ones = site.known(4) if site.has(4) else np.array(1)
    axis = site.known(3)
    if site.known(1) is not None or axis is None or axis.size != 1 or ones is None or ones != 1:
        return None
    places = counted_places(site, 1, 2)
    if places is None:
        return None
    return site.add("gather", site[0], places.name, axis=int(axis.reshape(())))


@onnx_op("Pad")
def _pad(site: Site) -> str:
    given = site.attrs.get("paddings") or site.ints_of("pads", 1, "the pads") or ()
    mode = site.attr("mode", "constant")
    value = float(site.attrs.get("value", 0.0))
    if site.has(2):
        value = float(site.constant(2, "the value of the margin").reshape(()))
    pads, rank = tuple(int(p) for p in given), site.rank
    if site.has(3):
        axes = axes_of(site.ints(3, "the axes"), rank)
        spread = [0] * (2 * rank)
        for place, axis in enumerate(axes):
            spread[axis], spread[axis + rank] = pads[place], pads[place + len(axes)]
        pads = tuple(spread)
    return site.add("pad", site[0], pads=pads, mode=mode, value=value)


@onnx_op("Tile")
def _tile(site: Site) -> str:
    return site.add("tile", site[0], repeats=site.ints(1, "how often to repeat"))


@onnx_op("Expand")
def _expand(site: Site) -> str:
    return site.add("expand", site[0], shape=site.ints(1, "the shape"))


@onnx_op("Range")
def _range(site: Site) -> str:
    step = site.known(2)
    if step is not None and step == 1 and site.known(0) is None:
        places = counted_places(site, 0, 1)
        if places is not None:
            return places.name
    start, limit, step = (site.constant(n, w).reshape(()) for n, w in
                          ((0, "the start"), (1, "the limit"), (2, "the step")))  # fmt: skip
    if step == 0 or abs((float(limit) - float(start)) / float(step)) > 1 << 24:
        raise site.error(f"a range from {start} to {limit} by {step} is too long")
    return site.param(np.arange(start.item(), limit.item(), step.item(), dtype=start.dtype))


@onnx_op("EyeLike")
def _eye(site: Site) -> str:
    rows, columns = site.type().sizes
    to = site.element_type("dtype").numpy if "dtype" in site.attrs else site.type().dtype.numpy
    return site.param(np.eye(rows, columns, site.attr("k", 0)).astype(to))


@onnx_op("Trilu")
def _trilu(site: Site) -> str:
    k = int(site.constant(1, "the diagonal").reshape(())) if site.has(1) else 0
    return site.add("trilu", site[0], upper=bool(site.attr("upper", 1)), k=k)


@onnx_op("ReverseSequence")
def _reverse_sequence(site: Site) -> str:
    return site.add("reverse_sequence", site[0], site[1], batch_axis=site.attr("batch_axis", 1),
                    time_axis=site.attr("time_axis", 0))  # fmt: skip


@onnx_op("DepthToSpace")
def _depth_to_space(site: Site) -> str:
    n, c, h, w = site.type().shape
    b = int(site.attr("blocksize"))
    inner = c // (b * b)
    if site.attr("mode", "DCR") == "DCR":
        shape, order = [n, b, b, inner, h, w], (0, 3, 4, 1, 5, 2)
    else:
        shape, order = [n, inner, b, b, h, w], (0, 1, 4, 2, 5, 3)
    moved = site.add("transpose", site.reshape(site[0], shape), perm=order)
    return site.reshape(moved, [n, inner, h * b, w * b])


@onnx_op("SpaceToDepth")
def _space_to_depth(site: Site) -> str:
    n, c, h, w = site.type().shape
    b = int(site.attr("blocksize"))
    shape = [n, c, h // b, b, w // b, b]
    order = (0, 3, 5, 1, 2, 4) if site.attr("mode", "DCR") == "DCR" else (0, 1, 3, 5, 2, 4)
    moved = site.add("transpose", site.reshape(site[0], shape), perm=order)
    return site.reshape(moved, [n, c * b * b, h // b, w // b])
