"""Formulas of places of extremes, and code of running sums."""

from __future__ import annotations

from math import prod
from typing import Any

import tvmlab.te as te
import tvmlab.topi as topi
from tvmlab.graph.operators import axis_of
from tvmlab.ir import Expr, const
from tvmlab.support import INT64
from tvmlab.te import Tensor

from .layers import padded_image
from .registry import Site, lowering


@lowering("argmax", "argmin")
def _arg(site: Site, x: Tensor) -> Tensor:
    find = topi.argmax if site.name == "argmax" else topi.argmin
    last = site.attrs.flag("last")
    found = find(x, site.attrs.int("axis"), site.attrs.flag("keepdims"), last)
    return found if last else _places(site, found)


def _places(site: Site, places: Tensor) -> Tensor:
    """The first of the two results of a search: they belong to one operation."""

    def value(*at: Any) -> Expr:
        return places[at]

    return te.compute(site.output.sizes, value, name="place", tag="elemwise")


@lowering("hardmax")
def _hardmax(site: Site, x: Tensor) -> Tensor:
    axis, sizes = axis_of(site.attrs.int("axis"), len(x.shape)), site.output.sizes
    k = te.reduce_axis(x.shape[axis], "k")
    shape = tuple(1 if d == axis else s for d, s in enumerate(sizes))

    def largest(*at: Any) -> Any:
        return te.argmax((te.cast(k, INT64), x[(*at[:axis], k, *at[axis + 1 :])]), axis=k)

    pair: Any = te.compute(shape, largest, name="hardmax_best")

    def value(*at: Any) -> Expr:
        place = pair[0][(*at[:axis], const(0), *at[axis + 1 :])]
        here = te.eq(place, te.cast(at[axis], INT64))
        return te.if_then_else(here, const(1, x.dtype), const(0, x.dtype))

    return te.compute(sizes, value, name="hardmax", tag="injective")


@lowering("max_pool_indices")
def _max_pool_indices(site: Site, x: Tensor) -> Tensor:
    attrs, kernel = site.attrs, site.attrs.ints("kernel")
    strides, pads, dilations = (attrs.ints(n) for n in ("strides", "pads", "dilations"))
    assert site.inputs[0] is not None
    sizes, rank = site.inputs[0].sizes, len(kernel)
    more = [
        max(0, (site.output.sizes[2 + d] - 1) * strides[d] + (kernel[d] - 1) * dilations[d] + 1
            - sizes[2 + d] - pads[d] - pads[d + rank])
        for d in range(rank)
    ]  # fmt: skip
    padded = padded_image(x, pads, te.min_value(x.dtype), more)
    window = [te.reduce_axis(size, f"r{d}") for d, size in enumerate(kernel)]
    column_major = attrs.flag("column_major")

    def value(n: Any, c: Any, *at: Any) -> Any:
        places = [p * s + r * e for p, s, r, e in zip(at, strides, window, dilations, strict=True)]
        flat: Any = n * sizes[1] + c
        inner: Any = const(0)
        order = range(rank) if not column_major else range(rank - 1, -1, -1)
        for d in order:
            inner = inner * sizes[2 + d] + (places[d] - pads[d])
        flat = flat * prod(sizes[2:]) + inner
        return te.argmax((te.cast(flat, INT64), padded[(n, c, *places)]), axis=window)

    pair: Any = te.compute(site.output.sizes, value, name="max_pool_indices")
    return _places(site, pair[0])


@lowering("cumsum", "cumprod")
def _cumulative(site: Site, x: Tensor) -> Tensor:
    run = topi.cumsum if site.name == "cumsum" else topi.cumprod
    return run(x, site.attrs.int("axis"), site.attrs.flag("exclusive"), site.attrs.flag("reverse"))
