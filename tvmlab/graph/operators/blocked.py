"""Operators on images and weights whose layout suits the machine; passes put them in.

Nobody writes them by hand: `passes.layout` replaces convolutions and pooling by those here, and
`passes.packing` matrix products. Weights are packed by operators too, which are computed when the
graph is compiled, because weights are known then.
"""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

import tvmlab.topi as topi
from tvmlab.graph.types import TensorType
from tvmlab.ir import const, const_int
from tvmlab.support import ShapeError
from tvmlab.topi import Layout

from .registry import OPERATORS, Array, Attr, Attrs, Call, operator
from .window import window_places

_WINDOW = {"strides": Attr("ints"), "pads": Attr("ints"), "dilations": Attr("ints")}
_TEXT = Attr("text")


def _sizes(type_: TensorType, layout: Layout) -> dict[str, int]:
    """The size of each dimension of a tensor in a layout, blocks filled up."""
    sizes = layout.sizes([const(s) for s in type_.sizes])
    return {name: const_int(size) or 0 for name, size in sizes.items()}


def _shape(layout: Layout, sizes: dict[str, int]) -> list[int]:
    return [const_int(s) or 0 for s in layout.shape(sizes)]


def _filled(attrs: Attrs) -> dict[str, int]:
    """The sizes of dimensions whose last block is not full."""
    count = attrs.int("channels")
    return {"C": count} if count else {}


def _transform_type(call: Call) -> TensorType:
    source, target = (Layout.of(call.attrs.text(n)) for n in ("source", "target"))
    sizes = _sizes(call[0], source) | _filled(call.attrs)
    return call[0].with_shape(_shape(target, sizes))


def _transform(attrs: Attrs, x: Array) -> Array:
    return topi.pack_array(x, attrs.text("source"), attrs.text("target"), _filled(attrs))


operator("layout_transform", _transform_type, _transform, source=_TEXT, target=_TEXT,
         channels=Attr("int", 0))  # fmt: skip


def _conv_type(call: Call) -> TensorType:
    attrs = call.attrs
    layout, filters, out = (
        Layout.of(attrs.text(n)) for n in ("layout", "kernel_layout", "out_layout")
    )
    image, window = _sizes(call[0], layout), _sizes(call[1], filters)
    if image["C"] != window["I"] * attrs.int("groups"):
        raise ShapeError(f"images have {image['C']} channels, but filters take {window['I']} in "
                         f"each of {attrs.int('groups')} group(s)")  # fmt: skip
    places = window_places(attrs, [image["H"], image["W"]], [window["H"], window["W"]])
    sizes = {"N": image["N"], "C": window["O"], "H": int(places[0]), "W": int(places[1])}  # type: ignore[arg-type]
    return call[0].with_shape(_shape(out, sizes))


def _conv(attrs: Attrs, x: Array, w: Array, bias: Array | None = None) -> Array:
    image = topi.pack_array(x, attrs.text("layout"), "NCHW")
    filters = topi.pack_array(w, attrs.text("kernel_layout"), "OIHW")
    return topi.pack_array(_plain_conv(attrs, image, filters, bias), "NCHW",
                           attrs.text("out_layout"))  # fmt: skip


def _plain_conv(attrs: Attrs, x: Array, w: Array, bias: Array | None) -> Array:
    names = ("strides", "pads", "dilations")
    plain = Attrs({**{n: attrs.ints(n) for n in names}, "groups": attrs.int("groups")})
    return np.asarray(OPERATORS["conv"].evaluate(plain, x, w, bias))


operator("blocked_conv", _conv_type, _conv, "complex", (2, 3), 1, groups=Attr("int", 1),
         layout=_TEXT, kernel_layout=_TEXT, out_layout=_TEXT, **_WINDOW)  # fmt: skip


