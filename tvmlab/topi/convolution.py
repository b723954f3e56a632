"""Convolutions along one, two or three dimensions, in any layout of images and filters.

The formula is the same for all: a sum over the input channels of a group and over the window.
`schedule_conv` has a schedule for each layout.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import tvmlab.te as te
from tvmlab.ir import Attribute, Expr, const, const_int
from tvmlab.support import DType, ShapeError
from tvmlab.te import Tensor

from .geometry import Numbers, Padding, margins, out_size, per_dimension
from .layout import Cut, Layout, Place, whole
from .shape import pad

SPATIAL = {1: "W", 2: "HW", 3: "DHW"}
"""The spatial dimensions, by their number."""


def conv1d(
    data: Tensor,
    weight: Tensor,
    stride: Numbers = 1,
    padding: Padding = 0,
    dilation: Numbers = 1,
    layout: str = "NCW",
    out_dtype: DType | str | None = None,
    *,
    groups: int = 1,
    kernel_layout: str | None = None,
    out_layout: str | None = None,
) -> Tensor:
    """A convolution along one dimension: see `conv2d`."""
    layouts = (layout, kernel_layout, out_layout)
    return convolution(data, weight, (stride, dilation), padding, 1, layouts, groups, out_dtype)


def conv2d(
    data: Tensor,
    weight: Tensor,
    stride: Numbers = 1,
    padding: Padding = 0,
    dilation: Numbers = 1,
    layout: str = "NCHW",
    out_dtype: DType | str | None = None,
    *,
    groups: int = 1,
    kernel_layout: str | None = None,
    out_layout: str | None = None,
) -> Tensor:
    """A convolution along two dimensions.

    Parameters
    ----------
    stride, dilation
        One number, or one for each of height and width.
    padding
        Zeros around: a number, "SAME", "VALID", one for each of height and width, or top, left,
        bottom and right.
    layout, kernel_layout, out_layout
        Of the data, such as "NCHW", "NHWC" and "NCHW16c"; of the filters, such as "OIHW", "HWIO"
        and "OIHW16i16o" (by default OIHW where the channels stand before the pixels, else HWIO);
        of the output (by default as the data).
    out_dtype
        Type of products and sums; by default that of the data.
    groups
        Output channels are computed from the input channels of their group only. With as many
        groups as channels, each channel is on its own ("depthwise").

    Raises
    ------
    ShapeError
        If sizes do not fit together.
    """
    layouts = (layout, kernel_layout, out_layout)
    return convolution(data, weight, (stride, dilation), padding, 2, layouts, groups, out_dtype)


def conv3d(
    data: Tensor,
    weight: Tensor,
    stride: Numbers = 1,
    padding: Padding = 0,
    dilation: Numbers = 1,
    layout: str = "NCDHW",
    out_dtype: DType | str | None = None,
    *,
    groups: int = 1,
    kernel_layout: str | None = None,
    out_layout: str | None = None,
) -> Tensor:
    """A convolution along three dimensions: see `conv2d`."""
    layouts = (layout, kernel_layout, out_layout)
    return convolution(data, weight, (stride, dilation), padding, 3, layouts, groups, out_dtype)


def filter_layout(layout: str) -> str:
    """The usual layout of filters for images in a layout."""
    names = Layout.of(layout).names
    spatial = "".join(n for n in names if n not in "NC")
    return f"OI{spatial}" if names.startswith("NC") else f"{spatial}IO"


def convolution(
    data: Tensor,
    weight: Tensor,
    steps: tuple[Numbers, Numbers],
    padding: Padding,
    rank: int,
    layouts: tuple[str, str | None, str | None],
    groups: int,
    out_dtype: DType | str | None,
) -> Tensor:
    """A convolution along `rank` dimensions: see `conv2d`.

    Parameters
    ----------
    steps
        Stride and dilation.
    layouts
        Of images, filters and output.
    """
    images, out = Layout.of(layouts[0]), Layout.of(layouts[2] or layouts[0])
    filters = Layout.of(layouts[1] or filter_layout(layouts[0]))
    spatial = SPATIAL[rank]
    for layout, names in ((images, "NC"), (filters, "OI"), (out, "NC")):
        if sorted(layout.names) != sorted(names + spatial):
            raise ShapeError(
                f"layout {layout.text} has not the dimensions of a {rank}-dimensional convolution, "
                f"which are {names + spatial}"
            )
    strides = per_dimension(steps[0], rank, "stride")
    dilations = per_dimension(steps[1], rank, "dilation")
    size, window = images.sizes(data.shape), filters.sizes(weight.shape)
    kernel = [_known(window[s], "the size of a filter") for s in spatial]
    reach = [(k - 1) * d + 1 for k, d in zip(kernel, dilations, strict=True)]
    before, after = margins(padding, reach)
    padded = _padded(data, images, dict(zip(spatial, zip(before, after, strict=True), strict=True)))
    channels = _Channels.of(size["C"], window, images, filters, out, groups)
    found: dict[str, Expr | int] = {"N": size["N"], "C": window["O"]}
    for s, r, stride, b, a in zip(spatial, reach, strides, before, after, strict=True):
        found[s] = out_size(size[s], r, stride, b, a)
    over = {s: te.reduce_axis(k, f"r{s.lower()}") for s, k in zip(spatial, kernel, strict=True)}
    to = data.dtype if out_dtype is None else DType.of(out_dtype)

    def value(*indices: Any) -> Expr:
        at = out.element(indices)
        place: dict[str, Place] = {"N": at["N"], "C": channels.read(at["C"])}
        for s, stride, dilation in zip(spatial, strides, dilations, strict=True):
            place[s] = whole(at[s]) * stride + over[s] * dilation
        x = padded[images.place(place)]
        w = weight[filters.place({"O": at["C"], "I": channels.within, **over})]
        axes = [*channels.outer, *over.values(), *channels.inner]
        return te.sum(te.cast(x, to) * te.cast(w, to), axis=axes)

    attrs: dict[str, Attribute] = {
        "conv": "depthwise" if channels.is_single and groups > 1 else "full",
        "layout": images.text,
        "kernel_layout": filters.text,
        "out_layout": out.text,
        "group_size": channels.outputs,
        "step": strides[-1],
    }
    tag = f"conv{rank}d_{images.text.lower()}"
    return te.compute(out.shape(found), value, name=f"conv{rank}d", tag=tag, attrs=attrs)


def _known(size: Expr, what: str) -> int:
    found = const_int(size)
    if found is None:
        raise ShapeError(f"{what} must be a known number, not {size}")
    return found


def _padded(data: Tensor, layout: Layout, margin: Mapping[str, tuple[int, int]]) -> Tensor:
    """The images with zeros around, if there is any margin."""
    if not any(before or after for before, after in margin.values()):
        return data
    around = [margin.get(letter, (0, 0)) for letter in layout.letters]
    return pad(data, [b for b, _ in around], [a for _, a in around], name="pad_temp")


class _Channels:
    """Which input channels an output channel is computed from, and the axes of that sum."""

    def __init__(self, per_group: int, outputs: int, block: int, out_block: int) -> None:
        self.is_single = per_group == 1
        self._per_group, self.outputs = per_group, outputs
        self._block, self._out_block = block, out_block
        self.outer: list[Any] = []
        self.inner: list[Any] = []
        if self.is_single:
            self.within: Place = const(0)
        elif block > 1 and per_group % block == 0:
            self.outer = [te.reduce_axis(per_group // block, "rc")]
            self.inner = [te.reduce_axis(block, "rci")]
            self.within = Cut(self.outer[0], self.inner[0], block)
        else:
            self.outer = [te.reduce_axis(per_group, "rc")]
            self.within = self.outer[0]

    @staticmethod
    def of(
        channels: Expr,
        window: Mapping[str, Expr],
        images: Layout,
        filters: Layout,
        out: Layout,
        groups: int,
    ) -> _Channels:
        """The channels of a convolution.

        Raises
        ------
        ShapeError
            If the channels do not fit the filters and groups.
        """
        per_group = _known(window["I"], "the number of channels")
        outputs = _known(window["O"], "the number of filters")
        have = _known(channels, "the number of channels")
        if groups < 1 or outputs % groups:
            raise ShapeError(f"{outputs} filters are no {groups} equal groups")
        if have != per_group * groups:
            raise ShapeError(
                f"images have {have} channels, but filters take {per_group} "
                + (f"in each of {groups} groups" if groups > 1 else "")
            )
        made = _Channels(per_group, outputs // groups, images.block("C"), out.block("C"))
        made._groups = groups
        return made

    _groups = 1

    def read(self, output: Place) -> Place:
        """The input channel that belongs to an output channel and the axes."""
        if self._groups == 1:
            return self.within
        if self._per_group == self.outputs == 1:
            return output
        if isinstance(output, Cut) and self.outputs % self._out_block == 0:
            group = output.block // (self.outputs // self._out_block)
        else:
            group = whole(output) // self.outputs
        if isinstance(self.within, Cut):
            return Cut(
                group * (self._per_group // self._block) + self.within.block,
                self.within.lane,
                self._block,
            )
        return group * self._per_group + self.within


def depthwise_conv2d(
    data: Tensor,
    weight: Tensor,
    stride: Numbers = 1,
    padding: Padding = 0,
    dilation: Numbers = 1,
) -> Tensor:
    """A convolution of each channel on its own, NCHW, with filters (channel, multiplier, H, W).

    `conv2d` with as many groups as channels is the same with filters OIHW, in any layout.
    """
    steps, gaps = per_dimension(stride, 2, "stride"), per_dimension(dilation, 2, "dilation")
    batch, _, *size = data.shape
    channels, multiplier = weight.shape[0], weight.shape[1]
    kernel = [_known(s, "the size of a filter") for s in weight.shape[2:]]
    reach = [(k - 1) * d + 1 for k, d in zip(kernel, gaps, strict=True)]
    before, after = margins(padding, reach)
    padded = pad(data, [0, 0, *before], [0, 0, *after], name="PaddedInput")
    ry, rx = te.reduce_axis(kernel[0], "ry"), te.reduce_axis(kernel[1], "rx")
    places = [out_size(*part) for part in zip(size, reach, steps, before, after, strict=True)]
    return te.compute(
        (batch, channels * multiplier, *places),
        lambda n, c, y, x: te.sum(
            padded[n, c // multiplier, y * steps[0] + ry * gaps[0], x * steps[1] + rx * gaps[1]]
            * weight[c // multiplier, c % multiplier, ry, rx],
            axis=[ry, rx],
        ),
        name="DepthwiseConv2d",
        tag="depthwise_conv2d_nchw",
        attrs={"conv": "depthwise", "layout": "NCHW", "out_layout": "NCHW", "step": steps[1]},
    )
