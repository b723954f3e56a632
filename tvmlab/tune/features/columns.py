"""The columns of a nest's feature vector: the same names in the same order for every nest.

Families of features follow the OSDI'18 paper (how often each buffer is touched at each loop level,
how loops are annotated), AutoTVM (relations between two quantities, free of the loop structure) and
Ansor (operation counts, reuse, strides, samples of arithmetic intensity). Counts are log2(1 + x).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .dense import SLOTS, Dense
from .forms import Floats, inner_products
from .geometry import LINE
from .nest import OPERATIONS

INNERMOST = 8
THRESHOLDS = tuple(1 << p for p in (9, 11, 13, 14, 15, 16, 18, 20, 22, 25))
CURVE_SAMPLES = 10
POSITIONS = (
    "none", "inner_space", "middle_space", "outer_space",
    "inner_sum", "middle_sum", "outer_sum", "mixed",
)  # fmt: skip
ANNOTATED = ("vectorized", "unrolled", "parallel")
_VECTOR_STRIDES = ("none", "zero", "one", "other")
BRIEF_THRESHOLDS = (1 << 15, 1 << 20, 1 << 22)

Places = NDArray[np.int64]


class Columns:
    """Named columns in order; those that are sizes take their logarithm all at once at the end."""

    def __init__(self) -> None:
        self.names: list[str] = []
        self._values: list[Any] = []
        self._sizes: list[int] = []

    def add(self, name: str, value: Any) -> None:
        self.names.append(name)
        self._values.append(value)

    def add_size(self, name: str, value: Any) -> None:
        """A count, an extent or a number of bytes: it enters as log2(1 + x)."""
        self._sizes.append(len(self.names))
        self.add(name, value)

    def matrix(self, batch: int) -> Floats:
        """One row for each nest."""
        result = np.empty((len(self.names), batch))
        for place, value in enumerate(self._values):
            result[place] = value
        sizes = result[self._sizes]
        sizes += 1.0
        result[self._sizes] = np.log2(sizes, out=sizes)
        return result.T


def nest_columns(nests: Dense, threads: int) -> Columns:
    """All features of nests."""
    columns = Columns()
    for family in _FAMILIES:
        family(nests, columns)
    _parallel(nests, columns, threads)
    return columns


def brief_columns(nests: Dense) -> Columns:
    """The few features of nests beside the main one."""
    columns = Columns()
    columns.add_size("iterations", nests.inner[:, 0])
    columns.add("loops", nests.depth)
    for kind in ANNOTATED:
        columns.add_size(f"{kind}.product", _product(nests, kind))
    for n, slot in enumerate(SLOTS[:2]):
        itemsize = nests.of_access("itemsize", n)
        columns.add(f"{slot}.local", nests.of_access("local", n))
        columns.add_size(f"{slot}.contiguous_bytes", _contiguous(nests, n) * itemsize)
        columns.add(f"{slot}.vector_one", _vector_stride(nests, n) == 2)
    columns.add_size("in0.stride", nests.strides(1)[:, -1] if nests.size else 0.0)
    level = _fitting(nests, BRIEF_THRESHOLDS)
    for n, size in enumerate(BRIEF_THRESHOLDS):
        columns.add_size(f"through_{size}.bytes", _at(nests.footprint * nests.outer, level[:, n]))
    first, _ = _ends(nests.of_kind("parallel"))
    starts = np.where(first < nests.size, _at(nests.outer, first), 0.0)
    columns.add_size("threads.starts", starts)
    return columns


def log_size(x: Floats | float) -> Floats:
    """`log2(1 + x)`: compresses sizes, keeps zero."""
    return np.log2(1.0 + np.asarray(x, dtype=np.float64))


def _at(values: NDArray[Any], level: Places) -> NDArray[Any]:
    """One entry of each row."""
    return values[np.arange(len(values)), level]


def _ends(mask: NDArray[np.bool_]) -> tuple[Places, Places]:
    """The first and the last marked loop of each row; the number of loops, and -1, if none is."""
    size = mask.shape[1]
    if not size:
        none: Places = np.zeros(len(mask), np.int64)
        return none, none - 1
    found = mask.any(axis=1)
    start = np.asarray(mask.argmax(axis=1), np.int64)
    end = np.asarray(size - 1 - mask[:, ::-1].argmax(axis=1), np.int64)
    return np.where(found, start, np.int64(size)), np.where(found, end, np.int64(-1))


def _extent_at(nests: Dense, loop: Places, otherwise: float = 0.0) -> Floats:
    """The extent of a loop of each row, where there is one."""
    inside = (loop >= 0) & (loop < nests.size)
    if not nests.size:
        return np.full(nests.batch, otherwise)
    return np.where(inside, _at(nests.extents, np.where(inside, loop, 0)), otherwise)


def _product(nests: Dense, kind: str) -> Floats:
    """Iterations of the loops of a kind; 0 if there is none."""
    mask = nests.of_kind(kind)
    return np.where(mask.any(axis=1), np.where(mask, nests.extents, 1.0).prod(axis=1), 0.0)


def _work(g: Dense, columns: Columns) -> None:
    total = g.inner[:, 0]
    for name in OPERATIONS:
        columns.add_size(f"ops.{name}", g.scalar(name) * total)
    columns.add_size("iterations", total)
    columns.add("loops", g.depth)
    columns.add("conditions", g.scalar("conditions"))
    columns.add("has_init", g.scalar("has_init"))
    columns.add("body_accesses", g.scalar("accesses"))


def _annotations(g: Dense, columns: Columns) -> None:
    for kind in ANNOTATED:
        mask = g.of_kind(kind)
        _, last = _ends(mask)
        columns.add(f"{kind}.count", mask.sum(axis=1))
        columns.add_size(f"{kind}.product", _product(g, kind))
        columns.add_size(f"{kind}.innermost", _extent_at(g, last))
        position = _position(g, last)
        for n, name in enumerate(POSITIONS):
            columns.add(f"{kind}.at.{name}", position == n)


def _position(g: Dense, loop: Places) -> Places:
    """Where a loop stands and what it moves, as a place in `POSITIONS`."""
    if not g.size:
        return np.zeros(g.batch, np.int64)
    place = np.maximum(loop, 0)
    sums, spaces = _at(g.reducing, place), _at(g.writing, place)
    inner, outer = loop == g.size - 1, loop == g.size - g.depth
    depth = np.where(inner, 1, np.where(outer, 3, 2)) + np.where(sums, 3, 0)
    return np.where(loop < 0, 0, np.where(sums & spaces, POSITIONS.index("mixed"), depth))


def _innermost_loops(g: Dense, columns: Columns) -> None:
    kinds = {name: g.of_kind(name) for name in ANNOTATED}
    reducing, writing = g.reducing, g.writing
    for place in range(INNERMOST):
        loop = g.size - 1 - place
        there = place < g.depth
        columns.add_size(f"loop{place}.extent", g.extents[:, loop] * there if loop >= 0 else 0)
        columns.add(f"loop{place}.sum", reducing[:, loop] if loop >= 0 else 0)
        columns.add(f"loop{place}.space", writing[:, loop] if loop >= 0 else 0)
        for name in ANNOTATED:
            columns.add(f"loop{place}.{name}", kinds[name][:, loop] if loop >= 0 else 0)


def _buffers(g: Dense, columns: Columns) -> None:
    for n, slot in enumerate(SLOTS):
        _buffer(g, columns, slot, n)


def _buffer(g: Dense, columns: Columns, slot: str, n: int) -> None:
    total, itemsize = g.inner[:, 0], g.of_access("itemsize", n)
    present = itemsize > 0
    elements = np.where(present, g.elements(n)[:, 0], 1.0)
    lines, unique = g.lines(n)[:, 0], elements * itemsize
    reuse, distance = _reuse(g, n)
    columns.add(f"{slot}.read", g.of_access("read", n))
    columns.add(f"{slot}.written", g.of_access("written", n))
    columns.add(f"{slot}.local", g.of_access("local", n))
    columns.add_size(f"{slot}.bytes", total * itemsize)
    columns.add_size(f"{slot}.unique_bytes", unique)
    columns.add_size(f"{slot}.unique_lines", lines)
    columns.add_size(f"{slot}.reuse", total / elements * present)
    columns.add(f"{slot}.lines_per_byte", lines * LINE / np.where(present, unique, 1.0))
    columns.add_size(f"{slot}.inner_reuse", reuse * present)
    columns.add_size(f"{slot}.reuse_distance", distance * present)
    columns.add_size(f"{slot}.stride", g.strides(n)[:, -1] if g.size else 0)
    columns.add_size(f"{slot}.contiguous_bytes", _contiguous(g, n) * itemsize)
    vector = _vector_stride(g, n)
    for place, name in enumerate(_VECTOR_STRIDES):
        columns.add(f"{slot}.vector_{name}", (vector == place) & present)


def _reuse(g: Dense, slot: int) -> tuple[Floats, Floats]:
    """Extent of the innermost loop that stands still for an access, and the bytes that all accesses
    touch in one of its iterations: what must stay near for the reuse to be cheap.
    """
    _, last = _ends((g.strides(slot) == 0) & (g.extents > 1))
    near = _at(g.footprint, np.minimum(last + 1, g.size))
    return _extent_at(g, last, 1.0), np.where(last >= 0, near, 0.0)


def _contiguous(g: Dense, slot: int) -> Floats:
    """Elements in a row that the innermost loops touch; loops that stand still are passed over."""
    run = np.ones(g.batch)
    going = np.ones(g.batch, dtype=bool)
    strides = g.strides(slot)
    for loop in reversed(range(g.size)):
        stride, extent = strides[:, loop], g.extents[:, loop]
        grows = going & (stride == run)
        going &= grows | (stride == 0) | (extent == 1)
        run = np.where(grows, run * extent, run)
    return run


def _vector_stride(g: Dense, slot: int) -> Places:
    """How an access moves along the vector: 0 no vector, 1 broadcast, 2 unit stride, 3 gather."""
    _, last = _ends(g.of_kind("vectorized"))
    if not g.size:
        return np.zeros(g.batch, np.int64)
    stride = _at(g.strides(slot), np.maximum(last, 0))
    return np.where(last < 0, 0, np.where(stride == 0, 1, np.where(stride == 1, 2, 3)))


def _fitting(g: Dense, sizes: Sequence[int]) -> Places:
    """For each size the outermost level whose footprint it holds; the body if none does."""
    # Footprints grow outwards, so levels that do not fit come first.
    return np.minimum(
        (g.footprint[:, None, :] > np.array(sizes)[None, :, None]).sum(axis=2), g.size
    )


def _context(g: Dense, columns: Columns) -> None:
    """For caches of several sizes: work done within one, and traffic through it."""
    level, rows = _fitting(g, THRESHOLDS), g.rows[:, None]
    times = g.outer[rows, level]
    within, traffic = g.inner[rows, level], g.footprint[rows, level] * times
    parts = [g.lines(n)[rows, level] * times * LINE for n in range(3)]
    for n, size in enumerate(THRESHOLDS):
        columns.add_size(f"within_{size}.iterations", within[:, n])
        columns.add_size(f"through_{size}.bytes", traffic[:, n])
        for m, slot in enumerate(SLOTS[:3]):
            columns.add_size(f"through_{size}.{slot}", parts[m][:, n])


def _intensity(g: Dense, columns: Columns) -> None:
    """Iterations per byte of footprint, sampled from the body (0) out to the whole nest."""
    depth = np.log2(g.inner)[:, ::-1]
    value = np.log2(g.inner / g.footprint)[:, ::-1]
    places = np.linspace(0.0, 1.0, CURVE_SAMPLES)[None, :] * depth[:, -1:]
    above = (depth[:, None, :] <= places[:, :, None]).sum(axis=2)
    left, right = above - 1, np.minimum(above, g.size)
    rows = g.rows[:, None]
    gap = depth[rows, right] - depth[rows, left]
    share = np.divide(places - depth[rows, left], gap, out=np.zeros_like(gap), where=gap > 0)
    samples = value[rows, left] + share * (value[rows, right] - value[rows, left])
    for n in range(CURVE_SAMPLES):
        columns.add(f"intensity{n}", samples[:, n])


def _register_tile(g: Dense, columns: Columns) -> None:
    """What is inside the innermost reduction loop: the tile that should live in registers."""
    first, last = _ends(g.reducing)
    found = last >= 0
    level = np.where(found, last + 1, g.size)
    vector, unrolled = _at(_inside(g, "vectorized"), level), _at(_inside(g, "unrolled"), level)
    work, loaded = _at(g.inner, level), _at(g.loaded, level)
    tile = _at(g.elements(0), level)
    columns.add_size("tile.elements", tile)
    columns.add_size("tile.iterations", work)
    columns.add_size("tile.vector", vector)
    columns.add_size("tile.unrolled", unrolled)
    columns.add_size("tile.serial", work / (vector * unrolled))
    columns.add_size("tile.accumulators", tile / vector)
    columns.add_size("tile.loads", loaded)
    columns.add_size("tile.work_per_load", work / np.maximum(loaded, 1.0))
    columns.add_size("sum.innermost", _extent_at(g, last))
    columns.add("sum.loops", g.reducing.sum(axis=1))
    columns.add_size("sum.inside", np.where(found, _at(g.inner, np.minimum(first, g.size)), 0.0))
    columns.add("sum.last", found & (last == g.size - 1))
    columns.add_size("out.rewrites", _at(g.outer, level) * tile / g.elements(0)[:, 0])
    columns.add_size("code.copies", _inside(g, "unrolled")[:, 0])


def _inside(g: Dense, kind: str) -> Floats:
    """Iterations of the loops of a kind from each level inwards."""
    return inner_products(np.where(g.of_kind(kind), g.extents, 1.0))


def _parallel(g: Dense, columns: Columns, threads: int) -> None:
    """How evenly a parallel loop fills the threads, and how much each of its iterations does."""
    first, _ = _ends(g.of_kind("parallel"))
    found = first < g.size
    extent = _extent_at(g, first, 1.0)
    columns.add("threads.balance", extent / (np.ceil(extent / threads) * threads))
    columns.add_size("threads.task", _at(g.inner, np.where(found, first + 1, 0)))
    columns.add_size("threads.starts", np.where(found, _at(g.outer, np.minimum(first, g.size)), 0))


_FAMILIES: tuple[Callable[[Dense, Columns], None], ...] = (
    _work, _annotations, _innermost_loops, _buffers, _context, _intensity, _register_tile,
)  # fmt: skip
