"""The sizes of a blocked matrix product, computed from the machine."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

from tvmlab.ir import const_int
from tvmlab.target import Target

from .matmul_form import ProductForm

_PAGE = 4096
"""Bytes. Addresses a page apart fall into one set of the first-level cache, and each page of a
panel takes an entry of the address translation buffer."""

_LINE = 64
"""Bytes of a line of the caches."""

_LATENCY = 4
"""Sums that must be under way at once, so that additions need not wait for each other."""

_SMALL = 1_000_000
"""Operations below which a second thread costs more than it saves: some 10 microseconds."""

_TALL = 12
"""Rows of a tile."""

_MANY = 32
"""Tiles above each other from which a copy of the right factor pays: so often it is read."""

_FEW = 8
"""Registers that any machine has, also one without vectors."""

_WAYS = 8
"""Lines that fit into one place of the first-level cache: so many rows need no copy."""

_ROW_BYTES = 2048
"""The most of a row of the left factor that is multiplied at a time; more did not help."""

_WORTH = 0.03
"""The share of its time that another tile than the usual must save."""


_CHAIN = 512
"""Terms added one after another: rounding errors grow with the length of such a chain."""


@dataclass(frozen=True, slots=True)
class MatmulPlan:
    """Sizes of a blocked matrix product, in elements.

    Attributes
    ----------
    rows, columns
        The register tile.
    depth
        Steps of the sum between which the tile is added to the output.
    row_part, column_part
        The part of the output that one thread works on at a time; for each `depth`, its panel of
        the right factor should stay in the second-level cache.
    copy_left, copy_right
        Whether the left factor's rows, and the right factor's panels, are copied to neighboring
        memory first.
    dots
        Whether vectors lie along the sum instead of along the columns of the output.
    parallel
        Whether threads share the work.
    chain
        Steps of the sum in registers, if less than `depth`: their results are added to the tile
        while it is near.
    """

    rows: int
    columns: int
    depth: int
    row_part: int
    column_part: int
    copy_left: bool
    copy_right: bool
    dots: bool = False
    parallel: bool = True
    chain: int | None = None


def plan_matmul(form: ProductForm, machine: Target) -> MatmulPlan:
    """The sizes for a product on a machine."""
    m, n, k, size = form.m, form.n, form.k, form.itemsize
    lanes, registers = machine.lanes(8 * size), max(machine.num_registers, _FEW)
    parallel = machine.num_threads > 1 and 2 * _outer(form) * m * n * k >= _SMALL
    threads = machine.num_threads if parallel else 1
    if lanes > 1 and not form.one_tensor and _wants_dots(form, lanes):
        return _plan_of_dots(form, lanes, registers, threads, parallel)
    first, second = _caches(machine)
    # Of each row a tile of short vectors takes one line: then fewer of them find a place.
    near = _PAGE // 2 if 2 * lanes * size > _LINE else _PAGE // 2 - 1
    far = n * size > near and k > 64
    copy_right = not form.one_tensor and (form.right_transposed or (far and m >= _MANY * _TALL))
    rows, columns = _tile(m, n, lanes, registers, 8 if copy_right else 12)
    most = min(first // 2 // (rows * size), _ROW_BYTES // size)
    chain = _chain(k) if copy_right and k <= 2 * most else None
    depth = k if chain else _even(k, max(64, most))
    if m == 1 and k * n * size > second:
        # Some rows of the matrix are read from end to end, in pieces that fill half the registers.
        columns, depth = min(registers // 2 * lanes, n), min(k, 8)
    # Farther caches are slower than some machines multiply: 16 bytes a cycle for 8 rows.
    wide = max(columns, second // 2 // (depth * size) // columns * columns)
    row_part, column_part = m, _even(n, wide, columns) if m > rows else n
    if threads > 1 and _outer(form) < threads:
        by_columns, by_rows = (
            _even(extent, -(-extent // threads), step) for extent, step in ((n, columns), (m, rows))
        )
        # Who splits the rows makes the panels twice: only for a share that is smaller by far.
        if by_columns / n <= 1.05 * by_rows / m:
            column_part = min(column_part, _even(by_columns, wide, columns))
        else:
            row_part = by_rows
    row_bytes = size * (m if form.left_transposed else k)
    clash = row_bytes % _PAGE == 0 and rows > _WAYS
    strided = row_bytes >= _PAGE if form.left_transposed else clash
    return MatmulPlan(
        rows, columns, depth, row_part, column_part,
        copy_left=strided and n >= 4 * columns and not form.one_tensor and m > 1,
        copy_right=copy_right,
        parallel=parallel,
        chain=chain if chain and chain < k else None,
    )  # fmt: skip


def _caches(machine: Target) -> tuple[int, int]:
    """Bytes of the caches of the first two levels; if unknown, usual sizes."""
    sizes = {cache.level: cache.size for cache in machine.caches}
    return sizes.get(1, 32 << 10), sizes.get(2, 512 << 10)


def _wants_dots(form: ProductForm, lanes: int) -> bool:
    """Whether vectors had better lie along the sum: there are fewer columns or rows than lanes."""
    if form.right_transposed:
        return form.k >= lanes and (form.m < 8 or (form.m < 4 * _TALL and form.k >= 16 * lanes))
    few = 1 < form.n <= lanes * 3 // 4 and form.m >= lanes
    return few and not form.left_transposed and form.k >= 4 * lanes


def _plan_of_dots(
    form: ProductForm, lanes: int, registers: int, threads: int, parallel: bool
) -> MatmulPlan:
    """Vectors along the sum: each of a tile's rows with each of its columns."""
    if form.right_transposed:
        rows = min(form.m, 4)
        # So few rows of the factor at a time that they have places of their own in the cache.
        columns = min(form.n, max(1, (registers - 1 - rows) // rows), 4 if rows == 1 else 6)
    else:
        columns = form.n
        rows = max(1, min(form.m, (registers - 1) // (columns + 1)))
    row_part, column_part = form.m, form.n
    if threads > 1 and form.n >= 2 * columns * threads:
        column_part = _even(form.n, -(-form.n // threads), columns)
    else:
        row_part = _even(form.m, -(-form.m // threads), rows)
    return MatmulPlan(
        rows, columns, lanes, row_part, column_part, copy_left=False,
        copy_right=not form.right_transposed, dots=True, parallel=parallel,
    )  # fmt: skip


def _outer(form: ProductForm) -> int:
    """How many products of matrices there are."""
    count = 1
    for axis in form.product.shape:
        count *= const_int(axis) or 1
    return max(1, count // max(1, form.m * form.n))


def _tile(m: int, n: int, lanes: int, registers: int, rows: int) -> tuple[int, int]:
    """Rows and columns of the register tile: the usual ones, or those that leave less over."""
    usual = (min(m, rows if registers >= 32 else 6), 2)
    candidates = [
        (r, v)
        for r, v in product(range(1, min(m, registers) + 1), range(1, registers))
        if r * v + v + 1 <= registers and (v - 1) * lanes < n
    ]
    best = min(candidates, key=lambda tile: _cycles(m, n, lanes, tile))
    if usual in candidates:
        limit = (1 - _WORTH) * _cycles(m, n, lanes, usual)
        best = best if _cycles(m, n, lanes, best) < limit else usual
    return best[0], min(best[1] * lanes, max(n, 1))


def _cycles(m: int, n: int, lanes: int, tile: tuple[int, int]) -> float:
    """Cycles for one step of the sum in the whole output, if one multiply-add starts in each."""
    rows, vectors = tile
    total = 0.0
    for r, tall in ((rows, m // rows), (m % rows, 1)):
        for v, wide in ((vectors, -(-n // lanes) // vectors), (-(-n // lanes) % vectors, 1)):
            if r and v:
                # Loads: a vector in a cycle, two single elements in a cycle.
                total += tall * wide * (max(r * v, _LATENCY, v + r / 2) + 0.25)
    return total


def _chain(k: int) -> int | None:
    """The largest chain that divides a sum, which may be all of it, unless all are very short."""
    fewest = -(-k // _CHAIN)
    parts = next((parts for parts in range(fewest, 4 * fewest) if k % parts == 0), None)
    return None if parts is None else k // parts


def _even(extent: int, most: int, step: int = 1) -> int:
    """The size of equal parts of an extent, each at most so large, in whole steps."""
    parts = -(-extent // max(1, most))
    return -(-extent // (parts * step)) * step
