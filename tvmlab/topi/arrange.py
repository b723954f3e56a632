"""Tensors joined, cut, turned, repeated: each element comes from one place."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import tvmlab.te as te
from tvmlab.ir import Expr, const, const_int
from tvmlab.support import OptionError, ShapeError
from tvmlab.te import Tensor

from .reduction import normalized
from .tag import INJECTIVE


def concatenate(tensors: Sequence[Tensor], axis: int = 0) -> Tensor:
    """Tensors one behind the other along a dimension.

    Raises
    ------
    ShapeError
        If there are none, or their other sizes differ.
    """
    if not tensors:
        raise ShapeError("nothing to concatenate: the list of tensors is empty")
    first = tensors[0]
    (at,) = normalized(axis, len(first.shape))
    for other in tensors[1:]:
        _require_alike(first, other, at)
    starts: list[Expr] = [const(0)]
    for tensor in tensors:
        starts.append(starts[-1] + tensor.shape[at])

    def value(*indices: Any) -> Expr:
        def of(n: int) -> Expr:
            place = (*indices[:at], indices[at] - starts[n], *indices[at + 1 :])
            return tensors[n][place]

        found = of(len(tensors) - 1)
        for n in range(len(tensors) - 2, -1, -1):
            found = te.if_then_else(indices[at] < starts[n + 1], of(n), found)
        return found

    shape = (*first.shape[:at], starts[-1], *first.shape[at + 1 :])
    return te.compute(shape, value, name="concatenate", tag=INJECTIVE)


def _require_alike(first: Tensor, other: Tensor, at: int) -> None:
    sizes = [(const_int(a), const_int(b)) for a, b in zip(first.shape, other.shape, strict=False)]
    differ = any(a != b for d, (a, b) in enumerate(sizes) if d != at and None not in (a, b))
    if len(first.shape) != len(other.shape) or differ or first.dtype != other.dtype:
        raise ShapeError(
            f"{first.dtype}{list(map(const_int, first.shape))} and "
            f"{other.dtype}{list(map(const_int, other.shape))} cannot be concatenated",
            hint=f"types and all sizes but that of dimension {at} must be equal",
        )


def stack(tensors: Sequence[Tensor], axis: int = 0) -> Tensor:
    """Tensors of one shape along a new dimension."""
    from .shape import expand_dims

    return concatenate([expand_dims(tensor, axis) for tensor in tensors], axis)


def split(a: Tensor, sections: int | Sequence[int], axis: int = 0) -> list[Tensor]:
    """Parts of a tensor along a dimension: so many equal ones, or cut at these places.

    Raises
    ------
    ShapeError
        If the size is unknown or cannot be divided.
    """
    (at,) = normalized(axis, len(a.shape))
    size = const_int(a.shape[at])
    if size is None:
        raise ShapeError(f"the size of dimension {at} must be known to split it")
    if isinstance(sections, int):
        if sections < 1 or size % sections:
            raise ShapeError(f"dimension {at} of size {size} cannot be split into {sections} parts")
        cuts = list(range(0, size + 1, size // sections))
    else:
        cuts = [0, *sections, size]
    begins = [0] * len(a.shape)
    return [
        strided_slice(a, [*begins[:at], low, *begins[at + 1 :]], _ends(a, at, high))
        for low, high in pairwise(cuts)
    ]


def _ends(a: Tensor, at: int, end: int) -> list[int | None]:
    return [end if d == at else None for d in range(len(a.shape))]


def strided_slice(
    a: Tensor,
    begin: Sequence[int | None],
    end: Sequence[int | None],
    strides: Sequence[int] | None = None,
) -> Tensor:
    """What Python's `a[begin:end:stride, ...]` takes, negative numbers included.

    Raises
    ------
    ShapeError
        If a size is unknown.
    OptionError
        If a stride is zero.
    """
    steps = list(strides or []) + [1] * (len(a.shape) - len(strides or []))
    if 0 in steps:
        raise OptionError("a slice cannot have the stride 0")
    taken: list[range] = []
    for d, size in enumerate(a.shape):
        known = const_int(size)
        if known is None:
            raise ShapeError(f"the size of dimension {d} must be known to slice it")
        first = begin[d] if d < len(begin) else None
        last = end[d] if d < len(end) else None
        taken.append(range(*slice(first, last, steps[d]).indices(known)))

    def value(*indices: Any) -> Expr:
        return a[tuple(i * r.step + r.start for i, r in zip(indices, taken, strict=True))]

    shape = tuple(len(r) for r in taken)
    return te.compute(shape, value, name="strided_slice", tag=INJECTIVE)


def flip(a: Tensor, axis: int | Sequence[int] | None = None) -> Tensor:
    """The elements in opposite order along dimensions; along all by default."""
    over = normalized(axis, len(a.shape))

    def value(*indices: Any) -> Expr:
        return a[tuple(a.shape[d] - 1 - i if d in over else i for d, i in enumerate(indices))]

    return te.compute(a.shape, value, name="flip", tag=INJECTIVE)


def tile(a: Tensor, repeats: Sequence[int]) -> Tensor:
    """A tensor side by side with itself, so often along each dimension."""
    missing = len(repeats) - len(a.shape)
    counts = [1] * max(-missing, 0) + list(repeats)
    sizes = [const(1)] * max(missing, 0) + list(a.shape)

    def value(*indices: Any) -> Expr:
        own = indices[max(missing, 0) :]
        return a[tuple(i % size for i, size in zip(own, a.shape, strict=True))]

    shape = tuple(size * count for size, count in zip(sizes, counts, strict=True))
    return te.compute(shape, value, name="tile", tag=INJECTIVE)


def repeat(a: Tensor, count: int, axis: int = 0) -> Tensor:
    """Each element so often in a row along a dimension."""
    (at,) = normalized(axis, len(a.shape))

    def value(*indices: Any) -> Expr:
        return a[(*indices[:at], indices[at] // count, *indices[at + 1 :])]

    shape = (*a.shape[:at], a.shape[at] * count, *a.shape[at + 1 :])
    return te.compute(shape, value, name="repeat", tag=INJECTIVE)


def squeeze(a: Tensor, axis: int | Sequence[int] | None = None) -> Tensor:
    """Without dimensions of size 1: the given ones, or all.

    Raises
    ------
    ShapeError
        If a given dimension has another size.
    """
    ones = [d for d, size in enumerate(a.shape) if const_int(size) == 1]
    gone = ones if axis is None else normalized(axis, len(a.shape))
    if not set(gone) <= set(ones):
        raise ShapeError(f"dimension {axis} cannot be left out: its size is not 1")

    def value(*indices: Any) -> Expr:
        left = list(indices)
        return a[tuple(const(0) if d in gone else left.pop(0) for d in range(len(a.shape)))]

    shape = tuple(size for d, size in enumerate(a.shape) if d not in gone)
    return te.compute(shape, value, name="squeeze", tag=INJECTIVE)
