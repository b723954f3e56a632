"""The schedule of `conv2d_winograd` for CPUs.

Three steps, each shared by the threads: tiles of the image are transformed, one matrix product for
each element of a tile sums over the channels, sums are transformed back. A vector holds channels
throughout; a transformation happens in registers, its loops written out.
"""

from __future__ import annotations

from tvmlab.ir import const_int
from tvmlab.schedule import LoopRef, Schedule
from tvmlab.target import Target
from tvmlab.te import ComputeOp, Tensor

from .conv_anchor import Anchor
from .conv_plan import even_tile

_MOST_TILES = 14
"""Tiles in a register tile at most."""


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
    u, v, block, p, lanes = sch.loops(images)
    tall, wide = sch.split(p, [None, _tiles_of_a_row(anchor)])
    sch.reorder(block, tall, wide, u, v, lanes)
    _write_out(sch, sch.compute_at(columns, wide))
    _write_out(sch, [u, v, lanes])
    sch.parallel(sch.fuse(block, tall))


def _tiles_of_a_row(anchor: Anchor) -> int:
    """Tiles along the width."""
    return -(-anchor.extent("W") // int(anchor.op.attrs["tile"]))


def _multiply(sch: Schedule, sums: Tensor, machine: Target) -> None:
    assert isinstance(sums.op, ComputeOp)
    count, lanes = (const_int(sums.shape[d]) or 1 for d in (3, 4))
    vectors = -(-lanes // machine.lanes(sums.dtype.bits))
    blocks = even_tile(const_int(sums.shape[2]) or 1, max(1, 2 // vectors))
    most = max(1, (max(machine.num_registers, 8) - blocks * vectors - 1) // (blocks * vectors))
    write = sch.cache_write(sums, "local")
    u, v, block, p, lane, rc, ri = sch.loops(sums)
    outer, inner = sch.split(block, [None, blocks])
    tiles, tile = sch.split(p, [None, even_tile(count, min(most, _MOST_TILES))])
    sch.reorder(u, v, outer, tiles, rc, ri, tile, inner, lane)
    written = sch.reverse_compute_at(write, tiles)
    init = sch.decompose_reduction(sums, rc)
    for loops in ([tile, inner, lane], written, sch.loops(init)[4:]):
        _write_out(sch, loops)
    sch.parallel(sch.fuse(u, v))


def _transform_back(sch: Schedule, anchor: Anchor, rows: Tensor) -> None:
    last = anchor.epilogue[-1] if anchor.epilogue else anchor.window
    if anchor.epilogue:
        sch.compute_inline(anchor.window)
    letters = anchor.layout.letters
    at = dict(zip(letters, sch.loops(last), strict=True))
    tile = int(anchor.op.attrs["tile"])
    tall, y = sch.split(at["H"], [None, tile])
    wide, x = sch.split(at["W"], [None, tile])
    block, lanes = at["C"], at.get("c")
    if lanes is None:
        block, lanes = sch.split(block, [None, const_int(rows.shape[4]) or 1])
    sch.reorder(at["N"], block, tall, wide, y, x, lanes)
    _write_out(sch, sch.compute_at(rows, wide))
    _write_out(sch, [y, x, lanes])
    sch.parallel(sch.fuse(at["N"], block, tall))


def _write_out(sch: Schedule, loops: list[LoopRef]) -> None:
    """Make vectors of the last loop and unroll the others."""
    for loop in loops[:-1]:
        sch.unroll(loop)
    if loops:
        sch.vectorize(loops[-1])
