"""Transposed convolutions by Winograd's algorithm, where each output meets two filter elements.

With stride s and filters of up to 2s elements, outputs of one remainder modulo s are an ordinary
convolution by two elements along each dimension. Tiles of 2x2 such outputs take 9 instead of 16
products, tiles of 4x4 take 25 instead of 64. The last step puts outputs of all remainders side by
side.

>>> u = pack_transposed_winograd(weights, (2, 2), 4)         # an array, once
>>> y = conv2d_transpose_winograd(data, te.placeholder(u.shape, name="U"), (2, 2), (1, 1), (16, 16))
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

import tvmlab.te as te
from tvmlab.ir import Attribute, Expr, const, const_int
from tvmlab.support import ShapeError
from tvmlab.target import Target, TargetLike
from tvmlab.te import Tensor

from .layout import Cut, Layout, Place, channel_block, whole
from .shape import pad
from .transposed import pack_transposed
from .winograd import choose

_POINTS = {2: (0.0, -1.0), 4: (0.0, 1.0, -1.0, 0.5)}
"""For each size of tiles, where the polynomials behind it are evaluated, besides infinity: where
errors were least of those tried."""

_READ_COST = 4.4
"""Reading an element from the last cache takes as long as so many products."""


def _matrices(tile: int) -> tuple[NDArray[np.float64], ...]:
    """The transformations of sums, of filters and of images along one dimension (Toom and Cook)."""
    points, size = _POINTS[tile], tile + 1
    back, filters, images = np.zeros((tile, size)), np.zeros((size, 2)), np.zeros((size, size))
    for number, point in enumerate(points):
        others = [p for p in points if p != point]
        back[:, number] = [point**power for power in range(tile)]
        filters[number] = np.array([1, point]) / prod(point - p for p in others)
        images[number, :tile] = np.poly(others)[::-1]
    back[-1, -1] = filters[-1, -1] = 1
    images[-1] = np.poly(points)[::-1]
    return back, filters, images


def pack_transposed_winograd(
    weights: NDArray[Any], stride: Sequence[int], tile: int, block: int = 16
) -> NDArray[Any]:
    """Filters IOHW, transformed for tiles of a size and packed for `conv2d_transpose_winograd`.

    Returns
    -------
    array
        (tile + 1, tile + 1, remainders, blocks of O, I, block).
    """
    _require_tile(tile)
    if any(not s < k <= 2 * s for k, s in zip(weights.shape[2:], stride, strict=True)):
        raise ShapeError(
            f"filters of {list(weights.shape[2:])} with stride {list(stride)} do not have two "
            "elements for each output"
        )
    inputs, outputs = weights.shape[:2]
    sorted_ = pack_transposed(weights, tuple(stride)).reshape(-1, outputs, inputs, 2, 2)
    _, g, _ = _matrices(tile)
    done = np.einsum("xi,roqij,yj->xyroq", g, sorted_.astype("float64"), g)
    filled = np.pad(done, [(0, 0)] * 3 + [(0, -outputs % block), (0, -inputs % block)])
    cut = filled.reshape(*done.shape[:3], -1, block, filled.shape[4])
    return np.ascontiguousarray(cut.swapaxes(4, 5).astype(weights.dtype))


def transposed_winograd_tile(
    size: Sequence[int],
    channels: tuple[int, int],
    stride: Sequence[int],
    target: TargetLike = "cpu",
) -> int:
    """The size of tiles that should be fastest on a machine, or 0 where direct sums are.

    Parameters
    ----------
    size
        Height and width of the output.
    channels
        Of the input and of the output.
    """
    machine = Target.of(target)
    block = channel_block(machine)
    if block == 1 or any(c % block for c in channels):
        return 0
    last = max((cache.size for cache in machine.caches), default=1 << 20)
    places = [-(-extent // s) for extent, s in zip(size, stride, strict=True)]
    direct = 4.0 * (prod(p + 1 for p in places) + _READ_COST)
    best, chosen = direct, 0
    for tile in _POINTS:
        products = (tile + 1) ** 2
        tiles = prod(-(-p // tile) for p in places)
        fits = products * prod(stride) * prod(channels) * 4 <= last * 5 // 8
        cost = products * (tiles + _READ_COST)
        if fits and cost < best:
            best, chosen = cost, tile
    return chosen


def conv2d_transpose_winograd(
    data: Tensor,
    filters: Tensor,
    stride: Sequence[int],
    before: Sequence[int],
    size: Sequence[int],
    layout: str = "NCHW16c",
) -> Tensor:
    """A transposed convolution from transformed filters.

    Parameters
    ----------
    data
        Images in blocks of channels, such as "NCHW16c".
    filters
        As `pack_transposed_winograd` makes them.
    before
        Outputs that are cut off in front, along height and width.
    size
        Height and width of the output.

    Raises
    ------
    ShapeError
        If sizes do not fit together.
    """
    images = Layout.of(layout)
    sizes = images.sizes(data.shape)
    side, remainders, inputs, lanes = (_known(filters.shape[d]) for d in (0, 2, 4, 5))
    _require_tile(side - 1)
    if remainders != prod(stride):
        raise ShapeError(f"filters for {remainders} remainders do not fit stride {list(stride)}")
    if const_int(sizes["C"]) != inputs or images.block("C") != lanes:
        raise ShapeError(
            f"filters are packed for {inputs} channels in blocks of {lanes}, but images in layout "
            f"{layout} have {const_int(sizes['C'])}"
        )
    return _Spread(data, filters, images, stride, before, size).compute()


class _Spread:
    """The stages of the algorithm; `r` counts remainders, `p` tiles of all images."""

    def __init__(
        self, data: Tensor, filters: Tensor, layout: Layout, stride: Sequence[int],
        before: Sequence[int], size: Sequence[int],
    ) -> None:  # fmt: skip
        self._filters, self._layout = filters, layout
        self._stride, self._before, self._size = stride, before, size
        self._side, self._tile = _known(filters.shape[0]), _known(filters.shape[0]) - 1
        self._lanes = _known(filters.shape[5])
        sizes = layout.sizes(data.shape)
        self._batch = _known(sizes["N"])
        self._span = [s * self._tile for s in stride]
        self._tiles = [-(-n // s) for n, s in zip(size, self._span, strict=True)]
        self._count = self._batch * self._tiles[0] * self._tiles[1]
        self._back, _, self._forth = _matrices(self._tile)
        # Tiles of outputs begin with the first one of their remainder that is not cut off.
        first = [
            [-(-(b - r) // s) - 1 for r in range(s)] for b, s in zip(before, stride, strict=True)
        ]
        self._margin = [max(0, -min(f)) for f in first]
        last = [
            max(0, (t - 1) * self._tile + max(f) + self._side - _known(sizes[name]))
            for t, f, name in zip(self._tiles, first, "HW", strict=True)
        ]
        around = [{"H": m[0], "W": m[1]} for m in (self._margin, last)]
        self._source = data
        if any((*self._margin, *last)):
            in_front, behind = ([a.get(s, 0) for s in layout.letters] for a in around)
            self._source = pad(data, in_front, behind, name="pad_temp")

    def _first(self, remainder: Expr, d: int) -> Expr:
        """How many outputs of a remainder are cut off in front."""
        step = self._stride[d]
        return (remainder * -1 + (self._before[d] + step - 1)) // step

    def compute(self) -> Tensor:
        """The output, in the layout of the data."""
        rows = self._rows(self._sums(self._transformed_images()))
        attrs: dict[str, Attribute] = {
            "conv": "winograd",
            "layout": self._layout.text,
            "out_layout": self._layout.text,
            "tile": (self._span[0], self._span[1]),
        }
        outputs = _known(self._filters.shape[3]) * self._lanes
        sizes = {"N": const(self._batch), "C": outputs, "H": self._size[0], "W": self._size[1]}

        def element(*indices: Any) -> Expr:
            at = self._layout.element(indices)
            y, x, c = whole(at["H"]), whole(at["W"]), at["C"]
            assert isinstance(c, Cut)
            tall, wide = self._span
            p = (whole(at["N"]) * self._tiles[0] + y // tall) * self._tiles[1] + x // wide
            place = x % wide + self._before[1]
            right = place % self._stride[1]
            parts = _combined(self._back, lambda v: rows[c.block, p, y % tall, right, v, c.lane])
            return choose(place // self._stride[1] - self._first(right, 1), parts)

        shape = self._layout.shape(sizes)
        return te.compute(shape, element, "conv2d_transpose", "conv2d_winograd", attrs)

    def _transformed_images(self) -> Tensor:
        blocks, remainders = _known(self._filters.shape[4]) // self._lanes, prod(self._stride)
        tall, wide = self._tiles

        def pixel(r: Expr, b: Expr, p: Expr, i: Expr, j: int, c: Expr) -> Expr:
            right = self._first(r % self._stride[1], 1) - 1 + self._margin[1]
            down = self._first(r // self._stride[1], 0) - 1 + self._margin[0]
            place: dict[str, Place] = {
                "N": p // (tall * wide),
                "C": Cut(b, c, self._lanes),
                "H": p // wide % tall * self._tile + i + down,
                "W": p % wide * self._tile + j + right,
            }
            return self._source[self._layout.place(place)]

        def column(r: Expr, b: Expr, p: Expr, i: Expr, v: Expr, c: Expr) -> Expr:
            return choose(v, _combined(self._forth, lambda j: pixel(r, b, p, i, j, c)))

        columns = te.compute(
            (remainders, blocks, self._count, self._side, self._side, self._lanes),
            column, name="image_columns",
        )  # fmt: skip
        return te.compute(
            (self._side, self._side, remainders, blocks, self._count, self._lanes),
            lambda u, v, r, b, p, c: choose(
                u, _combined(self._forth, lambda i: columns[r, b, p, i, v, c])
            ),
            name="image_tiles",
        )

    def _sums(self, taken: Tensor) -> Tensor:
        rc = te.reduce_axis(_known(taken.shape[3]), "rc")
        ri = te.reduce_axis(self._lanes, "ri")
        shape = (*taken.shape[:3], self._filters.shape[3], self._count, self._lanes)
        return te.compute(
            shape,
            lambda u, v, r, o, p, c: te.sum(
                taken[u, v, r, rc, p, ri] * self._filters[u, v, r, o, rc * self._lanes + ri, c],
                axis=[rc, ri],
            ),
            name="tile_sums",
        )

    def _rows(self, sums: Tensor) -> Tensor:
        """Sums transformed back along the height: for each row of a tile of outputs."""
        across = self._stride[1]

        def row(o: Expr, p: Expr, y: Expr, right: Expr, v: Expr, c: Expr) -> Expr:
            place = y + self._before[0]
            down = place % self._stride[0]
            parts = _combined(self._back, lambda u: sums[u, v, down * across + right, o, p, c])
            return choose(place // self._stride[0] - self._first(down, 0), parts)

        shape = (sums.shape[3], self._count, self._span[0], across, self._side, self._lanes)
        return te.compute(shape, row, name="inverse_rows")


def _combined(matrix: NDArray[np.float64], value: Callable[[int], Expr]) -> list[Expr]:
    """A matrix times values, without what is multiplied by nothing."""
    found: list[Expr] = []
    for row in matrix:
        total: Expr | None = None
        for number, factor in enumerate(row):
            if factor:
                part = value(number)
                part = part if factor == 1 else part * float(factor)
                total = part if total is None else total + part
        assert total is not None
        found.append(total)
    return found


def _known(size: Expr) -> int:
    found = const_int(size)
    if found is None:
        raise ShapeError(f"Winograd's algorithm needs known sizes, not {size}")
    return found


def _require_tile(tile: int) -> None:
    if tile not in _POINTS:
        raise ShapeError(f"tiles of transposed convolutions are of 2x2 or 4x4 outputs, not {tile}")
