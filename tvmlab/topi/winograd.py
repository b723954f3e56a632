"""Convolutions by 3x3 filters with stride 1 in fewer multiplications (Winograd's algorithm).

Tiles of the image and the filters are transformed, multiplied element by element and summed over
channels, and the sums are transformed back (Lavin and Gray, "Fast Algorithms for Convolutional
Neural Networks", CVPR 2016). Tiles of 4x4 outputs take a quarter of the multiplications, tiles of
2x2 four ninths; the first round about as a direct sum does, the second less. Filters are
transformed beforehand.

>>> u = pack_winograd(weights, 4)                            # an array, once
>>> y = conv2d_winograd(data, te.placeholder(u.shape, name="U"), padding=1)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

import tvmlab.te as te
from tvmlab.ir import Attribute, Expr, const, const_int
from tvmlab.support import ShapeError
from tvmlab.target import Target, TargetLike
from tvmlab.te import Tensor

from .geometry import Padding, margins
from .layout import Cut, Layout, Place, channel_block, whole
from .shape import pad

_NEAR, _FAR = 5 / 8, 3 / 2
"""Where the polynomials behind tiles of 4x4 are evaluated, besides 0 and infinity: at these and
their negatives. With the usual 1 and 2 errors are three times as large."""


def _filter_transform(tile: int) -> NDArray[np.float64]:
    """The matrix that transforms filters along one dimension."""
    if tile == 2:
        return np.array([[1, 0, 0], [1 / 2, 1 / 2, 1 / 2], [1 / 2, -1 / 2, 1 / 2], [0, 0, 1]])
    rows: list[list[float]] = [[1 / (_NEAR * _FAR) ** 2, 0, 0]]
    for point, other in ((_NEAR, _FAR), (_FAR, _NEAR)):
        scale = 1 / (2 * point**2 * (point**2 - other**2))
        rows += [[scale, sign * scale * point, scale * point**2] for sign in (1, -1)]
    return np.array([*rows, [0, 0, 1]])


_WORTH_IT = 1.5
"""Multiplications of a direct sum for each one left, at least, to pay for the transformations."""


def pack_winograd(weights: NDArray[Any], tile: int = 4, block: int = 16) -> NDArray[Any]:
    """Filters OIHW, transformed for tiles of a size and packed for `conv2d_winograd`.

    Parameters
    ----------
    weights
        3x3 filters (O, I, 3, 3).
    tile
        2 or 4: outputs of a tile along each dimension.
    block
        Channels in a block; the last ones are filled with zeros.

    Returns
    -------
    array
        (tile + 2, tile + 2, blocks of O, I, block).
    """
    _require_tile(tile)
    if weights.ndim != 4 or weights.shape[2:] != (3, 3):
        raise ShapeError(f"Winograd's algorithm here needs 3x3 filters, not {weights.shape}")
    g = _filter_transform(tile)
    done = np.einsum("xi,oqij,yj->xyoq", g, weights.astype("float64"), g)
    outputs, inputs = weights.shape[:2]
    filled = np.pad(done, [(0, 0), (0, 0), (0, -outputs % block), (0, -inputs % block)])
    cut = filled.reshape(*done.shape[:2], -1, block, filled.shape[3])
    return np.ascontiguousarray(cut.transpose(0, 1, 2, 4, 3).astype(weights.dtype))


def winograd_tile(
    height: int, width: int, inputs: int, outputs: int, target: TargetLike = "cpu"
) -> int:
    """The size of tiles that should be fastest on a machine, or 0 where direct sums are.

    Transformed filters are larger, and each is used once for every tile of the image: where they
    leave the caches, reading them takes longer than the multiplications saved.

    Parameters
    ----------
    height, width
        Of the output.
    inputs, outputs
        Numbers of channels, which should be multiples of `channel_block`.
    """
    machine = Target.of(target)
    block = channel_block(machine)
    if block == 1 or inputs % block or outputs % block:
        return 0
    last = max((cache.size for cache in machine.caches), default=1 << 20)
    for tile in (4, 2):
        tiles = -(-height // tile) * -(-width // tile)
        size = (tile + 2) ** 2 * inputs * outputs * 4
        saved = 9 * height * width / ((tile + 2) ** 2 * tiles)
        if size <= last * 5 // 8 and saved > _WORTH_IT and tiles >= 4:
            return tile
    return 0


def conv2d_winograd(
    data: Tensor, filters: Tensor, padding: Padding = 1, layout: str = "NCHW16c"
) -> Tensor:
    """A convolution by 3x3 filters with stride 1, from transformed filters.

    Parameters
    ----------
    data
        Images whose channels lie together, such as "NHWC" or "NCHW16c".
    filters
        As `pack_winograd` makes them; their shape says how large the tiles are.

    Raises
    ------
    ShapeError
        If sizes do not fit together.
    """
    images = Layout.of(layout)
    sizes = images.sizes(data.shape)
    if sorted(images.names) != sorted("NCHW") or images.letters[-1] not in "cC":
        raise ShapeError(
            f"Winograd's algorithm needs channels that lie together, not {layout}; "
            "for example NHWC or NCHW16c"
        )
    alpha, inputs, lanes = (_known(filters.shape[d]) for d in (0, 3, 4))
    tile = alpha - 2
    _require_tile(tile)
    if const_int(sizes["C"]) != inputs or images.block("C") not in (1, lanes) or inputs % lanes:
        raise ShapeError(
            f"filters are packed for {inputs} channels in blocks of {lanes}, but images in layout "
            f"{layout} have {const_int(sizes['C'])}"
        )
    before, after = margins(padding, (3, 3))
    size = [_known(sizes[s]) + b + a for s, b, a in zip("HW", before, after, strict=True)]
    if min(size) < 3:
        raise ShapeError(f"a window of 3 does not fit into {min(size)}")
    return _Winograd(data, filters, images, _known(sizes["N"]), size, before, tile).compute()


class _Winograd:
    """The stages of the algorithm; `p` counts tiles of all images."""

    def __init__(
        self,
        data: Tensor,
        filters: Tensor,
        layout: Layout,
        batch: int,
        size: Sequence[int],
        before: Sequence[int],
        tile: int,
    ) -> None:
        self._filters, self._layout, self._batch = filters, layout, batch
        self._tile, self._alpha = tile, tile + 2
        self._out = [s - 2 for s in size]
        self._tiles = [-(-s // tile) for s in self._out]
        self._lanes = _known(filters.shape[4])
        self._count = batch * self._tiles[0] * self._tiles[1]
        first = {"H": before[0], "W": before[1]}
        last = {
            s: n * tile + 2 - _known(layout.sizes(data.shape)[s]) - first[s]
            for s, n in zip("HW", self._tiles, strict=True)
        }
        self._source = data
        if any((*first.values(), *last.values())):
            self._source = pad(
                data,
                [first.get(s, 0) for s in layout.letters],
                [last.get(s, 0) for s in layout.letters],
                name="pad_temp",
            )

    def compute(self) -> Tensor:
        """The output, in the layout of the data."""
        taken = self._transformed_images()
        sums = self._sums(taken)
        rows = te.compute(
            (sums.shape[2], self._count, self._tile, self._alpha, self._lanes),
            lambda o, p, i, v, c: choose(i, self._back(lambda u: sums[u, v, o, p, c])),
            name="inverse_rows",
        )
        attrs: dict[str, Attribute] = {
            "conv": "winograd",
            "layout": self._layout.text,
            "out_layout": self._layout.text,
            "tile": (self._tile, self._tile),
        }
        outputs = sums.shape[2] * self._lanes
        sizes = {"N": const(self._batch), "C": outputs, "H": self._out[0], "W": self._out[1]}

        def element(*indices: Any) -> Expr:
            at = self._layout.element(indices)
            y, x, tile = whole(at["H"]), whole(at["W"]), self._tile
            p = (whole(at["N"]) * self._tiles[0] + y // tile) * self._tiles[1] + x // tile
            c = at["C"]
            block, lane = (
                (c.block, c.lane) if isinstance(c, Cut) else (c // self._lanes, c % self._lanes)
            )
            parts = self._back(lambda v: rows[block, p, y % tile, v, lane])
            return choose(x % tile, parts)

        return te.compute(self._layout.shape(sizes), element, "conv2d", "conv2d_winograd", attrs)

    def _transformed_images(self) -> Tensor:
        blocks = _known(self._filters.shape[3]) // self._lanes
        wide, tall = self._tiles[1], self._tiles[0]

        def pixel(b: Expr, p: Expr, i: Expr, j: int, c: Expr) -> Expr:
            place: dict[str, Place] = {
                "N": p // (tall * wide),
                "C": Cut(b, c, self._lanes),
                "H": p // wide % tall * self._tile + i,
                "W": p % wide * self._tile + j,
            }
            return self._source[self._layout.place(place)]

        columns = te.compute(
            (blocks, self._count, self._alpha, self._alpha, self._lanes),
            lambda b, p, i, v, c: choose(v, self._forth(lambda j: pixel(b, p, i, j, c))),
            name="image_columns",
        )
        return te.compute(
            (self._alpha, self._alpha, blocks, self._count, self._lanes),
            lambda u, v, b, p, c: choose(u, self._forth(lambda i: columns[b, p, i, v, c])),
            name="image_tiles",
        )

    def _sums(self, taken: Tensor) -> Tensor:
        blocks = _known(taken.shape[2])
        rc, ri = te.reduce_axis(blocks, "rc"), te.reduce_axis(self._lanes, "ri")
        shape = (self._alpha, self._alpha, self._filters.shape[2], self._count, self._lanes)
        return te.compute(
            shape,
            lambda u, v, o, p, c: te.sum(
                taken[u, v, rc, p, ri] * self._filters[u, v, o, rc * self._lanes + ri, c],
                axis=[rc, ri],
            ),
            name="tile_sums",
        )

    def _forth(self, d: Callable[[int], Expr]) -> list[Expr]:
        """The transformation of the image along one dimension."""
        if self._tile == 2:
            return [d(0) - d(2), d(1) + d(2), d(2) - d(1), d(1) - d(3)]
        found = [d(0) * (_NEAR * _FAR) ** 2 - d(2) * (_NEAR**2 + _FAR**2) + d(4)]
        for point, other in ((_NEAR, _FAR), (_FAR, _NEAR)):
            even, odd = d(4) - d(2) * other**2, d(3) - d(1) * other**2
            found += [even + odd * point, even - odd * point]
        return [*found, d(1) * (_NEAR * _FAR) ** 2 - d(3) * (_NEAR**2 + _FAR**2) + d(5)]

    def _back(self, m: Callable[[int], Expr]) -> list[Expr]:
        """The transformation of sums to outputs along one dimension."""
        if self._tile == 2:
            return [m(0) + (m(1) + m(2)), m(1) - m(2) - m(3)]
        near, far = m(1) + m(2), m(3) + m(4)
        left, right = m(1) - m(2), m(3) - m(4)
        return [
            m(0) + near + far,
            left * _NEAR + right * _FAR,
            near * _NEAR**2 + far * _FAR**2,
            left * _NEAR**3 + right * _FAR**3 + m(5),
        ]


def choose(index: Expr, values: Sequence[Expr]) -> Expr:
    """The value of an index; loops over it are written out, so that nothing is asked."""
    chosen = values[-1]
    for k in range(len(values) - 2, -1, -1):
        chosen = te.if_then_else(index.equal(k), values[k], chosen)
    return chosen


def _known(size: Expr) -> int:
    found = const_int(size)
    if found is None:
        raise ShapeError(f"Winograd's algorithm needs known sizes, not {size}")
    return found


def _require_tile(tile: int) -> None:
    if tile not in (2, 4):
        raise ShapeError(f"tiles of Winograd's algorithm are of 2x2 or 4x4 outputs, not {tile}")
