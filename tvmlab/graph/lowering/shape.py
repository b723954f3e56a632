"""Formulas that move elements: reshape, transpose, concat, split, slice, pad, tile, expand."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import tvmlab.te as te
import tvmlab.topi as topi
from tvmlab.graph.operators import axis_of, slice_bounds
from tvmlab.ir import Expr, const
from tvmlab.te import Tensor

from .registry import Site, lowering


def move(shape: Sequence[int], source: Tensor, places: Any, name: str) -> Tensor:
    """A tensor whose elements are those of another at `places(*indices)`."""

    def value(*at: Any) -> Expr:
        return source[tuple(places(*at))]

    return te.compute(tuple(shape), value, name=name, tag="injective")


@lowering("reshape")
def _reshape(site: Site, a: Tensor) -> Tensor:
    """Dimensions are matched in runs of equal products, so that indices stay simple."""
    assert site.inputs[0] is not None
    runs = _runs(site.inputs[0].sizes, site.output.sizes)

    def places(*at: Any) -> list[Any]:
        found: list[Any] = []
        for olds, news in runs:
            flat: Any = const(0)
            for d, size in news:
                flat = at[d] if len(news) == 1 else flat * size + at[d]
            rest: list[Any] = []
            for position, size in enumerate(reversed(olds)):
                last = position == len(olds) - 1
                rest.insert(0, flat if last else flat % size)
                flat = flat if last else flat // size
            found += rest
        return found

    return move(site.output.sizes, a, places, "reshape")


def _runs(old: Sequence[int], new: Sequence[int]) -> list[tuple[list[int], list[tuple[int, int]]]]:
    """Cut both shapes into shortest pieces with equal numbers of elements."""
    runs: list[tuple[list[int], list[tuple[int, int]]]] = []
    i = j = 0
    while i < len(old) or j < len(new):
        olds, news = list(old[i : i + 1]), [(j, s) for s in new[j : j + 1]]
        i, j = i + 1, j + 1
        while (left := math.prod(olds)) != (right := math.prod(s for _, s in news)):
            if left < right:
                olds.append(old[i])
                i += 1
            else:
                news.append((j, new[j]))
                j += 1
        runs.append((olds, news))
    return runs


@lowering("transpose")
def _transpose(site: Site, a: Tensor) -> Tensor:
    return topi.transpose(a, site.attrs.ints("perm"))


@lowering("concat")
def _concat(site: Site, *tensors: Tensor) -> Tensor:
    axis = axis_of(site.attrs.int("axis"), len(tensors[0].shape))
    sizes = [t.sizes[axis] for t in site.inputs if t is not None]

    def value(*at: Any) -> Expr:
        start = sum(sizes[:-1])
        found = tensors[-1][(*at[:axis], at[axis] - start, *at[axis + 1 :])]
        for tensor, size in zip(reversed(tensors[:-1]), reversed(sizes[:-1]), strict=True):
            start -= size
            here = tensor[(*at[:axis], at[axis] - start, *at[axis + 1 :])]
            found = te.if_then_else(at[axis] < start + size, here, found)
        return found

    return te.compute(site.output.sizes, value, name="concat", tag="injective")


@lowering("split")
def _split(site: Site, a: Tensor) -> list[Tensor]:
    axis, start = axis_of(site.attrs.int("axis"), len(a.shape)), 0
    parts: list[Tensor] = []
    for size, made in zip(site.attrs.ints("sizes"), site.outputs, strict=True):

        def places(*at: Any, first: int = start) -> list[Any]:
            return [*at[:axis], at[axis] + first, *at[axis + 1 :]]

        parts.append(move(made.sizes, a, places, "split") if size else a)
        start += size
    return parts


@lowering("slice")
def _slice(site: Site, a: Tensor) -> Tensor:
    assert site.inputs[0] is not None
    bounds = slice_bounds(site.attrs, site.inputs[0].sizes)

    def places(*at: Any) -> list[Any]:
        return [p * step + first for p, (first, step, _) in zip(at, bounds, strict=True)]

    return move(site.output.sizes, a, places, "slice")


@lowering("pad")
def _pad(site: Site, a: Tensor) -> Tensor:
    assert site.inputs[0] is not None
    pads, mode, sizes = site.attrs.ints("pads"), site.attrs.text("mode"), site.inputs[0].sizes
    rank = len(sizes)
    if mode != "constant":

        def source(*at: Any) -> list[Any]:
            return [
                _mirrored(p - max(pads[d], 0), sizes[d], mode) - min(pads[d], 0)
                for d, p in enumerate(at)
            ]

        return move(site.output.sizes, a, source, "pad")
    value = site.attrs.float("value")
    fill = const(value if a.dtype.is_float else int(value), a.dtype)

    def element(*at: Any) -> Expr:
        places = [p - pads[d] for d, p in enumerate(at)]
        inside: list[Expr] = []
        for d, place in enumerate(places):
            inside += [place >= 0] if pads[d] > 0 else []
            inside += [place < sizes[d]] if pads[d + rank] > 0 else []
        read = a[tuple(places)]
        return te.if_then_else(te.all(*inside), read, fill) if inside else read

    return te.compute(site.output.sizes, element, name="pad", tag="injective,pad")


def _mirrored(place: Any, size: int, mode: str) -> Any:
    if mode == "edge":
        return te.maximum(te.minimum(place, size - 1), 0)
    if mode == "wrap":
        return place % size
    inner = te.abs(place)
    return te.if_then_else(inner < size, inner, 2 * (size - 1) - inner)


@lowering("tile")
def _tile(site: Site, a: Tensor) -> Tensor:
    assert site.inputs[0] is not None
    sizes = site.inputs[0].sizes

    def places(*at: Any) -> list[Any]:
        return [p % s for p, s in zip(at, sizes, strict=True)]

    return move(site.output.sizes, a, places, "tile")


@lowering("expand")
def _expand(site: Site, a: Tensor) -> Tensor:
    return topi.broadcast_to(a, site.output.sizes)


@lowering("trilu")
def _trilu(site: Site, a: Tensor) -> Tensor:
    upper, k = site.attrs.flag("upper"), site.attrs.int("k")

    def value(*at: Any) -> Expr:
        row, column = at[-2] + k, at[-1]
        kept = column >= row if upper else column <= row
        return te.if_then_else(kept, a[at], const(0, a.dtype))

    return te.compute(site.output.sizes, value, name="trilu", tag="injective")


@lowering("reverse_sequence")
def _reverse_sequence(site: Site, a: Tensor, lengths: Tensor) -> Tensor:
    time, batch = site.attrs.int("time_axis"), site.attrs.int("batch_axis")

    def places(*at: Any) -> list[Any]:
        length = lengths[at[batch]]
        back = te.if_then_else(at[time] < length, length - 1 - at[time], at[time])
        return [back if d == time else p for d, p in enumerate(at)]

    return move(site.output.sizes, a, places, "reverse_sequence")
