"""The columns of a nest's feature vector: the same names in the same order for every nest.

Families of features follow the OSDI'18 paper (how often each buffer is touched at each loop level,
how loops are annotated), AutoTVM (relations between two quantities, free of the loop structure) and
Ansor (operation counts, reuse, strides, samples of arithmetic intensity). Counts are log2(1 + x).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .forms import Floats, inner_products
from .geometry import LINE, AccessGeometry, Geometry
from .nest import OPERATIONS

SLOTS = ("out", "in0", "in1", "in2", "in3")
INNERMOST = 8
THRESHOLDS = tuple(1 << p for p in (9, 11, 13, 14, 15, 16, 18, 20, 22, 25))
CURVE_SAMPLES = 10
POSITIONS = (
    "none", "inner_space", "middle_space", "outer_space",
    "inner_sum", "middle_sum", "outer_sum", "mixed",
)  # fmt: skip
KINDS = ("vectorized", "unrolled", "parallel")
_VECTOR_STRIDES = ("none", "zero", "one", "other")

Column = Floats | float
"""A value for each nest of the batch, or one for all: then it follows from the structure."""


class Columns:
    """Named columns in order; those that are sizes take their logarithm all at once at the end."""

    def __init__(self) -> None:
        self.names: list[str] = []
        self._values: list[Column] = []
        self._sizes: list[int] = []

    def add(self, name: str, value: Column) -> None:
        self.names.append(name)
        self._values.append(value)

    def add_size(self, name: str, value: Column) -> None:
        """A count, an extent or a number of bytes: it enters as log2(1 + x)."""
        self._sizes.append(len(self.names))
        self.add(name, value)

    def matrix(self, batch: int) -> Floats:
        """One row for each nest."""
        result = np.empty((batch, len(self.names)))
        for place, value in enumerate(self._values):
            result[:, place] = value
        result[:, self._sizes] = log_size(result[:, self._sizes])
        return result


def nest_columns(geometry: Geometry, threads: int) -> Columns:
    """All features of a batch of nests."""
    columns = Columns()
    for family in _FAMILIES:
        family(geometry, columns)
    _parallel(geometry, columns, threads)
    return columns


def log_size(x: Floats | float) -> Floats:
    """`log2(1 + x)`: compresses sizes, keeps zero."""
    return np.log2(1.0 + np.asarray(x, dtype=np.float64))


def _work(g: Geometry, columns: Columns) -> None:
    total = g.inner[:, 0]
    for name, count in zip(OPERATIONS, g.key.operations, strict=True):
        columns.add_size(f"ops.{name}", count * total)
    columns.add_size("iterations", total)
    columns.add("loops", g.depth)
    columns.add("conditions", g.key.conditions)
    columns.add("has_init", g.key.has_init)
    columns.add("body_accesses", len(g.key.accesses))


def _annotations(g: Geometry, columns: Columns) -> None:
    for kind in KINDS:
        where = [n for n, (k, _, _) in enumerate(g.key.loops) if k == kind]
        columns.add(f"{kind}.count", len(where))
        columns.add_size(f"{kind}.product", g.extents[:, where].prod(axis=1) if where else 0)
        columns.add_size(f"{kind}.innermost", g.extents[:, where[-1]] if where else 0)
        found = _position(g, where[-1]) if where else "none"
        for name in POSITIONS:
            columns.add(f"{kind}.at.{name}", name == found)


def _position(g: Geometry, loop: int) -> str:
    _, sums, spaces = g.key.loops[loop]
    if sums and spaces:
        return "mixed"
    depth = "inner" if loop == g.depth - 1 else "outer" if loop == 0 else "middle"
    return f"{depth}_{'sum' if sums else 'space'}"


def _innermost_loops(g: Geometry, columns: Columns) -> None:
    for place in range(INNERMOST):
        loop = g.depth - 1 - place
        kind, sums, spaces = g.key.loops[loop] if loop >= 0 else ("", False, False)
        columns.add_size(f"loop{place}.extent", g.extents[:, loop] if loop >= 0 else 0)
        columns.add(f"loop{place}.sum", sums)
        columns.add(f"loop{place}.space", spaces)
        for name in KINDS:
            columns.add(f"loop{place}.{name}", kind == name)


def _buffers(g: Geometry, columns: Columns) -> None:
    for n, slot in enumerate(SLOTS):
        if n < len(g.accesses):
            _buffer(g, columns, slot, g.accesses[n])
            continue
        for name in _BUFFER_COLUMNS:
            columns.add(f"{slot}.{name}", 0)


def _buffer(g: Geometry, columns: Columns, slot: str, access: AccessGeometry) -> None:
    total = g.inner[:, 0]
    reuse, distance = _reuse(g, access)
    columns.add(f"{slot}.read", access.key.read)
    columns.add(f"{slot}.written", access.key.written)
    columns.add(f"{slot}.local", access.key.local)
    columns.add_size(f"{slot}.bytes", total * access.key.itemsize)
    columns.add_size(f"{slot}.unique_bytes", access.bytes[:, 0])
    columns.add_size(f"{slot}.unique_lines", access.lines[:, 0])
    columns.add_size(f"{slot}.reuse", total / access.elements[:, 0])
    columns.add(f"{slot}.lines_per_byte", access.lines[:, 0] * LINE / access.bytes[:, 0])
    columns.add_size(f"{slot}.inner_reuse", reuse)
    columns.add_size(f"{slot}.reuse_distance", distance)
    columns.add_size(f"{slot}.stride", access.strides[:, -1] if g.depth else 0)
    columns.add_size(f"{slot}.contiguous_bytes", _contiguous(g, access) * access.key.itemsize)
    vector = _vector_stride(g, access)
    for n, name in enumerate(_VECTOR_STRIDES):
        columns.add(f"{slot}.vector_{name}", vector == n)


def _reuse(g: Geometry, access: AccessGeometry) -> tuple[Floats, Floats]:
    """Extent of the innermost loop that stands still for an access, and the bytes that all accesses
    touch in one of its iterations: what must stay near for the reuse to be cheap.
    """
    count, distance = np.ones(g.batch), np.zeros(g.batch)
    open_rows = np.ones(g.batch, dtype=bool)
    for loop in reversed(range(g.depth)):
        still = open_rows & (access.strides[:, loop] == 0) & (g.extents[:, loop] > 1)
        count = np.where(still, g.extents[:, loop], count)
        distance = np.where(still, g.footprint[:, loop + 1], distance)
        open_rows &= ~still
    return count, distance


def _contiguous(g: Geometry, access: AccessGeometry) -> Floats:
    """Elements in a row that the innermost loops touch; loops that stand still are passed over."""
    run = np.ones(g.batch)
    going = np.ones(g.batch, dtype=bool)
    for loop in reversed(range(g.depth)):
        stride = access.strides[:, loop]
        grows = going & (stride == run)
        going &= grows | (stride == 0) | (g.extents[:, loop] == 1)
        run = np.where(grows, run * g.extents[:, loop], run)
    return run


def _vector_stride(g: Geometry, access: AccessGeometry) -> Floats:
    """How an access moves along the vector: 0 no vector, 1 broadcast, 2 unit stride, 3 gather."""
    loops = [n for n, (kind, _, _) in enumerate(g.key.loops) if kind == "vectorized"]
    if not loops:
        return np.zeros(g.batch)
    stride = access.strides[:, loops[-1]]
    return np.where(stride == 0, 1.0, np.where(stride == 1, 2.0, 3.0))


def _context(g: Geometry, columns: Columns) -> None:
    """For caches of several sizes: work done within one, and traffic through it."""
    rows = np.arange(g.batch)[:, None]
    # Footprints grow outwards, so the first level that fits is the outermost one.
    fits = g.footprint[:, None, :] <= np.array(THRESHOLDS)[None, :, None]
    level = np.where(fits.any(axis=2), fits.argmax(axis=2), g.depth)
    times = g.outer[rows, level]
    within, traffic = g.inner[rows, level], g.footprint[rows, level] * times
    parts = [access.lines[rows, level] * times * LINE for access in g.accesses[:3]]
    for n, size in enumerate(THRESHOLDS):
        columns.add_size(f"within_{size}.iterations", within[:, n])
        columns.add_size(f"through_{size}.bytes", traffic[:, n])
        for m, slot in enumerate(SLOTS[:3]):
            columns.add_size(f"through_{size}.{slot}", parts[m][:, n] if m < len(parts) else 0)


def _intensity(g: Geometry, columns: Columns) -> None:
    """Iterations per byte of footprint, sampled from the body (0) out to the whole nest."""
    places = np.linspace(0.0, 1.0, CURVE_SAMPLES)
    samples = np.empty((g.batch, CURVE_SAMPLES))
    depth = np.log2(g.inner[:, ::-1])
    value = np.log2(g.inner[:, ::-1] / g.footprint[:, ::-1])
    for row in range(g.batch):
        samples[row] = np.interp(places * depth[row, -1], depth[row], value[row])
    for n in range(CURVE_SAMPLES):
        columns.add(f"intensity{n}", samples[:, n])


def _register_tile(g: Geometry, columns: Columns) -> None:
    """What is inside the innermost reduction loop: the tile that should live in registers."""
    sums = [n for n, (_, reduces, _) in enumerate(g.key.loops) if reduces]
    level = sums[-1] + 1 if sums else g.depth
    vector = _product_of(g, "vectorized", level)
    unrolled = _product_of(g, "unrolled", level)
    work = g.inner[:, level]
    loaded = np.sum([a.elements[:, level] for a in g.accesses[1:]], axis=0) + 0.0 * work
    tile = g.accesses[0].elements[:, level]
    columns.add_size("tile.elements", tile)
    columns.add_size("tile.iterations", work)
    columns.add_size("tile.vector", vector)
    columns.add_size("tile.unrolled", unrolled)
    columns.add_size("tile.serial", work / (vector * unrolled))
    columns.add_size("tile.accumulators", tile / vector)
    columns.add_size("tile.loads", loaded)
    columns.add_size("tile.work_per_load", work / np.maximum(loaded, 1.0))
    columns.add_size("sum.innermost", g.extents[:, sums[-1]] if sums else 0)
    columns.add("sum.loops", len(sums))
    columns.add_size("sum.inside", g.inner[:, sums[0]] if sums else 0)
    columns.add("sum.last", bool(sums) and sums[-1] == g.depth - 1)
    columns.add_size("out.rewrites", g.outer[:, level] * tile / g.accesses[0].elements[:, 0])
    columns.add_size("code.copies", _product_of(g, "unrolled", 0))


def _product_of(g: Geometry, kind: str, level: int) -> Floats:
    """Iterations of the loops of a kind from a level inwards."""
    chosen = np.array([k == kind for k, _, _ in g.key.loops], dtype=bool)
    return inner_products(np.where(chosen, g.extents, 1.0))[:, level]


def _parallel(g: Geometry, columns: Columns, threads: int) -> None:
    """How evenly a parallel loop fills the threads, and how much each of its iterations does."""
    loops = [n for n, (kind, _, _) in enumerate(g.key.loops) if kind == "parallel"]
    extent = g.extents[:, loops[0]] if loops else np.ones(g.batch)
    columns.add("threads.balance", extent / (np.ceil(extent / threads) * threads))
    columns.add_size("threads.task", g.inner[:, loops[0] + 1 if loops else 0])
    columns.add_size("threads.starts", g.outer[:, loops[0]] if loops else 0)


_BUFFER_COLUMNS = (
    "read", "written", "local", "bytes", "unique_bytes", "unique_lines", "reuse", "lines_per_byte",
    "inner_reuse", "reuse_distance", "stride", "contiguous_bytes",
    *(f"vector_{name}" for name in _VECTOR_STRIDES),
)  # fmt: skip

_FAMILIES: tuple[Callable[[Geometry, Columns], None], ...] = (
    _work, _annotations, _innermost_loops, _buffers, _context, _intensity, _register_tile,
)  # fmt: skip
