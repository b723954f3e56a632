"""The schedule of `conv2d_winograd` for CPUs.

Three steps, each shared by the threads: tiles of the image are transformed, one matrix product for
each element of a tile sums over the channels, sums are transformed back. A vector holds channels
throughout; a transformation happens in registers, its loops written out.
"""

from __future__ import annotations

from math import prod
from typing import cast

from tvmlab.ir import const_int
from tvmlab.schedule import LoopRef, Schedule
from tvmlab.target import Target
from tvmlab.te import ComputeOp, Tensor

from .conv_anchor import Anchor
from .conv_plan import even_tile, worth_asking
from .steps import write_out

_MOST_TILES = 14
"""Tiles in a register tile at most."""

_MOST_OF_ONE = 16
"""The same, if a register tile has one block of channels."""


def schedule_winograd(sch: Schedule, anchor: Anchor, machine: Target) -> None:
    """Take the steps on a schedule of the outputs around an anchor."""
    rows = _input(anchor.window)
    sums = _input(rows)
    images = _input(sums)
    columns = _input(images)
    if anchor.padded is not None:
        sch.compute_inline(anchor.padded)
    _transform_images(sch, images, columns, anchor)
    _multiply(sch, sums, machine)
    _transform_back(sch, anchor, rows)


def _input(tensor: Tensor) -> Tensor:
    """The first tensor that another is computed from."""
    return tensor.op.input_tensors[0]


def _transform_images(sch: Schedule, images: Tensor, columns: Tensor, anchor: Anchor) -> None:
    u, v, *outer, p, lanes = sch.loops(images)
    tall, wide = sch.split(p, [None, _tiles_of_a_row(anchor)])
    sch.reorder(*outer, tall, wide, u, v, lanes)
    write_out(sch, sch.compute_at(columns, wide))
    write_out(sch, [u, v, lanes])
    sch.parallel(sch.fuse(*outer, tall))


def _tiles_of_a_row(anchor: Anchor) -> int:
    """Tiles along the width."""
    return -(-anchor.extent("W") // _tile(anchor)[1])


def _tile(anchor: Anchor) -> tuple[int, int]:
    """Height and width of a tile of outputs."""
    tall, wide = cast("tuple[int, int]", anchor.op.attrs["tile"])
    return tall, wide


def _multiply(sch: Schedule, sums: Tensor, machine: Target) -> None:
    tile, blocks = _register_tile(sums, machine)
    write = sch.cache_write(sums, "local")
    *elements, block, p, lane, rc, ri = sch.loops(sums)
    outer, inner = sch.split(block, [None, blocks])
    tiles, taken = sch.split(p, [None, tile])
    sch.reorder(*elements, outer, tiles, rc, ri, taken, inner, lane)
    written = sch.reverse_compute_at(write, tiles)
    init = sch.decompose_reduction(sums, rc)
    for loops in ([taken, inner, lane], written, sch.loops(init)[len(elements) + 2 :]):
        write_out(sch, loops)
    _ask_ahead(sch, sums, outer, (tile, blocks), machine)
    sch.parallel(sch.fuse(*elements))


def _ask_ahead(
    sch: Schedule, sums: Tensor, outer: LoopRef, tile: tuple[int, int], machine: Target
) -> None:
    """Filters for the next channels come from memory while these are multiplied."""
    assert isinstance(sums.op, ComputeOp)
    depth = prod(const_int(axis.extent) or 1 for axis in sums.op.reduce_axis)
    channels, count, lanes = (const_int(s) or 1 for s in sums.shape[-3:])
    elements = prod(const_int(s) or 1 for s in sums.shape[:-3])
    block = depth * lanes * sums.dtype.itemsize
    several = channels > tile[1]
    weights = block * channels * elements
    if several and worth_asking(block * tile[1], weights, count / tile[0], machine):
        sch.prefetch(sums.op.input_tensors[1], outer, 1, spread=True)


def _register_tile(sums: Tensor, machine: Target) -> tuple[int, int]:
    """Tiles of the image, and blocks of channels, whose sums are in registers at once."""
    assert isinstance(sums.op, ComputeOp)
    blocks, count, lanes = (const_int(s) or 1 for s in sums.shape[-3:])
    vectors = -(-lanes // machine.lanes(sums.dtype.bits))
    room = max(machine.num_registers, 8) - 1
    several = even_tile(blocks, max(1, 2 // vectors))
    most = max(1, (room - several * vectors) // (several * vectors))
    tile = even_tile(count, min(most, _MOST_TILES))
    # Filters are read as they come from memory, once, if all tiles are taken together; these stay
    # in the first cache.
    depth = prod(const_int(axis.extent) or 1 for axis in sums.op.reduce_axis)
    first = next((c.size for c in machine.caches if c.level == 1), 32 << 10)
    if tile < count <= min(_MOST_OF_ONE, room // vectors - 1):
        image = count * depth * sums.dtype.itemsize
        return (count, 1) if image <= first // 2 else (tile, several)
    return tile, several


def _transform_back(sch: Schedule, anchor: Anchor, rows: Tensor) -> None:
    last = anchor.epilogue[-1] if anchor.epilogue else anchor.window
    if anchor.epilogue:
        sch.compute_inline(anchor.window)
    letters = anchor.layout.letters
    at = dict(zip(letters, sch.loops(last), strict=True))
    tall, y = sch.split(at["H"], [None, _tile(anchor)[0]])
    wide, x = sch.split(at["W"], [None, _tile(anchor)[1]])
    block, lanes = at["C"], at.get("c")
    if lanes is None:
        block, lanes = sch.split(block, [None, const_int(rows.shape[-1]) or 1])
    sch.reorder(at["N"], block, tall, wide, y, x, lanes)
    write_out(sch, sch.compute_at(rows, wide))
    write_out(sch, [y, x, lanes])
    sch.parallel(sch.fuse(at["N"], block, tall))
