"""Formulas of reductions, matrix products, windows and softmax."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import tvmlab.te as te
import tvmlab.topi as topi
from tvmlab.graph.operators import axis_of
from tvmlab.ir import Expr, const, const_int
from tvmlab.support import FLOAT32, INT32, DType
from tvmlab.te import Tensor

from .registry import LOWERINGS, Site, lowering


def accumulator(dtype: DType) -> DType:
    """The type that sums of elements are kept in."""
    return FLOAT32 if dtype.is_float and dtype.bits == 16 else dtype


def cast_to(tensor: Tensor, dtype: DType) -> Tensor:
    """The tensor itself, or a conversion of its elements."""
    return tensor if tensor.dtype == dtype else topi.cast(tensor, dtype)


def _reduction(function: Callable[..., Tensor]) -> Callable[[Site, Tensor], Tensor]:
    def rule(site: Site, a: Tensor) -> Tensor:
        axes = [axis_of(d, len(a.shape)) for d in site.attrs.ints("axes")]
        if not axes:
            return topi.identity(a)
        wide = cast_to(a, accumulator(a.dtype))
        return cast_to(function(wide, axes, site.attrs.flag("keepdims")), a.dtype)

    return rule


def _mean(a: Tensor, axes: list[int], keep: bool) -> Tensor:
    count = 1
    for d in axes:
        count *= const_int(a.shape[d]) or 1
    if a.dtype.is_int:
        return topi.divide(topi.sum(a, axes, keep), const(count, a.dtype))
    return topi.multiply(topi.sum(a, axes, keep), 1.0 / count)


LOWERINGS["sum"] = _reduction(topi.sum)
LOWERINGS["prod"] = _reduction(topi.prod)
LOWERINGS["max"] = _reduction(topi.max)
LOWERINGS["min"] = _reduction(topi.min)
LOWERINGS["mean"] = _reduction(_mean)


@lowering("softmax", "log_softmax")
def _softmax(site: Site, a: Tensor) -> Tensor:
    function = topi.softmax if site.name == "softmax" else topi.log_softmax
    axis = axis_of(site.attrs.int("axis"), len(a.shape))
    return cast_to(function(cast_to(a, accumulator(a.dtype)), axis), a.dtype)


@lowering("matmul")
def _matmul(site: Site, a: Tensor, b: Tensor) -> Tensor:
    transposed = site.attrs.flag("transpose_b")
    to = accumulator(a.dtype)
    made = product(a, b, site.output.sizes, to, transposed=transposed)
    return cast_to(made, a.dtype)


@lowering("matmul_integer")
def _matmul_integer(site: Site, a: Tensor, b: Tensor) -> Tensor:
    return product(a, b, site.output.sizes, INT32, transposed=False)


def product(
    a: Tensor, b: Tensor, shape: Sequence[int], dtype: DType, *, transposed: bool
) -> Tensor:
    """A matrix product by NumPy's rules, summed in a type."""
    vector_a, vector_b = len(a.shape) == 1, len(b.shape) == 1
    k = te.reduce_axis(a.shape[-1], "k")

    def value(*at: Any) -> Expr:
        places = list(at)
        column = None if vector_b else places.pop()
        row = None if vector_a else places.pop()
        lead_a = [] if vector_a else _stretched(a, places, 2)
        lead_b = [] if vector_b else _stretched(b, places, 2)
        left = a[(*lead_a, k)] if row is None else a[(*lead_a, row, k)]
        if column is None:
            right = b[(*lead_b, k)]
        else:
            right = b[(*lead_b, column, k)] if transposed else b[(*lead_b, k, column)]
        return te.sum(te.cast(left, dtype) * te.cast(right, dtype), axis=k)

    name = "dense" if transposed else "matmul"
    return te.compute(
        tuple(shape), value, name=name, tag=name if len(shape) == 2 else f"batch_{name}"
    )


def _stretched(tensor: Tensor, places: Sequence[Any], inner: int) -> list[Any]:
    """Indices of the leading dimensions, of which those of size 1 are repeated."""
    sizes = tensor.shape[: len(tensor.shape) - inner]
    own = places[len(places) - len(sizes) :]
    return [
        const(0) if getattr(size, "value", None) == 1 else place
        for place, size in zip(own, sizes, strict=True)
    ]


