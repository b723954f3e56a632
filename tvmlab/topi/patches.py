"""Patches of an image: a row of elements for each place of a window, for products by weights."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import tvmlab.te as te
from tvmlab.ir import Expr, Var, const, const_int
from tvmlab.schedule import Schedule
from tvmlab.target import Target
from tvmlab.te import Tensor

from .default import schedule

TAG = "patches"
_MOST_LANES = 64


def patches(
    x: Tensor,
    kernel: Sequence[int],
    strides: Sequence[int],
    pads: Sequence[int],
    dilations: Sequence[int],
    fill: int = 0,
) -> Tensor:
    """Rows (kernel height, kernel width, channels) of an image NHWC, as long as a multiple of 4.

    Parameters
    ----------
    pads
        Top, left, bottom, right.
    fill
        What lies around the image.
    """
    (kh, kw), (sh, sw), (dh, dw) = kernel, strides, dilations
    top, left, bottom, right = pads
    batch, height, width, channels = (const_int(s) or 1 for s in x.shape)
    down = (height + top + bottom - (kh - 1) * dh - 1) // sh + 1
    across = (width + left + right - (kw - 1) * dw - 1) // sw + 1
    inside, per = kh * kw * channels, down * across
    depth = -(-inside // 4) * 4
    around, nothing = const(fill, x.dtype), const(0, x.dtype)

    def value(row: Any, k: Any) -> Expr:
        place = row % per
        y = place // across * sh + k // (kw * channels) * dh - top
        z = place % across * sw + k // channels % kw * dw - left
        read: Expr = x[row // per, y, z, k % channels]
        if kh * kw > 1 or any(pads):
            read = te.if_then_else(te.all(y >= 0, y < height, z >= 0, z < width), read, around)
        return te.if_then_else(k < inside, read, nothing) if depth != inside else read

    sizes = {"across": across, "channels": channels, "kw": kw}
    return te.compute((batch * per, depth), value, name=TAG, tag=TAG, attrs=sizes)


def schedule_patches(
    made: Tensor,
    target: Target | str = "cpu",
    *,
    args: Sequence[Tensor | Var] | None = None,
    name: str | None = None,
) -> Schedule:
    """A schedule of `patches`: rows of the image for the threads, channels in vectors."""
    machine, sizes = Target.of(target), made.op.attrs
    across, channels, kw = (int(sizes[n]) for n in ("across", "channels", "kw"))
    depth = const_int(made.shape[1]) or 1
    lanes = next(n for n in range(min(channels, _MOST_LANES), 0, -1) if channels % n == 0)
    if depth % channels or lanes < 4:
        return schedule(made, machine, args=args, name=name)
    sch = Schedule(made, args=args, name=name or TAG)
    row, k = sch.loops(made)
    line, _ = sch.split(row, [None, across])
    tap, channel = sch.split(k, [None, channels])
    sch.split(tap, [None, kw])
    _, vector = sch.split(channel, [None, lanes])
    sch.vectorize(vector)
    if machine.num_threads > 1:
        sch.parallel(line)
    return sch
