"""Schedules of convolutions whose filters are copied to panels in the call.

Where neither filters nor images come in blocks of channels, vectors hold channels all the same: the
filters of a vector of channels, which lie far apart or across, are copied to a panel that is read
from its beginning to its end. Each thread fills the panels of its channels, or all of them fill all
panels first. If pixels lie together in the output ("NCHW"), tiles of sums are transposed in
registers on their way there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

from tvmlab.intrin import transpose_tile
from tvmlab.ir import Buffer, Expr, const, const_int
from tvmlab.schedule import BlockRef, LoopRef, Schedule
from tvmlab.target import Target
from tvmlab.te import Tensor

from .conv_anchor import Anchor
from .conv_plan import ConvPlan, plan_panels
from .default.look import block_of, tried
from .layout import Layout
from .steps import write_out

_RUN = 64
"""Neighbors that are copied at once at most."""

_LEAST_SQUARE = 4
"""Rows of the smallest square of filters that is worth being transposed."""


def schedule_panels(sch: Schedule, anchor: Anchor, machine: Target) -> None:
    """Take the steps on a schedule of the outputs around an anchor."""
    plan = plan_panels(anchor, machine)
    letters, window = anchor.layout.letters, anchor.window
    stores = _stores(sch, anchor)
    loops = sch.loops(window)
    at = dict(zip(letters, loops, strict=False))
    sums = _in_order_of_filters(anchor, loops[len(letters) :])
    spatial = [s for s in letters if s not in "NC"]
    at["C"], lanes = sch.split(at["C"], [None, plan.lanes])
    at["W"], pixels = sch.split(at["W"], [None, plan.pixels])
    tile = [pixels, lanes]
    if plan.tall > 1:
        at[spatial[-2]], tall = sch.split(at[spatial[-2]], [None, plan.tall])
        tile.insert(0, tall)
    parts: list[LoopRef] = []
    if len(spatial) > 1:
        rows = plan.rows if len(spatial) > 2 else -(-plan.rows // plan.tall)
        part, at[spatial[0]] = sch.split(at[spatial[0]], [None, rows])
        parts.append(part)
    # A panel serves all images, if it is not filled beforehand.
    first = [at["N"], *parts, at["C"]] if plan.rows_first else [at["C"], at["N"], *parts]
    outside = [*first, *(at[s] for s in spatial)]
    sch.reorder(*outside, *sums, *tile)
    written = [sch.reverse_compute_at(block, outside[-1]) for block in stores]
    init = sch.decompose_reduction(window, sums[0])
    write_out(sch, tile)
    _store(sch, anchor, stores, written, machine)
    write_out(sch, sch.loops(init)[len(outside) :])
    _fill_panels(sch, anchor, plan, machine, None if plan.rows_first else at["C"])
    _pad(sch, anchor, first[1] if plan.rows_first else None)
    sch.parallel(sch.fuse(*first[:2]) if plan.rows_first else first[0])


def _in_order_of_filters(anchor: Anchor, sums: Sequence[LoopRef]) -> list[LoopRef]:
    """The loops of the sum in the order in which filters lie in memory."""
    spatial = [s for s in anchor.layout.letters if s not in "NC"]
    at = dict(zip(("I", *spatial), sums, strict=True))
    return [at[letter] for letter in _filter_layout(anchor).letters if letter in at]


def _filter_layout(anchor: Anchor) -> Layout:
    return Layout.of(str(anchor.op.attrs["kernel_layout"]))


def _stores(sch: Schedule, anchor: Anchor) -> list[BlockRef]:
    """The blocks that sums go through: to a tile in memory and across, if they have to be turned,
    and to the output.
    """
    last = [sch.block(anchor.epilogue[-1])] if anchor.epilogue else []
    if anchor.layout.letters[-1] == "C":
        return last or [sch.cache_write(anchor.window, "local")]
    out = sch.cache_write(anchor.window, "local")
    return [out, sch.cache_write(out, "global"), *last]


def _store(
    sch: Schedule,
    anchor: Anchor,
    stores: Sequence[BlockRef],
    written: Sequence[list[LoopRef]],
    machine: Target,
) -> None:
    """Write a tile to the output, each block by vectors."""
    if anchor.layout.letters[-1] == "C":
        write_out(sch, written[0])
        return
    tile, turned = stores[:2]
    for block in (anchor.window, tile):
        sch.transform_layout(block, _written(sch, block), _channels_last)
    channel, *rest = written[0]
    sch.reorder(*rest, channel)
    write_out(sch, [*rest, channel])
    _turn(sch, turned, written[1], machine)
    for *_, row in written[2:]:
        sch.vectorize(row)


def _written(sch: Schedule, block: BlockRef | Tensor) -> Buffer:
    """The buffer that a block writes."""
    return block_of(sch, sch.block(block)).writes[0].buffer


def _channels_last(*at: Expr) -> list[Expr]:
    return [at[0], *at[2:], at[1]]


def _turn(sch: Schedule, block: BlockRef, loops: Sequence[LoopRef], machine: Target) -> None:
    """Copy (..., pixels, channels) to (channels, ..., pixels) through registers."""
    channel, *tall, pixel = loops
    dtype, pixels = _written(sch, block).dtype, pixel.extent or 1
    count = max(n for n in range(1, machine.lanes(dtype.bits) + 1) if pixels % n == 0)
    size = 1 << max(1, (count - 1).bit_length())
    some, inner = sch.split(channel, [None, size])
    runs, run = sch.split(pixel, [None, count])
    sch.reorder(some, *tall, runs, inner, run)
    if tried(lambda: sch.tensorize(inner, transpose_tile(dtype, size, count))) is None:
        sch.vectorize(run)


@dataclass(frozen=True, slots=True)
class _Filters:
    """Filters on their way to panels of so many lanes; `place` is the dimension of channels."""

    tensor: Tensor
    place: int
    lanes: int

    @property
    def size(self) -> list[int]:
        """The shape."""
        return [const_int(s) or 1 for s in self.tensor.shape]

    def row(self, *at: Expr) -> list[Expr]:
        """Channel, and place in the sum, of an element."""
        step: Expr = const(0)
        for d, index in enumerate(at):
            step = step if d == self.place else step * self.size[d] + index
        return [at[self.place], step]

    def panel(self, channel: Expr, step: Expr) -> list[Expr]:
        """Where an element lies in panels."""
        return [channel // self.lanes, step, channel % self.lanes]

    def square(self, machine: Target) -> int:
        """Rows of the squares that rows of filters are cut into; 0 if there are none."""
        dtype, steps = self.tensor.dtype, prod(self.size) // self.size[self.place]
        found = min(machine.lanes(dtype.bits), machine.num_registers // 2, steps & -steps)
        fits = self.place == 0 and found >= _LEAST_SQUARE and self.lanes % found == 0
        return found if fits else 0


def _fill_panels(
    sch: Schedule, anchor: Anchor, plan: ConvPlan, machine: Target, loop: LoopRef | None
) -> None:
    """Copy filters: all of them by all threads, or at a loop those that are needed there."""
    place = _filter_layout(anchor).letters.index("O")
    filters = _Filters(anchor.op.input_tensors[1], place, plan.lanes)
    square = filters.square(machine)
    if square:
        outer = _fill_across(sch, anchor.window, filters, square, loop)
    else:
        outer = _fill_along(sch, anchor.window, filters, loop)
    if loop is None:
        sch.parallel(sch.fuse(*outer[:2]))


def _fill_across(
    sch: Schedule, window: Tensor, filters: _Filters, square: int, loop: LoopRef | None
) -> list[LoopRef]:
    """Transpose squares of filters that lie in a row each; returns the loops over squares."""
    rows = sch.cache_read(window, filters.tensor, "global")
    sch.transform_layout(rows, _written(sch, rows), filters.row)
    sch.transform_block_layout(rows, filters.row)
    copy = sch.cache_read(window, _written(sch, rows), "global")
    channel, step = sch.loops(copy) if loop is None else sch.compute_at(copy, loop)
    sch.transform_layout(copy, _written(sch, copy), filters.panel)
    (channel, lane), (step, inner) = (sch.split(x, [None, square]) for x in (channel, step))
    sch.reorder(channel, step, inner, lane)
    write_out(sch, sch.compute_at(rows, step))
    sch.tensorize(inner, transpose_tile(filters.tensor.dtype, square))
    return [channel, step]


def _fill_along(
    sch: Schedule, window: Tensor, filters: _Filters, loop: LoopRef | None
) -> list[LoopRef]:
    """Copy filters vector by vector; returns the loops around a vector."""
    copy = sch.cache_read(window, filters.tensor, "global")
    outer = sch.loops(copy) if loop is None else sch.compute_at(copy, loop)
    sch.transform_layout(copy, _written(sch, copy), lambda *at: filters.panel(*filters.row(*at)))
    # Dimensions of one element have no loop in a copy.
    before = sum(size > 1 for size in filters.size[: filters.place])
    channel, lane = sch.split(outer.pop(before), [None, filters.lanes])
    sch.reorder(channel, *outer, lane)
    sch.vectorize(lane)
    return [channel, *outer]


def _pad(sch: Schedule, anchor: Anchor, part: LoopRef | None) -> None:
    """Copy the image with its margin: the rows of a part by the thread that needs them, or all."""
    if anchor.padded is None:
        return
    block = sch.block(anchor.padded)
    loops = sch.loops(block) if part is None else sch.compute_at(block, part)
    if not loops:
        return
    sch.vectorize(sch.split(loops[-1], [None, _RUN])[1])
    if part is None:
        sch.parallel(sch.fuse(*loops[:2]))
