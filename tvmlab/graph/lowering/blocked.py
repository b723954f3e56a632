"""Formulas of operators on blocked images and packed weights."""

from __future__ import annotations

from typing import Any

import tvmlab.te as te
import tvmlab.topi as topi
from tvmlab.ir import Expr
from tvmlab.te import Tensor
from tvmlab.topi import Layout
from tvmlab.topi.layout import Cut, Place, whole

from .registry import Site, lowering


@lowering("layout_transform")
def _layout_transform(site: Site, a: Tensor) -> Tensor:
    channels = site.attrs.int("channels")
    sizes = {"C": channels} if channels else None
    return topi.layout_transform(a, site.attrs.text("source"), site.attrs.text("target"), sizes)


@lowering("blocked_conv")
def _blocked_conv(site: Site, x: Tensor, w: Tensor, bias: Tensor | None = None) -> Tensor:
    attrs = site.attrs
    made = topi.conv2d(
        x, w, attrs.ints("strides"), attrs.ints("pads"), attrs.ints("dilations"),
        attrs.text("layout"), groups=attrs.int("groups"),
        kernel_layout=attrs.text("kernel_layout"), out_layout=attrs.text("out_layout"),
    )  # fmt: skip
    return _with_bias(made, bias, attrs.text("out_layout"))


@lowering("winograd_conv")
def _winograd_conv(site: Site, x: Tensor, u: Tensor, bias: Tensor | None = None) -> Tensor:
    layout = site.attrs.text("layout")
    return _with_bias(topi.conv2d_winograd(x, u, site.attrs.ints("pads"), layout), bias, layout)


@lowering("spread_winograd")
def _spread_winograd(site: Site, x: Tensor, u: Tensor, bias: Tensor | None = None) -> Tensor:
    strides, first, sizes = (site.attrs.ints(n) for n in ("strides", "pads", "sizes"))
    layout = site.attrs.text("layout")
    made = topi.conv2d_transpose_winograd(x, u, strides, first, sizes, layout)
    return _with_bias(made, bias, layout)


def _with_bias(made: Tensor, bias: Tensor | None, layout: str) -> Tensor:
    if bias is None:
        return made
    letters = Layout.of(layout).letters
    block, lane = letters.index("C"), letters.index("c")
    size = made.shape[lane]

    def sum_of(*at: Any) -> Expr:
        return made[at] + bias[at[block] * size + at[lane]]

    return te.compute(made.shape, sum_of, name="bias", tag="broadcast")


@lowering("blocked_pool")
def _blocked_pool(site: Site, x: Tensor) -> Tensor:
    attrs = site.attrs
    return topi.pool2d(
        x, attrs.ints("kernel"), attrs.ints("strides"), attrs.ints("pads"), attrs.text("fold"),
        attrs.text("layout"), attrs.flag("count_include_pad"), ceil_mode=attrs.flag("ceil"),
        dilation=attrs.ints("dilations"),
    )  # fmt: skip


@lowering("packed_dense")
def _packed_dense(site: Site, x: Tensor, w: Tensor, bias: Tensor | None = None) -> Tensor:
    made = topi.packed_dense(x, w, site.attrs.int("columns"))
    return made if bias is None else topi.bias_add(made, bias)


@lowering("interleave")
def _interleave(site: Site, x: Tensor) -> Tensor:
    attrs, channels = site.attrs, site.attrs.int("channels")
    strides, offsets, first = (attrs.ints(n) for n in ("strides", "offsets", "first"))
    source, target = (Layout.of(attrs.text(n)) for n in ("layout", "out_layout"))
    block = source.block("C")

    def value(*indices: Any) -> Expr:
        at = target.element(indices)
        row, column = (whole(at[s]) + o for s, o in zip("HW", offsets, strict=True))
        remainder = row % strides[0] * strides[1] + column % strides[1]
        channel = at["C"]
        place: dict[str, Place] = {
            "N": at["N"],
            "H": row // strides[0] - first[0],
            "W": column // strides[1] - first[1],
            "C": remainder * channels + whole(channel),
        }
        if isinstance(channel, Cut) and channel.size == block and channels % block == 0:
            place["C"] = Cut(remainder * (channels // block) + channel.block, channel.lane, block)
        return x[source.place(place)]

    return te.compute(site.output.sizes, value, name="interleave", tag="injective")
