"""Converters of integers that stand for floats: scale, zero point, and what computes on them."""

from __future__ import annotations

import numpy as np

from tvmlab.graph.operators import axis_of
from tvmlab.support import DType

from .ops_layers import kernel_of, window
from .registry import Site, onnx_op


def _along(site: Site, figure: str, like: str) -> str:
    """Scales or zero points of one dimension, or of blocks of it, shaped to the data."""
    shape, own = site.shape_of(like), site.shape_of(figure)
    if len(own) == 0 or own == (1,):
        return site.reshape(figure, [])
    axis = axis_of(site.attr("axis", 1), len(shape))
    if len(own) == 1:
        return site.reshape(figure, [own[0] if d == axis else 1 for d in range(len(shape))])
    block = int(site.attr("block_size", 0))
    if not block:
        return figure
    places = np.arange(int(str(shape[axis]))) // block
    return site.add("gather", figure, site.param(places), axis=axis)


def dequantized(site: Site, x: str, scale: str, zero: str) -> str:
    """`(x - zero) * scale`, in the type of the scale."""
    to = site.dtype_of(scale)
    wide = "int32" if site.dtype_of(x).is_int else to
    value = site.cast(x, wide)
    if zero:
        value = site.add("subtract", value, site.cast(_along(site, zero, x), wide))
    return site.add("multiply", site.cast(value, to), _along(site, scale, x))


def quantized(site: Site, x: str, scale: str, zero: str, to: DType) -> str:
    """`x / scale` rounded to even, plus the zero point, brought into the range of a type."""
    value = site.add("divide", x, site.cast(_along(site, scale, x), site.dtype_of(x)))
    value = site.cast(site.add("round", value), "float32")
    if zero:
        value = site.add("add", value, site.cast(_along(site, zero, x), "float32"))
    value = site.add("clip", value, low=float(to.min_value), high=float(to.max_value))
    return site.cast(value, to)


@onnx_op("QuantizeLinear")
def _quantize(site: Site) -> str:
    if site.has(2):
        to = site.type(2).dtype
    else:
        to = (
            site.element_type("output_dtype") if site.attr("output_dtype", 0) else DType.of("uint8")
        )
    if not to.is_int:
        raise site.error(f"quantizing to {to} is not supported", hint="use uint8 or int8")
    x = site.cast(site[0], "float32")
    return quantized(site, x, site[1], site.get(2), to)


@onnx_op("DequantizeLinear")
def _dequantize(site: Site) -> str:
    made = dequantized(site, site[0], site[1], site.get(2))
    to = site.attr("output_dtype", 0)
    return site.cast(made, site.element_type("output_dtype")) if to else made


def _centered(site: Site, value: str, zero: str) -> str:
    """An 8-bit tensor less its zero point, in 32 bits; itself without one."""
    if not zero:
        return value
    known = site.around.array_of(zero)
    if known is not None and not known.any():
        return value
    return site.add("subtract", site.cast(value, "int32"), site.cast(zero, "int32"))


def _matrix_zero(site: Site, zero: str, *, rows: bool) -> str:
    """Zero points of rows of the left operand, or of columns of the right one."""
    if not zero or len(site.shape_of(zero)) != 1 or not rows:
        return zero
    return zero if site.shape_of(zero) == (1,) else site.reshape(zero, [*site.shape_of(zero), 1])


@onnx_op("MatMulInteger")
def _matmul_integer(site: Site) -> str:
    a = _centered(site, site[0], _matrix_zero(site, site.get(2), rows=True))
    b = _centered(site, site[1], _matrix_zero(site, site.get(3), rows=False))
    return site.add("matmul_integer", a, b)


@onnx_op("ConvInteger")
def _conv_integer(site: Site) -> str:
    x = _centered(site, site[0], site.get(2))
    w = _centered(site, site[1], _by_filter(site, site.get(3), site.type(1).rank))
    return site.add("conv_integer", x, w, groups=site.attr("group", 1),
                    **window(site, kernel_of(site)))  # fmt: skip


def _by_filter(site: Site, figure: str, rank: int) -> str:
    """A figure of each filter, shaped to the filters."""
    if not figure or len(site.shape_of(figure)) != 1 or site.shape_of(figure) == (1,):
        return figure and site.reshape(figure, [])
    return site.reshape(figure, [*site.shape_of(figure), *[1] * (rank - 1)])


def _rescaled(site: Site, total: str, scale: str, out_scale: str, out_zero: str) -> str:
    """32-bit sums as 8-bit values of another scale."""
    value = site.add("multiply", site.cast(total, "float32"), scale)
    value = site.add("divide", value, site.reshape(site.cast(out_scale, "float32"), []))
    value = site.add("add", site.add("round", value), site.cast(site.reshape(out_zero, []),
                                                                "float32"))  # fmt: skip
    to = site.dtype_of(out_zero)
    return site.cast(site.add("clip", value, low=float(to.min_value), high=float(to.max_value)), to)


@onnx_op("QLinearMatMul")
def _qlinear_matmul(site: Site) -> str:
    a = _centered(site, site[0], _matrix_zero(site, site[2], rows=True))
    b = _centered(site, site[3], _matrix_zero(site, site[5], rows=False))
    total = site.add("matmul_integer", a, b)
    left, right = site.cast(site[1], "float32"), site.cast(site[4], "float32")
    left = _matrix_zero(site, left, rows=True)
    return _rescaled(site, total, site.add("multiply", left, right), site[6], site[7])


@onnx_op("QLinearConv")
def _qlinear_conv(site: Site) -> str:
    """Inputs: x, its scale and zero point, w with both, those of the output, and a bias."""
    rank = site.rank
    x = _centered(site, site[0], site.reshape(site[2], []))
    w = _centered(site, site[3], _by_filter(site, site[5], rank))
    total = site.add("conv_integer", x, w, groups=site.attr("group", 1),
                     **window(site, kernel_of(site, 3)))  # fmt: skip
    channels = [site.shape_of(site[3])[0], *[1] * (rank - 2)]
    if site.has(8):
        total = site.add("add", total, site.reshape(site[8], channels))
    scale = site[4]
    scale = site.reshape(scale, channels if site.shape_of(scale) not in ((), (1,)) else [])
    both = site.add("multiply", site.reshape(site[1], []), scale)
    return _rescaled(site, total, both, site[6], site[7])
