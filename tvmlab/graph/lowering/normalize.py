"""Formulas of normalizations."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import tvmlab.te as te
import tvmlab.topi as topi
from tvmlab.graph.operators import axis_of, lrn_window
from tvmlab.ir import Expr, const, const_int
from tvmlab.te import Tensor

from .layers import accumulator, cast_to
from .registry import Site, lowering


@lowering("batch_norm")
def _batch_norm(site: Site, x: Tensor, scale: Tensor, bias: Tensor, mean: Tensor,
                variance: Tensor) -> Tensor:  # fmt: skip
    to, epsilon = accumulator(x.dtype), site.attrs.float("epsilon")

    def value(*at: Any) -> Expr:
        c = at[1]
        s, b, m, v = (te.cast(t[c], to) for t in (scale, bias, mean, variance))
        return te.cast((te.cast(x[at], to) - m) / te.sqrt(v + epsilon) * s + b, x.dtype)

    return te.compute(site.output.sizes, value, name="batch_norm", tag="broadcast")


def standardized(x: Tensor, axes: Sequence[int], sizes: Sequence[int], epsilon: float) -> Tensor:
    """Elements less their mean, divided by their deviation, over dimensions."""
    count = prod(sizes[d] for d in axes)
    mean = topi.multiply(topi.sum(x, axes, keepdims=True), 1.0 / count)
    centered = topi.subtract(x, mean)
    square = topi.sum(topi.multiply(centered, centered), axes, keepdims=True)
    share = topi.rsqrt(topi.add(topi.multiply(square, 1.0 / count), epsilon))
    return topi.multiply(centered, share)


def _scaled(site: Site, x: Tensor, made: Tensor, scale: Tensor | None, bias: Tensor | None,
            place: Any) -> Tensor:  # fmt: skip
    """`made * scale + bias`, whose elements for an index are at `place`."""

    def value(*at: Any) -> Expr:
        result = made[at]
        if scale is not None:
            result = result * te.cast(scale[place(scale, at)], made.dtype)
        if bias is not None:
            result = result + te.cast(bias[place(bias, at)], made.dtype)
        return te.cast(result, x.dtype)

    return te.compute(site.output.sizes, value, name="scaled", tag="broadcast")


def _trailing(tensor: Tensor, at: Sequence[Any]) -> tuple[Any, ...]:
    own = at[len(at) - len(tensor.shape) :]
    return tuple(
        const(0) if getattr(s, "value", None) == 1 else i
        for i, s in zip(own, tensor.shape, strict=True)
    )


@lowering("layer_norm")
def _layer_norm(site: Site, x: Tensor, scale: Tensor | None = None,
                bias: Tensor | None = None) -> Tensor:  # fmt: skip
    sizes = site.output.sizes
    axes = list(range(axis_of(site.attrs.int("axis"), len(sizes)), len(sizes)))
    made = standardized(cast_to(x, accumulator(x.dtype)), axes, sizes, site.attrs.float("epsilon"))
    return _scaled(site, x, made, scale, bias, _trailing)


@lowering("rms_norm")
def _rms_norm(site: Site, x: Tensor, scale: Tensor | None = None) -> Tensor:
    sizes = site.output.sizes
    axes = list(range(axis_of(site.attrs.int("axis"), len(sizes)), len(sizes)))
    wide = cast_to(x, accumulator(x.dtype))
    square = topi.sum(topi.multiply(wide, wide), axes, keepdims=True)
    mean = topi.multiply(square, 1.0 / prod(sizes[d] for d in axes))
    made = topi.multiply(wide, topi.rsqrt(topi.add(mean, site.attrs.float("epsilon"))))
    return _scaled(site, x, made, scale, None, _trailing)


def _channel(_: Tensor, at: Sequence[Any]) -> tuple[Any, ...]:
    return (at[1],)


@lowering("instance_norm")
def _instance_norm(site: Site, x: Tensor, scale: Tensor, bias: Tensor) -> Tensor:
    sizes = site.output.sizes
    wide = cast_to(x, accumulator(x.dtype))
    made = standardized(wide, list(range(2, len(sizes))), sizes, site.attrs.float("epsilon"))
    return _scaled(site, x, made, scale, bias, _channel)


@lowering("group_norm")
def _group_norm(site: Site, x: Tensor, scale: Tensor, bias: Tensor) -> Tensor:
    sizes, groups = site.output.sizes, site.attrs.int("groups")
    per, rank = sizes[1] // groups, len(sizes)
    shape = (sizes[0], groups, per, *sizes[2:])
    to = accumulator(x.dtype)

    def grouped(n: Any, g: Any, c: Any, *at: Any) -> Expr:
        return te.cast(x[(n, g * per + c, *at)], to)

    wide = te.compute(shape, grouped, name="by_group", tag="injective")  # fmt: skip
    made = standardized(wide, list(range(2, rank + 1)), shape, site.attrs.float("epsilon"))

    def value(n: Any, c: Any, *at: Any) -> Expr:
        def figure(t: Tensor) -> Expr:
            return te.cast(t[c // (sizes[1] // (const_int(t.shape[0]) or 1))], made.dtype)

        spread = made[(n, c // per, c % per, *at)]
        return te.cast(spread * figure(scale) + figure(bias), x.dtype)

    return te.compute(sizes, value, name="group_norm", tag="injective")


@lowering("lrn")
def _lrn(site: Site, x: Tensor) -> Tensor:
    attrs = site.attrs
    before, after = lrn_window(attrs.int("size"))
    wide = cast_to(x, accumulator(x.dtype))
    rank = len(site.output.sizes)
    square = topi.multiply(wide, wide)
    room = topi.pad(square, [0, before, *[0] * (rank - 2)], [0, after, *[0] * (rank - 2)],
                    name="pad_temp")  # fmt: skip
    k = te.reduce_axis(attrs.int("size"), "k")

    def window(n: Any, c: Any, *at: Any) -> Expr:
        return te.sum(room[(n, c + k, *at)], axis=k)

    total = te.compute(site.output.sizes, window, name="lrn_sum", tag="comm_reduce")  # fmt: skip
    share = attrs.float("alpha") / attrs.int("size")

    def value(*at: Any) -> Expr:
        power = te.power(total[at] * share + attrs.float("bias"), const(-attrs.float("beta"),
                                                                        wide.dtype))  # fmt: skip
        return te.cast(wide[at] * power, x.dtype)

    return te.compute(site.output.sizes, value, name="lrn", tag="elemwise")