@lowering("conv", "conv_integer")
def _conv(site: Site, x: Tensor, w: Tensor, bias: Tensor | None = None) -> Tensor:
    attrs, rank = site.attrs, len(x.shape) - 2
    to = INT32 if site.name == "conv_integer" else accumulator(x.dtype)
    strides, pads, dilations = (attrs.ints(n) for n in ("strides", "pads", "dilations"))
    groups = attrs.int("groups")
    made = None
    if rank == 2 and groups == 1 and to == x.dtype == w.dtype:
        padding = (pads[0], pads[1], pads[2], pads[3])
        made = topi.conv2d(x, w, strides, padding, dilations)
    if made is None:
        made = _grouped_conv(site, x, w, to)
    if bias is not None:
        made = topi.bias_add(made, cast_to(bias, to), axis=1)
    return cast_to(made, site.output.dtype)


def _grouped_conv(site: Site, x: Tensor, w: Tensor, to: DType) -> Tensor:
    attrs, kernel = site.attrs, [const_int(s) or 1 for s in w.shape[2:]]
    strides, dilations, groups = attrs.ints("strides"), attrs.ints("dilations"), attrs.int("groups")
    padded = padded_image(x, attrs.ints("pads"), 0)
    inner = const_int(w.shape[1]) or 1
    per = site.output.sizes[1] // groups
    rc = te.reduce_axis(inner, "rc")
    window = [te.reduce_axis(size, f"r{d}") for d, size in enumerate(kernel)]

    def value(n: Any, f: Any, *at: Any) -> Expr:
        places = [p * s + r * e for p, s, r, e in zip(at, strides, window, dilations, strict=True)]
        channel = rc if groups == 1 else (f // per) * inner + rc
        read = padded[(n, channel, *places)]
        return te.sum(te.cast(read, to) * te.cast(w[(f, rc, *window)], to), axis=[rc, *window])

    name = "depthwise_conv" if inner == 1 and groups > 1 else f"conv{len(kernel)}d"
    return te.compute(site.output.sizes, value, name=name, tag=name)


def padded_image(x: Tensor, pads: Sequence[int], fill: Any, more: Sequence[int] = ()) -> Tensor:
    """An image with a margin, or itself if there is none; `more` elements beyond those pads."""
    rank = len(x.shape) - 2
    extra = list(more) or [0] * rank
    before = [0, 0, *pads[:rank]]
    after = [0, 0, *(p + e for p, e in zip(pads[rank:], extra, strict=True))]
    if not any(before) and not any(after):
        return x
    value = fill if isinstance(fill, Expr) else const(fill, x.dtype)
    return topi.pad(x, before, after, value, name="pad_temp")


@lowering("conv_transpose")
def _conv_transpose(site: Site, x: Tensor, w: Tensor, bias: Tensor | None = None) -> Tensor:
    """Each output sums over the inputs that reach it: those whose distance divides the stride."""
    attrs, kernel = site.attrs, [const_int(s) or 1 for s in w.shape[2:]]
    strides, pads, dilations = (attrs.ints(n) for n in ("strides", "pads", "dilations"))
    groups, per = attrs.int("groups"), (const_int(w.shape[1]) or 1)
    inner = (const_int(x.shape[1]) or 1) // groups
    rc, to = te.reduce_axis(inner, "rc"), accumulator(x.dtype)
    window = [te.reduce_axis(size, f"r{d}") for d, size in enumerate(kernel)]

    def value(n: Any, f: Any, *at: Any) -> Expr:
        conditions: list[Expr] = []
        places: list[Expr] = []
        for d, place in enumerate(at):
            distance = place + pads[d] - window[d] * dilations[d]
            conditions += [distance >= 0, distance < x.shape[2 + d] * strides[d]]
            if strides[d] > 1:
                conditions.append(te.eq(distance % strides[d], 0))
            places.append(distance // strides[d] if strides[d] > 1 else distance)
        channel = rc if groups == 1 else (f // per) * inner + rc
        filter_ = w[(channel, f if groups == 1 else f % per, *window)]
        term = te.cast(x[(n, channel, *places)], to) * te.cast(filter_, to)
        return te.sum(te.if_then_else(te.all(*conditions), term, const(0, to)), axis=[rc, *window])

    made = te.compute(site.output.sizes, value, name="conv_transpose", tag="conv_transpose")
    if bias is not None:
        made = topi.bias_add(made, cast_to(bias, to), axis=1)
    return cast_to(made, site.output.dtype)


def _missing(site: Site, sizes: Sequence[int], kernel: Sequence[int]) -> list[int]:
    """How far the last windows reach beyond image and margin, when sizes are rounded up."""
    attrs, rank = site.attrs, len(kernel)
    strides, pads, dilations = (attrs.ints(n) for n in ("strides", "pads", "dilations"))
    return [
        max(0, (site.output.sizes[2 + d] - 1) * strides[d] + (kernel[d] - 1) * dilations[d] + 1
            - sizes[d] - pads[d] - pads[d + rank])
        for d in range(rank)
    ]  # fmt: skip


def _window_fold(site: Site, x: Tensor, fold: Callable[..., Any], fill: Any, name: str) -> Tensor:
    attrs, kernel = site.attrs, site.attrs.ints("kernel")
    strides, dilations = attrs.ints("strides"), attrs.ints("dilations")
    assert site.inputs[0] is not None
    more = _missing(site, site.inputs[0].sizes[2:], kernel)
    padded = padded_image(x, attrs.ints("pads"), fill, more)
    window = [te.reduce_axis(size, f"r{d}") for d, size in enumerate(kernel)]

    def value(n: Any, c: Any, *at: Any) -> Expr:
        places = [p * s + r * e for p, s, r, e in zip(at, strides, window, dilations, strict=True)]
        return fold(padded[(n, c, *places)], axis=window)

    return te.compute(site.output.sizes, value, name=name, tag=name)


@lowering("max_pool")
def _max_pool(site: Site, x: Tensor) -> Tensor:
    return _window_fold(site, x, te.max, te.min_value(x.dtype), "pool_max")


@lowering("avg_pool")
def _avg_pool(site: Site, x: Tensor) -> Tensor:
    attrs, kernel = site.attrs, site.attrs.ints("kernel")
    strides, pads, dilations = (attrs.ints(n) for n in ("strides", "pads", "dilations"))
    wide = cast_to(x, accumulator(x.dtype))
    whole = _window_fold(site, wide, te.sum, 0, "pool_avg")
    assert site.inputs[0] is not None
    sizes, rank = site.inputs[0].sizes[2:], len(kernel)
    full = True
    counts: list[list[int]] = []
    for d in range(rank):
        margin = (pads[d], pads[d + rank]) if attrs.flag("count_include_pad") else (0, 0)
        low, high = -margin[0], sizes[d] + margin[1]
        row = [
            sum(low <= p * strides[d] - pads[d] + k * dilations[d] < high for k in range(kernel[d]))
            for p in range(site.output.sizes[2 + d])
        ]
        full &= all(c == kernel[d] for c in row)
        counts.append(row)
    if full:
        number = 1.0
        for size in kernel:
            number *= size
        return cast_to(topi.multiply(whole, 1.0 / number), x.dtype)

    def mean(n: Any, c: Any, *at: Any) -> Expr:
        count: Any = const(1)
        for d, place in enumerate(at):
            count = count * _counted(place, counts[d])
        return whole[(n, c, *at)] / te.cast(count, whole.dtype)

    made = te.compute(site.output.sizes, mean, name="pool_avg_mean", tag="elemwise")
    return cast_to(made, x.dtype)


def _counted(place: Any, row: Sequence[int]) -> Expr:
    """An entry of a row of numbers, most of which are equal, as a formula."""
    common = max(set(row), key=row.count)
    found: Expr = const(common)
    for number, count in enumerate(row):
        if count != common:
            found = te.if_then_else(te.eq(place, number), const(count), found)
    return found
