"""Converters of what reads an image at places that are computed: grids, regions, moved windows.

The image becomes a table with a row for each place and a column for each channel, so that one
number picks all channels of a place. A point between places is the weighted sum of its neighbors.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

import numpy as np

from tvmlab.graph.ir import Array

from .registry import Site, onnx_op
from .values import Value


@dataclass(frozen=True)
class _Taps:
    """The neighbors of points along one dimension: their places and weights.

    Both have the shape of the points, and a last dimension for the neighbors of each.
    """

    at: Value
    weight: Value

    def inside(self, size: int, zeros: bool) -> _Taps:
        """All in an image of a size; those outside count for nothing if that is `zeros`."""
        weight = self.weight
        if zeros:
            weight = ((self.at >= 0) & (self.at <= size - 1)).where(weight, 0, weight)
        return _Taps(self.at.within(0, size - 1), weight)


@dataclass(frozen=True)
class _Table:
    """The places of an image as rows.

    Attributes
    ----------
    rows
        Of all images, one after another; a column for each channel.
    sizes
        The sizes of one image.
    """

    rows: Value
    sizes: tuple[int, ...]

    @staticmethod
    def of(image: Value) -> _Table:
        """From an image of shape (batch, channels, ...)."""
        batch, channels, *sizes = (int(s) for s in image.site.around.type_of(image.name).sizes)
        spatial = range(2, 2 + len(sizes))
        rows = image.transpose(0, *spatial, 1).reshape(batch * prod(sizes), channels)
        return _Table(rows, tuple(sizes))

    def neighbors(self, first: Value, taps: Sequence[_Taps]) -> Value:
        """The weighted rows at all combinations of taps along each dimension.

        `first` is the number of the row at which the image of a point begins. The result has the
        shape of the points, then the combinations, then the channels.
        """
        place, weight = first, None
        for d, tap in enumerate(taps):
            # Taps of this dimension vary along a dimension of their own.
            points, own = tap.at.shape[:-1], [1] * len(taps)
            own[d] = int(tap.at.shape[-1])  # type: ignore[arg-type]
            place = place + tap.at.cast("int64").reshape(*points, *own) * self._stride(d)
            part = tap.weight.reshape(*points, *own)
            weight = part if weight is None else weight * part
        assert weight is not None
        whole = place.shape[: len(place.shape) - len(taps)]
        count = prod(int(s) for s in place.shape[len(whole) :])  # type: ignore[arg-type]
        rows = self.rows.rows(place.reshape(*whole, count))
        return rows * weight.reshape(*whole, count, 1)

    def _stride(self, dimension: int) -> int:
        return prod(self.sizes[dimension + 1 :])


# ---------------------------------------------------------------------------- taps


def _around(at: Value, first: int, last: int) -> Value:
    """The whole numbers from `first` to `last` off those below points."""
    site = at.site
    steps = np.arange(first, last + 1).astype(site.dtype_of(at.name).numpy)
    return at.floor().reshape(*at.shape, 1) + Value(site, site.param(steps))


def _linear(at: Value) -> _Taps:
    taps = _around(at, 0, 1)
    return _Taps(taps, -abs(taps - at.reshape(*at.shape, 1)) + 1)


def _nearest(at: Value) -> _Taps:
    near = at.round().reshape(*at.shape, 1)
    return _Taps(near, near * 0 + 1)


def _cubic(at: Value) -> _Taps:
    """Four taps by the cubic convolution of Keys (1981), its parameter being -0.75."""
    a = -0.75
    taps = _around(at, -1, 2)
    d = abs(taps - at.reshape(*at.shape, 1))
    near = (d * (a + 2) - (a + 3)) * d * d + 1
    far = ((d * a - 5 * a) * d + 8 * a) * d - 4 * a
    return _Taps(taps, (d <= 1).where(near, far, d))


def _reflected(at: Value, size: int, corners: bool) -> Value:
    """A place thrown back at the borders until it is in the image."""
    low, high = (0.0, size - 1.0) if corners else (-0.5, size - 0.5)
    span = high - low
    if span == 0:
        return at * 0
    away = abs(at - low)
    times = (away / span).floor()
    rest = away - times * span
    odd = times - (times / 2).floor() * 2 > 0.5
    return odd.where(-rest + high, rest + low, at)


# ---------------------------------------------------------------------------- grids


@onnx_op("GridSample")
def _grid_sample(site: Site) -> str:
    image, grid = Value(site, site[0]), Value(site, site[1])
    table = _Table.of(image)
    batch, *places, _ = (int(s) for s in site.type(1).sizes)
    points = grid.reshape(batch, prod(places), len(table.sizes))
    start = np.arange(batch).reshape(batch, *[1] * (1 + len(table.sizes))) * prod(table.sizes)
    taps = [
        _grid_taps(site, points.part(2, len(table.sizes) - 1 - d), size)
        for d, size in enumerate(table.sizes)
    ]
    found = table.neighbors(Value(site, site.param(start)), taps).reduce("sum", 2)
    return found.transpose(0, 2, 1).reshape(batch, int(image.shape[1]), *places).name  # type: ignore[arg-type]


def _grid_taps(site: Site, at: Value, size: int) -> _Taps:
    """The taps of coordinates that go from -1 to 1."""
    corners = bool(site.attr("align_corners", 0))
    mode, padding = site.attr("mode", "linear"), site.attr("padding_mode", "zeros")
    if padding not in ("zeros", "border", "reflection"):
        raise site.error(f"the padding {padding!r} is not supported")
    at = (at + 1) / 2 * (size - 1) if corners else ((at + 1) * size - 1) / 2
    if mode in ("cubic", "bicubic"):
        taps = _cubic(at)
        if padding == "reflection":
            taps = _Taps(_reflected(taps.at, size, corners), taps.weight)
        return taps.inside(size, padding == "zeros")
    if padding == "reflection":
        at = _reflected(at, size, corners)
    if padding != "zeros":
        at = at.within(0, size - 1)
    if mode in ("linear", "bilinear"):
        return _linear(at).inside(size, padding == "zeros")
    if mode == "nearest":
        return _nearest(at).inside(size, padding == "zeros")
    raise site.error(f"the mode {mode!r} is not supported")


# ---------------------------------------------------------------------------- regions


@onnx_op("RoiAlign")
def _roi_align(site: Site) -> str:
    """Average or largest of points that lie evenly in each part of a region."""
    table, rois = _Table.of(Value(site, site[0])), Value(site, site[1])
    ratio, mode = site.attr("sampling_ratio", 0), site.attr("mode", "avg")
    if ratio < 1 or mode not in ("avg", "max"):
        raise site.error(f"sampling_ratio is {ratio}, mode {mode!r}",
                         hint="supported are avg and max with a fixed number of points, 1 or "
                         "more; 0 makes the number depend on each region")  # fmt: skip
    count = int(site.type(1).sizes[0])
    outs = (site.attr("output_height", 1), site.attr("output_width", 1))
    taps = [
        _region_taps(site, rois, d, out * ratio, size)
        for d, (out, size) in enumerate(zip(outs, table.sizes, strict=True))
    ]
    first = Value(site, site[2]).cast("int64").reshape(count, 1, 1, 1, 1) * prod(table.sizes)
    found = table.neighbors(first, taps)
    channels = int(site.type().sizes[1])
    parts = found.reshape(count, outs[0], ratio, outs[1], ratio, 4, channels)
    # The largest is that of the weighted neighbors, not of their sums.
    parts = parts.reduce("max", 2, 4, 5) if mode == "max" else parts.reduce("sum", 5)
    parts = parts if mode == "max" else parts.reduce("mean", 2, 4)
    return parts.transpose(0, 3, 1, 2).name


def _region_taps(site: Site, rois: Value, axis: int, points: int, size: int) -> _Taps:
    """Taps along one dimension of points spread evenly over regions, to be combined."""
    default = "half_pixel" if site.opset >= 16 else "output_half_pixel"
    half = site.attr("coordinate_transformation_mode", default) == "half_pixel"
    scale, shift = site.attr("spatial_scale", 1.0), 0.5 if half else 0.0
    begin, end = (rois.part(1, n) * scale - shift for n in (1 - axis, 3 - axis))
    length = end - begin if half else (end - begin).maximum(1)
    steps = (np.arange(points) + 0.5) / points
    along = Value(site, site.param(steps.astype(site.dtype_of(rois.name).numpy)))
    at = begin.reshape(-1, 1) + length.reshape(-1, 1) * along
    exists = ((at >= -1) & (at <= size)).reshape(*at.shape, 1)
    taps = _linear(at.within(0, size - 1)).inside(size, False)
    weight = exists.where(taps.weight, 0, taps.weight)
    count = rois.shape[0]
    shape = (count, points, 1, 2) if axis == 0 else (count, 1, points, 2)
    return _Taps(taps.at.reshape(*shape), weight.reshape(*shape))


# ---------------------------------------------------------------------------- moved windows


@onnx_op("DeformConv")
def _deform_conv(site: Site) -> str:
    """A convolution each of whose elements may be read somewhere else."""
    image, weight, offset = (Value(site, site[n]) for n in range(3))
    batch, channels, *sizes = (int(s) for s in site.type().sizes)
    outer, _, *kernel = (int(s) for s in site.type(1).sizes)
    out = [int(s) for s in site.type(2).sizes[2:]]
    shared, groups, rank = site.attr("offset_group", 1), site.attr("group", 1), len(sizes)
    # Each set of offsets moves the windows over channels of its own: images of fewer channels.
    table = _Table.of(image.reshape(batch * shared, channels // shared, *sizes))
    window, points = prod(kernel), prod(out)
    moves = offset.reshape(batch * shared, window, rank, points)
    origin = _window_places(site, kernel, out)
    taps = [
        _linear(moves.part(2, d) + Value(site, site.param(origin[d]))).inside(size, True)
        for d, size in enumerate(sizes)
    ]
    images = batch * int(shared)
    shape: tuple[int, ...] = (images, *[1] * (2 + rank))
    start: Array = np.arange(images).reshape(shape) * prod(sizes)
    found = table.neighbors(Value(site, site.param(start)), taps).reduce("sum", 3)
    if site.has(4):
        mask = Value(site, site[4])
        found = found * mask.reshape(batch * shared, window, points, 1)
    depth = channels // groups * window
    columns = found.transpose(0, 3, 1, 2).reshape(batch, groups, depth, points)
    result = weight.reshape(groups, outer // groups, depth).matmul(columns)
    result = result.reshape(batch, outer, *out)
    if site.has(3):
        result = result + Value(site, site[3]).reshape(outer, *[1] * rank)
    return result.name


def _window_places(site: Site, kernel: Sequence[int], out: Sequence[int]) -> list[np.ndarray]:
    """Per dimension, where each element of each window is read if nothing is moved."""
    rank = len(kernel)
    strides = site.attr("strides", (1,) * rank)
    pads = site.attr("pads", (0,) * (2 * rank))
    dilations = site.attr("dilations", (1,) * rank)
    elements = np.indices(tuple(kernel)).reshape(rank, -1, 1)
    windows = np.indices(tuple(out)).reshape(rank, 1, -1)
    dtype = site.type().dtype.numpy
    return [
        (windows[d] * strides[d] - pads[d] + elements[d] * dilations[d]).astype(dtype)
        for d in range(rank)
    ]
