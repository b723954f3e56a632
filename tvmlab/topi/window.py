"""Sums and extremes over a window that moves along two dimensions: convolutions and pooling."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tvmlab import te
from tvmlab.ir import Expr, const_int
from tvmlab.support import DType, OptionError, ShapeError
from tvmlab.te import Tensor

from .shape import pad

Pair = int | Sequence[int]
Padding = int | str | Sequence[int]

_DATA = {"NCHW": "NCHW", "NHWC": "NHWC", "HWCN": "HWCN"}
_FILTER = {"NCHW": "OIHW", "NHWC": "HWIO", "HWCN": "HWIO"}


def pair(value: Pair) -> tuple[int, int]:
    """A number for both of height and width, or one for each."""
    if isinstance(value, int):
        return value, value
    both = [int(v) for v in value]
    if len(both) != 2:
        raise ShapeError(f"{list(value)} must be one number, or one each for height and width")
    return both[0], both[1]


def margins(padding: Padding, kernel: tuple[int, int]) -> tuple[int, int, int, int]:
    """Top, left, bottom and right margin, also from "SAME" and "VALID"."""
    if isinstance(padding, str):
        if padding.upper() not in ("SAME", "VALID"):
            raise OptionError(f"there is no padding {padding!r}", hint='it is "SAME" or "VALID"')
        if padding.upper() == "VALID":
            return 0, 0, 0, 0
        top, left = (kernel[0] - 1) // 2, (kernel[1] - 1) // 2
        return top, left, kernel[0] - 1 - top, kernel[1] - 1 - left
    if isinstance(padding, int):
        return padding, padding, padding, padding
    given = [int(p) for p in padding]
    if len(given) == 2:
        return given[0], given[1], given[0], given[1]
    if len(given) != 4:
        raise ShapeError(f"padding {given} must be one, two or four numbers")
    return given[0], given[1], given[2], given[3]


def out_size(size: Expr, kernel: int, stride: int, before: int, after: int) -> Expr:
    """How many places a window has along a dimension."""
    known = const_int(size)
    if known is not None and known + before + after < kernel:
        raise ShapeError(f"a window of {kernel} does not fit into {known + before + after}")
    return (size + (before + after - kernel)) // stride + 1


def conv2d(
    data: Tensor,
    weight: Tensor,
    stride: Pair = 1,
    padding: Padding = 0,
    dilation: Pair = 1,
    layout: str = "NCHW",
    out_dtype: DType | str | None = None,
) -> Tensor:
    """A convolution; filters are OIHW for NCHW data, and HWIO for NHWC and HWCN data."""
    if layout not in _DATA:
        raise OptionError(f"there is no layout {layout!r}", hint=f"it is one of {', '.join(_DATA)}")
    dims, names = _DATA[layout], _FILTER[layout]
    (dh, dw), (sh, sw) = pair(dilation), pair(stride)
    size = {name: weight.shape[names.index(name)] for name in "OIHW"}
    kernel = tuple((const_int(size[n]) or 1) for n in "HW")
    reach = ((kernel[0] - 1) * dh + 1, (kernel[1] - 1) * dw + 1)
    top, left, bottom, right = margins(padding, reach)
    height, width = data.shape[dims.index("H")], data.shape[dims.index("W")]
    padded = data
    if top or left or bottom or right:
        before = {"H": top, "W": left}
        after = {"H": bottom, "W": right}
        padded = pad(
            data, [before.get(d, 0) for d in dims], [after.get(d, 0) for d in dims], name="pad_temp"
        )
    rc = te.reduce_axis(size["I"], "rc")
    ry, rx = te.reduce_axis(kernel[0], "ry"), te.reduce_axis(kernel[1], "rx")
    found = {
        "N": data.shape[dims.index("N")],
        "C": size["O"],
        "H": out_size(height, reach[0], sh, top, bottom),
        "W": out_size(width, reach[1], sw, left, right),
    }
    to = data.dtype if out_dtype is None else DType.of(out_dtype)

    def value(*indices: Any) -> Expr:
        at = dict(zip(dims, indices, strict=True))
        place = {**at, "C": rc, "H": at["H"] * sh + ry * dh, "W": at["W"] * sw + rx * dw}
        where = {"O": at["C"], "I": rc, "H": ry, "W": rx}
        x = padded[tuple(place[d] for d in dims)]
        w = weight[tuple(where[d] for d in names)]
        return te.sum(te.cast(x, to) * te.cast(w, to), axis=[rc, ry, rx])

    return te.compute(
        tuple(found[d] for d in dims), value, name="conv2d", tag=f"conv2d_{layout.lower()}"
    )


def depthwise_conv2d(
    data: Tensor, weight: Tensor, stride: Pair = 1, padding: Padding = 0, dilation: Pair = 1
) -> Tensor:
    """A convolution of each channel on its own, NCHW, with filters (channel, multiplier, H, W)."""
    (dh, dw), (sh, sw) = pair(dilation), pair(stride)
    batch, _, height, width = data.shape
    channels, multiplier = weight.shape[0], weight.shape[1]
    kernel = (const_int(weight.shape[2]) or 1, const_int(weight.shape[3]) or 1)
    reach = ((kernel[0] - 1) * dh + 1, (kernel[1] - 1) * dw + 1)
    top, left, bottom, right = margins(padding, reach)
    padded = pad(data, [0, 0, top, left], [0, 0, bottom, right], name="PaddedInput")
    ry, rx = te.reduce_axis(kernel[0], "ry"), te.reduce_axis(kernel[1], "rx")
    return te.compute(
        (
            batch,
            channels * multiplier,
            out_size(height, reach[0], sh, top, bottom),
            out_size(width, reach[1], sw, left, right),
        ),
        lambda n, c, y, x: te.sum(
            padded[n, c // multiplier, y * sh + ry * dh, x * sw + rx * dw]
            * weight[c // multiplier, c % multiplier, ry, rx],
            axis=[ry, rx],
        ),
        name="DepthwiseConv2d",
        tag="depthwise_conv2d_nchw",
    )


def pool2d(
    data: Tensor,
    kernel: Pair,
    stride: Pair = 1,
    padding: Padding = 0,
    kind: str = "max",
    layout: str = "NCHW",
    count_include_pad: bool = True,
) -> Tensor:
    """The largest element ("max") or the mean ("avg") of each window.

    With `count_include_pad` a mean counts the margin's zeros too.
    """
    if kind not in ("max", "avg"):
        raise OptionError(f"there is no pooling {kind!r}", hint='it is "max" or "avg"')
    (kh, kw), (sh, sw) = pair(kernel), pair(stride)
    top, left, bottom, right = margins(padding, (kh, kw))
    h, w = layout.index("H"), layout.index("W")
    before, after = [0] * len(layout), [0] * len(layout)
    before[h], before[w], after[h], after[w] = top, left, bottom, right
    fill = te.min_value(data.dtype) if kind == "max" else 0.0
    padded = pad(data, before, after, fill, "pad_temp") if any(before + after) else data
    ry, rx = te.reduce_axis(kh, "rv0"), te.reduce_axis(kw, "rv1")
    shape = list(data.shape)
    shape[h] = out_size(data.shape[h], kh, sh, top, bottom)
    shape[w] = out_size(data.shape[w], kw, sw, left, right)

    def window(*indices: Any) -> Expr:
        places = list(indices)
        places[h], places[w] = indices[h] * sh + ry, indices[w] * sw + rx
        return (te.max if kind == "max" else te.sum)(padded[tuple(places)], axis=[ry, rx])

    whole = te.compute(tuple(shape), window, name=f"pool_{kind}", tag=f"pool_{kind}")
    if kind == "max":
        return whole

    def mean(*indices: Any) -> Expr:
        count: Any = kh * kw
        if not count_include_pad:
            y, x = indices[h] * sh - top, indices[w] * sw - left
            rows = te.minimum(y + kh, data.shape[h]) - te.maximum(y, 0)
            columns = te.minimum(x + kw, data.shape[w]) - te.maximum(x, 0)
            count = te.cast(te.maximum(rows * columns, 1), data.dtype)
        return whole[indices] / count

    return te.compute(tuple(shape), mean, name="pool_avg_mean", tag="elemwise")