def _filters_type(call: Call) -> TensorType:
    out, inner, *_ = call[0].sizes
    side, block = call.attrs.int("tile") + 2, call.attrs.int("block")
    return call[0].with_shape(
        [side, side, -(-out // block), -(-inner // block) * block, block]
    )  # fmt: skip


def _filters(attrs: Attrs, w: Array) -> Array:
    return topi.pack_winograd(w, attrs.int("tile"), attrs.int("block"))


operator("winograd_filters", _filters_type, _filters, tile=Attr("int", 4), block=Attr("int", 16))


def _winograd_type(call: Call) -> TensorType:
    layout = Layout.of(call.attrs.text("layout"))
    sizes, pads = _sizes(call[0], layout), call.attrs.ints("pads")
    sizes["H"] += pads[0] + pads[2] - 2
    sizes["W"] += pads[1] + pads[3] - 2
    sizes["C"] = call[1].sizes[2] * call[1].sizes[4]
    return call[0].with_shape(_shape(layout, sizes))


def _winograd(attrs: Attrs, x: Array, u: Array, bias: Array | None = None) -> Array:
    """The filters that gave the transformed ones, convolved directly."""
    unit = np.eye(9).reshape(9, 1, 3, 3)
    basis = topi.pack_winograd(unit, u.shape[0] - 2, 1)[..., 0, 0].reshape(-1, 9)
    found = np.linalg.pinv(basis) @ u.astype(np.float64).reshape(u.shape[0] ** 2, -1)
    packed = found.reshape(3, 3, *u.shape[2:]).transpose(2, 4, 3, 0, 1)
    filters = packed.reshape(-1, u.shape[3], 3, 3).astype(x.dtype)
    plain = Attrs({"strides": (1, 1), "dilations": (1, 1), "pads": attrs.ints("pads"), "groups": 1})
    image = topi.pack_array(x, attrs.text("layout"), "NCHW")
    made = _plain_conv(plain, image, filters, bias)
    return topi.pack_array(made, "NCHW", attrs.text("layout"))


operator("winograd_conv", _winograd_type, _winograd, "complex", inputs=(2, 3), pads=Attr("ints"),
         layout=_TEXT)  # fmt: skip


def _spread_filters_type(call: Call) -> TensorType:
    inner, out, *_ = call[0].sizes
    side, block = call.attrs.int("tile") + 1, call.attrs.int("block")
    remainders = prod(call.attrs.ints("strides"))
    return call[0].with_shape(
        [side, side, remainders, -(-out // block), -(-inner // block) * block, block]
    )  # fmt: skip


def _spread_filters(attrs: Attrs, w: Array) -> Array:
    return topi.pack_transposed_winograd(w, attrs.ints("strides"), attrs.int("tile"),
                                         attrs.int("block"))  # fmt: skip


operator("spread_filters", _spread_filters_type, _spread_filters, tile=Attr("int"),
         block=Attr("int", 16), strides=Attr("ints"))  # fmt: skip


def _spread_type(call: Call) -> TensorType:
    layout, attrs = Layout.of(call.attrs.text("layout")), call.attrs
    sizes = _sizes(call[0], layout)
    sizes["H"], sizes["W"] = attrs.ints("sizes")
    sizes["C"] = call[1].sizes[3] * call[1].sizes[5]
    return call[0].with_shape(_shape(layout, sizes))


def _spread(attrs: Attrs, x: Array, u: Array, bias: Array | None = None) -> Array:
    """The filters that gave the transformed ones, spread directly."""
    strides, first, sizes = (attrs.ints(n) for n in ("strides", "pads", "sizes"))
    side, _, _, blocks, inner, block = u.shape
    unit = np.eye(4).reshape(4, 1, 2, 2)
    basis = topi.pack_transposed_winograd(unit, (1, 1), side - 1, 1)[:, :, 0, 0]
    # With stride 1 filters are turned by 180 degrees, too.
    found = np.linalg.pinv(basis.reshape(-1, 4)) @ u.astype(np.float64).reshape(side * side, -1)
    taps = found.reshape(2, 2, *strides, blocks, inner, block).transpose(5, 4, 6, 0, 2, 1, 3)
    filters = taps.reshape(inner, blocks * block, *(2 * s for s in strides)).astype(x.dtype)
    image = topi.pack_array(x, attrs.text("layout"), "NCHW")
    plain = Attrs({"strides": strides, "dilations": (1, 1), "pads": (0,) * 4,
                   "output_padding": (0, 0), "groups": 1})  # fmt: skip
    whole = np.asarray(OPERATORS["conv_transpose"].evaluate(plain, image, filters))
    around = [(0, max(0, f + n - h)) for f, n, h in zip(first, sizes, whole.shape[2:], strict=True)]
    whole = np.pad(whole, [(0, 0), (0, 0), *around])
    made = whole[:, :, first[0] : first[0] + sizes[0], first[1] : first[1] + sizes[1]]
    made = made if bias is None else made + bias[:, None, None]
    return topi.pack_array(np.ascontiguousarray(made), "NCHW", attrs.text("layout"))


# A transposed convolution; `pads` are outputs cut off in front, `sizes` those that are left.
operator("spread_winograd", _spread_type, _spread, "complex", inputs=(2, 3), strides=Attr("ints"),
         pads=Attr("ints"), sizes=Attr("ints"), layout=Attr("text", "NCHW"))  # fmt: skip


def _pool_type(call: Call) -> TensorType:
    layout, kernel = Layout.of(call.attrs.text("layout")), call.attrs.ints("kernel")
    sizes = _sizes(call[0], layout)
    places = window_places(call.attrs, [sizes["H"], sizes["W"]], kernel)
    sizes["H"], sizes["W"] = (int(p) for p in places)  # type: ignore[arg-type]
    return call[0].with_shape(_shape(layout, sizes))


def _pool(attrs: Attrs, x: Array) -> Array:
    image = topi.pack_array(x, attrs.text("layout"), "NCHW")
    names = ("strides", "pads", "dilations", "kernel")
    values: dict[str, Any] = {n: attrs.ints(n) for n in names}
    values |= {n: attrs.flag(n) for n in ("ceil", "count_include_pad")}
    made = OPERATORS[f"{attrs.text('fold')}_pool"].evaluate(Attrs(values), image)
    return topi.pack_array(np.asarray(made), "NCHW", attrs.text("layout"))


operator("blocked_pool", _pool_type, _pool, "complex", 1, 1, kernel=Attr("ints"), layout=_TEXT,
         fold=Attr("text", "max", ("max", "avg")), ceil=Attr("flag", False),
         count_include_pad=Attr("flag", False), **_WINDOW)  # fmt: skip


def _packed_type(call: Call) -> TensorType:
    rows, columns = call[0].sizes
    block = call.attrs.int("block")
    return call[0].with_shape([-(-columns // block), rows, block])


def _packed(attrs: Attrs, w: Array) -> Array:
    return topi.pack_columns(w, attrs.int("block"))


operator("pack_columns", _packed_type, _packed, block=Attr("int"))


def _dense_type(call: Call) -> TensorType:
    blocks, rows, block = call[1].sizes
    columns = call.attrs.int("columns")
    if call[0].shape[-1] != rows or not (blocks - 1) * block < columns <= blocks * block:
        raise ShapeError(f"{call[1]} holds no weights from {call[0].shape[-1]} to {columns}")
    bias = call.get(2)
    if bias is not None and bias.shape != (columns,):
        raise ShapeError(f"the bias is {bias}, but there are {columns} columns")
    return call[0].with_shape([*call[0].shape[:-1], columns])


def _dense(attrs: Attrs, x: Array, w: Array, bias: Array | None = None) -> Array:
    plain = w.swapaxes(0, 1).reshape(w.shape[1], -1)[:, : attrs.int("columns")]
    made = x.reshape(-1, x.shape[-1]) @ plain
    return made.reshape(*x.shape[:-1], -1) + (0 if bias is None else bias)


operator("packed_dense", _dense_type, _dense, "complex", inputs=(2, 3), columns=Attr("int"))


def _interleave_type(call: Call) -> TensorType:
    attrs = call.attrs
    sizes = _sizes(call[0], Layout.of(attrs.text("layout")))
    strides, places = attrs.ints("strides"), attrs.ints("sizes")
    if sizes["C"] < attrs.int("channels") * strides[0] * strides[1]:
        raise ShapeError(f"{sizes['C']} channels are not {attrs.int('channels')} for each of "
                         f"{strides[0] * strides[1]} remainders")  # fmt: skip
    sizes |= {"C": attrs.int("channels"), "H": places[0], "W": places[1]}
    return call[0].with_shape(_shape(Layout.of(attrs.text("out_layout")), sizes))


def _interleave(attrs: Attrs, x: Array) -> Array:
    image = topi.pack_array(x, attrs.text("layout"), "NCHW")
    strides, offsets, first = (attrs.ints(n) for n in ("strides", "offsets", "first"))
    height, width = attrs.ints("sizes")
    rows, columns = np.arange(height)[:, None] + offsets[0], np.arange(width) + offsets[1]
    remainder = rows % strides[0] * strides[1] + columns % strides[1]
    channels = np.arange(attrs.int("channels"))[:, None, None]
    made = image[:, remainder * len(channels) + channels, rows // strides[0] - first[0],
                 columns // strides[1] - first[1]]  # fmt: skip
    return topi.pack_array(made, "NCHW", attrs.text("out_layout"))


# Images of all remainders modulo strides, a part of the channels each, put side by side.
operator("interleave", _interleave_type, _interleave, strides=Attr("ints"), offsets=Attr("ints"),
         first=Attr("ints"), sizes=Attr("ints"), channels=Attr("int"),
         layout=Attr("text", "NCHW"), out_layout=Attr("text", "NCHW"))  # fmt: skip
