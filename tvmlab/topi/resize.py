"""Images of another size: the nearest pixel, or a mixture of the four around."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tvmlab.te as te
from tvmlab.ir import Expr, const_int
from tvmlab.support import INDEX, OptionError, ShapeError
from tvmlab.te import Tensor

from .tag import INJECTIVE

_PLACES: dict[str, Callable[[Any, int, int], Any]] = {
    "half_pixel": lambda i, old, new: (i + 0.5) * (old / new) - 0.5,
    "align_corners": lambda i, old, new: i * ((old - 1) / max(new - 1, 1)),
    "asymmetric": lambda i, old, new: i * (old / new),
}


def resize(
    data: Tensor,
    size: tuple[int, int],
    method: str = "linear",
    layout: str = "NCHW",
    coordinates: str = "half_pixel",
) -> Tensor:
    """Images of `size` (height, width).

    Parameters
    ----------
    method
        "nearest" (the next one below, from the coordinate rounded down after adding a half, exact
        halves down) or "linear".
    coordinates
        Where a new pixel lies in the old image: "half_pixel", "align_corners" or "asymmetric".

    Raises
    ------
    OptionError
        If a name is unknown.
    ShapeError
        If height or width are known only at run time.
    """
    if method not in ("nearest", "linear"):
        raise OptionError(f"there is no method {method!r}", hint='it is "nearest" or "linear"')
    if coordinates not in _PLACES:
        raise OptionError(
            f"there are no coordinates {coordinates!r}", hint=f"they are {', '.join(_PLACES)}"
        )
    h, w = layout.index("H"), layout.index("W")
    old = [const_int(data.shape[d]) for d in (h, w)]
    if None in old:
        raise ShapeError("height and width must be known to resize an image")
    tall, wide = (int(n or 1) for n in old)
    place = _PLACES[coordinates]

    def at(indices: tuple[Any, ...], y: Any, x: Any) -> Expr:
        places = list(indices)
        places[h], places[w] = _inside(y, tall), _inside(x, wide)
        return data[tuple(places)]

    def nearest(*indices: Any) -> Expr:
        y = place(te.cast(indices[h], "float32"), tall, size[0])
        x = place(te.cast(indices[w], "float32"), wide, size[1])
        return at(indices, te.ceil(y - 0.5), te.ceil(x - 0.5))

    def linear(*indices: Any) -> Expr:
        y = place(te.cast(indices[h], "float32"), tall, size[0])
        x = place(te.cast(indices[w], "float32"), wide, size[1])
        top, left = te.floor(y), te.floor(x)
        down, right = y - top, x - left
        upper = at(indices, top, left) * (1 - right) + at(indices, top, left + 1) * right
        lower = at(indices, top + 1, left) * (1 - right) + at(indices, top + 1, left + 1) * right
        return upper * (1 - down) + lower * down

    shape = list(data.shape)
    shape[h], shape[w] = te.const(size[0]), te.const(size[1])
    formula = nearest if method == "nearest" else linear
    return te.compute(tuple(shape), formula, name="resize", tag=INJECTIVE)


def _inside(place: Any, size: int) -> Expr:
    """The index of a place, those outside at the border."""
    return te.cast(te.maximum(te.minimum(place, float(size - 1)), 0.0), INDEX)
