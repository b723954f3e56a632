"""Operators on bytes that stand for floats: patches of images, packed weights, their product."""

from __future__ import annotations

import numpy as np

import tvmlab.topi as topi
from tvmlab.graph.types import TensorType
from tvmlab.support import INT32, ShapeError, TypeMismatch

from .registry import Array, Attr, Attrs, Call, operator
from .window import window_places


def _patches_type(call: Call) -> TensorType:
    """Of an image NHWC: a row for each place of the window, as long as a multiple of four."""
    batch, height, width, channels = call[0].sizes
    kernel = call.attrs.ints("kernel")
    places = window_places(call.attrs, [height, width], kernel)
    down, across = (int(str(p)) for p in places)
    depth = kernel[0] * kernel[1] * channels
    return call[0].with_shape([batch * down * across, -(-depth // 4) * 4])


def _steps(count: int, step: int) -> Array:
    return np.arange(count) * step


def _patches(attrs: Attrs, x: Array) -> Array:
    (kh, kw), (sh, sw), (dh, dw) = (attrs.ints(n) for n in ("kernel", "strides", "dilations"))
    top, left, bottom, right = attrs.ints("pads")
    image = np.pad(x, [(0, 0), (top, bottom), (left, right), (0, 0)],
                   constant_values=attrs.int("fill"))  # fmt: skip
    down = (image.shape[1] - (kh - 1) * dh - 1) // sh + 1
    across = (image.shape[2] - (kw - 1) * dw - 1) // sw + 1
    rows = _steps(down, sh)[:, None, None, None] + _steps(kh, dh)[:, None]
    columns = _steps(across, sw)[:, None, None] + _steps(kw, dw)
    made = image[:, rows, columns].reshape(x.shape[0] * down * across, -1)
    return np.pad(made, [(0, 0), (0, -made.shape[1] % 4)])


operator("patches", _patches_type, _patches, "opaque", kernel=Attr("ints"),
         strides=Attr("ints"), pads=Attr("ints"), dilations=Attr("ints"),
         fill=Attr("int", 0))  # fmt: skip


def _packed_type(call: Call) -> TensorType:
    depth, columns = call[0].sizes
    block = call.attrs.int("block")
    return call[0].with_shape([-(-columns // block), -(-depth // 4), block, 4])


def _packed(attrs: Attrs, w: Array) -> Array:
    return topi.pack_dot(w, attrs.int("block"))


operator("pack_dot", _packed_type, _packed, block=Attr("int"))


def _dot_type(call: Call) -> TensorType:
    rows, depth = call[0].sizes
    panels, groups, width, four = call[1].sizes
    if four != 4 or depth != groups * 4:
        raise ShapeError(f"{call[1]} holds no weights for rows of {depth}")
    if (call[0].dtype.name, call[1].dtype.name) != ("uint8", "int8"):
        raise TypeMismatch(f"it multiplies uint8 by int8, not {call[0].dtype} by {call[1].dtype}")
    return TensorType.of(INT32, [rows, panels * width])


def _dot(attrs: Attrs, x: Array, w: Array) -> Array:
    del attrs
    plain = w.transpose(1, 3, 0, 2).reshape(x.shape[1], -1)
    return x.astype(np.int32) @ plain.astype(np.int32)


operator("packed_dot", _dot_type, _dot, "opaque", inputs=2)
