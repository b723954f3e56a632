"""Two-dimensional convolution in NCHW layout: formula, and a schedule for CPUs.

The schedule is direct: threads over strips of output rows, the padded input of a strip staged
once, a register tile of a few output channels by one row of pixels, and the sum over input channels
and the filter innermost.
"""

from __future__ import annotations

import tvmlab.te as te
from tvmlab.schedule import Schedule
from tvmlab.support import ShapeError
from tvmlab.target import Target
from tvmlab.te import Tensor

_CHANNELS = 4
"""Output channels of the register tile: with four vectors of pixels, 16 registers hold sums."""

_STRIP = 4
"""Output rows that a thread takes at once; a strip stages two rows more of the input."""


def conv2d_nchw(
    batch: int,
    in_channels: int,
    height: int,
    width: int,
    out_channels: int,
    kernel: int,
    *,
    stride: int = 1,
    padding: int = 0,
    dtype: str = "float32",
) -> tuple[Tensor, Tensor, Tensor]:
    """Convolution of images (batch, channel, height, width) with square filters.

    Returns
    -------
    A, W, C
        Image, filters (out_channels, in_channels, kernel, kernel), and output.

    Raises
    ------
    ShapeError
        If the filter is larger than the padded image.
    """
    tall, wide = height + 2 * padding, width + 2 * padding
    if kernel > min(tall, wide):
        raise ShapeError(f"a {kernel}x{kernel} filter does not fit into a {tall}x{wide} image")
    a = te.placeholder((batch, in_channels, height, width), dtype, name="A")
    w = te.placeholder((out_channels, in_channels, kernel, kernel), dtype, name="W")
    source = a
    if padding:
        source = te.compute(
            (batch, in_channels, tall, wide),
            lambda n, c, y, x: te.if_then_else(
                te.all(y >= padding, y < height + padding, x >= padding, x < width + padding),
                a[n, c, y - padding, x - padding],
                te.const(0, dtype),
            ),
            name="P",
        )
    rc = te.reduce_axis(in_channels, "rc")
    ry, rx = te.reduce_axis(kernel, "ry"), te.reduce_axis(kernel, "rx")
    out_height, out_width = (tall - kernel) // stride + 1, (wide - kernel) // stride + 1
    c = te.compute(
        (batch, out_channels, out_height, out_width),
        lambda n, f, y, x: te.sum(
            source[n, rc, y * stride + ry, x * stride + rx] * w[f, rc, ry, rx],
            axis=[rc, ry, rx],
        ),
        name="C",
    )
    return a, w, c


def schedule_conv2d_nchw(c: Tensor, target: Target | str = "cpu") -> Schedule:
    """A schedule of `conv2d_nchw` for CPUs with wide vectors.

    Parameters
    ----------
    c
        The output of `conv2d_nchw`.
    target
        Decides how many pixels of a row make a register tile: up to four vectors.
    """
    pixels = 4 * Target.of(target).lanes(c.dtype.bits)
    sch = Schedule(c, name="conv2d")
    write = sch.cache_write("C", "local")
    n, f, y, x, rc, ry, rx = sch.loops("C")
    fo, fi = sch.split(f, [None, _CHANNELS])
    yo, yi = sch.split(y, [None, _STRIP])
    xo, xi = sch.split(x, [None, pixels])
    sch.reorder(n, yo, fo, yi, xo, rc, ry, rx, fi, xi)
    tile = [[fi, xi], sch.reverse_compute_at(write, xo)]
    strip = sch.fuse(n, yo)
    if any(block.name == "P" for block in sch.blocks()):
        sch.vectorize(sch.compute_at("P", strip)[-1])
    init = sch.decompose_reduction("C", rc)
    tile.append(sch.loops(init)[4:])
    for loops in tile:
        if loops:
            sch.vectorize(loops[-1])
        for loop in loops[:-1]:
            sch.unroll(loop)
    sch.parallel(strip)
    return sch
