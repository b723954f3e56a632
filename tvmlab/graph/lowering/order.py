"""Formulas of places of extremes, and code of running sums."""

from __future__ import annotations

import math
from collections.abc import Callable
from math import prod
from typing import Any

import tvmlab.te as te
from tvmlab.graph.operators import axis_of
from tvmlab.ir import Expr, const
from tvmlab.support import INT64, DType
from tvmlab.te import Tensor

from .layers import accumulator, padded_image
from .registry import Site, lowering


def _best(largest: bool, last: bool) -> Any:
    """A reduction of pairs (place, value) to the best value; of equal ones the first or last."""

    def join(a: Any, b: Any) -> Any:
        better = a[1] > b[1] if largest else a[1] < b[1]
        before = a[0] > b[0] if last else a[0] < b[0]
        first = te.any(better, te.all(te.eq(a[1], b[1]), before))
        return te.if_then_else(first, a[0], b[0]), te.if_then_else(first, a[1], b[1])

    def start(first: str, second: str) -> Any:
        place, value = DType.of(first), DType.of(second)
        worst = te.min_value(value) if largest else te.max_value(value)
        if value.is_float:
            worst = const(-math.inf if largest else math.inf, value)
        # Beyond all places, so that it loses against an equal value.
        return const(-1 if last else (1 << 62), place), worst

    return te.comm_reducer(join, start, name="best", assume_lawful=True)


@lowering("argmax", "argmin")
def _arg(site: Site, x: Tensor) -> Tensor:
    axis = axis_of(site.attrs.int("axis"), len(x.shape))
    keep = site.attrs.flag("keepdims")
    k = te.reduce_axis(x.shape[axis], "k")
    best = _best(site.name == "argmax", site.attrs.flag("last"))

    def value(*at: Any) -> Any:
        places = list(at)
        if keep:
            places[axis] = k
        else:
            places.insert(axis, k)
        return best((te.cast(k, INT64), x[tuple(places)]), axis=k)

    pair: Any = te.compute(site.output.sizes, value, name=site.name)
    return _places(site, pair[0])


def _places(site: Site, places: Tensor) -> Tensor:
    """The first of the two results of a search: they belong to one operation."""

    def value(*at: Any) -> Expr:
        return places[at]

    return te.compute(site.output.sizes, value, name="place", tag="elemwise")


@lowering("hardmax")
def _hardmax(site: Site, x: Tensor) -> Tensor:
    axis, sizes = axis_of(site.attrs.int("axis"), len(x.shape)), site.output.sizes
    k = te.reduce_axis(x.shape[axis], "k")
    best = _best(largest=True, last=False)
    shape = tuple(1 if d == axis else s for d, s in enumerate(sizes))

    def largest(*at: Any) -> Any:
        return best((te.cast(k, INT64), x[(*at[:axis], k, *at[axis + 1 :])]), axis=k)

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
    best = _best(largest=True, last=False)
    column_major = attrs.flag("column_major")

    def value(n: Any, c: Any, *at: Any) -> Any:
        places = [p * s + r * e for p, s, r, e in zip(at, strides, window, dilations, strict=True)]
        flat: Any = n * sizes[1] + c
        inner: Any = const(0)
        order = range(rank) if not column_major else range(rank - 1, -1, -1)
        for d in order:
            inner = inner * sizes[2 + d] + (places[d] - pads[d])
        flat = flat * prod(sizes[2:]) + inner
        return best((te.cast(flat, INT64), padded[(n, c, *places)]), axis=window)

    pair: Any = te.compute(site.output.sizes, value, name="max_pool_indices")
    return _places(site, pair[0])


_STEP: dict[str, Callable[[Any, Any], Any]] = {
    "cumsum": lambda total, new: total + new,
    "cumprod": lambda total, new: total * new,
}


@lowering("cumsum", "cumprod")
def _cumulative(site: Site, x: Tensor) -> Tensor:
    """Row by row, the running value kept beside."""
    sizes, attrs = site.output.sizes, site.attrs
    axis, to = axis_of(attrs.int("axis"), len(sizes)), accumulator(x.dtype)
    size, inner = sizes[axis], prod(sizes[axis + 1 :])
    start, step = const(1 if site.name == "cumprod" else 0, to), _STEP[site.name]

    def body(ins: Any, outs: Any) -> Any:
        ib = te.ir_builder.create()
        data, out = ib.buffer_ptr(ins[0]), ib.buffer_ptr(outs[0])
        total = ib.allocate(to, (1,), "total")
        with ib.for_range(0, prod(sizes) // size, "row") as row:
            total[0] = start
            with ib.for_range(0, size, "n") as n:
                place = size - 1 - n if attrs.flag("reverse") else n
                at = (row // inner) * (size * inner) + place * inner + row % inner
                if attrs.flag("exclusive"):
                    out[at] = te.cast(total[0], x.dtype)
                total[0] = step(total[0], te.cast(data[at], to))
                if not attrs.flag("exclusive"):
                    out[at] = te.cast(total[0], x.dtype)
        return ib.get()

    return te.extern(sizes, [x], body, name=site.name, dtype=x.dtype)
