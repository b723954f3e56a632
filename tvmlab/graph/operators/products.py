"""Sums of products: by letters of dimensions, and along one dimension by tables of weights."""

from __future__ import annotations

import re

import numpy as np

from tvmlab.graph.dims import Dim
from tvmlab.graph.types import TensorType
from tvmlab.support import OptionError, ShapeError

from .registry import Array, Attr, Attrs, Call, axis_of, need, operator, same_dtype

_TERM = re.compile(r"[A-Za-z]*(?:\.\.\.)?[A-Za-z]*")


def einsum_letters(equation: str, ranks: list[int]) -> tuple[list[str], str]:
    """The letters of each input and of the output; those of an ellipsis are digits.

    Raises
    ------
    OptionError
        If the equation is none, or does not fit to the inputs.
    """
    left, arrow, right = equation.replace(" ", "").partition("->")
    terms = left.split(",")
    if len(terms) != len(ranks) or not all(_TERM.fullmatch(t) for t in [*terms, right]):
        raise OptionError(f"equation is {equation!r}, which does not fit to {len(ranks)} input(s)")
    most = max(
        (r - len(t.replace("...", "")) for t, r in zip(terms, ranks, strict=True) if "..." in t),
        default=0,
    )
    found: list[str] = []
    for term, rank in zip(terms, ranks, strict=True):
        extra = rank - len(term.replace("...", ""))
        if extra < 0 or (extra and "..." not in term) or most > 9:
            raise OptionError(f"equation is {equation!r}, but an input has {rank} dimension(s)")
        found.append(term.replace("...", "0123456789"[most - extra : most]))
    if arrow:
        return found, right.replace("...", "0123456789"[:most])
    every = "".join(found)
    once = sorted(c for c in set(every) if every.count(c) == 1 and c.isalpha())
    return found, "0123456789"[:most] + "".join(once)


def einsum_sizes(letters: list[str], shapes: list[tuple[Dim, ...]]) -> dict[str, Dim]:
    """The size of each letter."""
    sizes: dict[str, Dim] = {}
    for term, shape in zip(letters, shapes, strict=True):
        for letter, size in zip(term, shape, strict=True):
            if sizes.setdefault(letter, size) == 1:
                sizes[letter] = size
            if size not in (1, sizes[letter]):
                raise ShapeError(f"the dimension {letter} is {sizes[letter]} and {size}")
    return sizes


def _einsum_type(call: Call) -> TensorType:
    need(call[0], "number")
    dtype = same_dtype(call.given)
    shapes = [t.shape for t in call.given]
    letters, out = einsum_letters(call.attrs.text("equation"), [len(s) for s in shapes])
    sizes = einsum_sizes(letters, shapes)
    missing = [c for c in out if c not in sizes]
    if missing:
        raise OptionError(f"equation has {missing[0]!r} only in the output")
    return TensorType.of(dtype, [sizes[c] for c in out])


def _einsum(attrs: Attrs, *arrays: Array) -> Array:
    narrow = arrays[0].dtype.itemsize == 2
    given = [a.astype(np.float32) if narrow else a for a in arrays]
    made = np.einsum(attrs.text("equation").replace(" ", ""), *given)
    return np.asarray(made).astype(arrays[0].dtype)


operator("einsum", _einsum_type, _einsum, "complex", inputs=(1, None), equation=Attr("text"))


def _resample_type(call: Call) -> TensorType:
    """Inputs are data, indices (places, taps) and weights of the same shape."""
    need(call[0], "number")
    need(call[1], "index")
    axis = axis_of(call.attrs.int("axis"), call[0].rank)
    if call[1].rank != 2 or call[1].shape != call[2].shape:
        raise ShapeError(f"indices {call[1]} and weights {call[2]} must be equal matrices")
    places = call[1].shape[0]
    return call[0].with_shape(places if d == axis else s for d, s in enumerate(call[0].shape))


def _resample(attrs: Attrs, x: Array, indices: Array, weights: Array) -> Array:
    axis = axis_of(attrs.int("axis"), x.ndim)
    taps = np.moveaxis(np.take(x, indices, axis), axis, -1)  # (..., taps, ..., places)
    taps = np.moveaxis(taps, axis, -1)
    made = (taps.astype(weights.dtype) * weights).sum(-1)
    return np.moveaxis(made, -1, axis).astype(x.dtype)


operator("resample", _resample_type, _resample, "reduction", inputs=3, axis=Attr("int"))
