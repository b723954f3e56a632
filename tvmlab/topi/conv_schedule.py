"""Schedules of convolutions and pooling for CPUs, whatever their layout.

A register tile holds sums of some channels by some pixels of a row. Where the channels of a pixel
lie together ("NHWC", "NCHW16c"), a vector of filters meets one pixel at a time; where the pixels of
a row do ("NCHW"), a vector of pixels meets one filter at a time. What follows element by element is
applied to the tile before it leaves the registers. Margins are copied around the part of the image
that a thread works on, or, without sums over channels, asked for at the border only.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tvmlab.ir import Var
from tvmlab.schedule import BlockRef, LoopRef, Schedule
from tvmlab.support import is_among
from tvmlab.target import Target
from tvmlab.te import Tensor

from .conv_anchor import Anchor, find_anchor
from .conv_panels import schedule_panels
from .conv_plan import ConvPlan, plan_conv, waits_for_filters, wants_panels
from .default.look import access_steps, block_of
from .default.transposes import transpose_squares
from .steps import write_out
from .tag import is_broadcast, is_injective
from .winograd_schedule import schedule_winograd

_WRITTEN_OUT = 160
"""Products of a register tile that are written out one after another, at most."""


def schedule_conv(
    outputs: Tensor | Sequence[Tensor],
    target: Target | str = "cpu",
    *,
    args: Sequence[Tensor | Var] | None = None,
    name: str | None = None,
) -> Schedule:
    """A schedule of a convolution or pooling with what follows it.

    Parameters
    ----------
    outputs
        The last tensor of `conv1d`, `conv2d`, `conv3d`, `depthwise_conv2d`, `pool2d` and their
        like, possibly followed by operators that work element by element: bias, the sum with
        another tensor, `relu`, `clip` ...
    target
        Its registers, caches and threads decide the sizes: see `plan_conv`.
    args, name
        Order of the parameters and name of the kernel, as for `Schedule`.

    Raises
    ------
    ScheduleError
        If there is no convolution or pooling in what computes the outputs.
    """
    results = [outputs] if isinstance(outputs, Tensor) else list(outputs)
    anchor, machine = find_anchor(results), Target.of(target)
    sch = Schedule(results, args=args, name=name or anchor.op.name)
    _schedule_around(sch, anchor, results, machine)
    for tensor in anchor.epilogue[:-1]:
        sch.compute_inline(tensor)
    if anchor.kind == "winograd":
        schedule_winograd(sch, anchor, machine)
        return sch
    if wants_panels(anchor, machine):
        schedule_panels(sch, anchor, machine)
        return sch
    plan = plan_conv(anchor, machine)
    tile = _tile(sch, anchor, plan)
    _pad(sch, anchor, tile, machine)
    sch.parallel(tile.thread)
    if waits_for_filters(anchor, plan, machine):
        sch.prefetch(anchor.op.input_tensors[1], tile.panels, 1, spread=True)
    return sch


@dataclass(frozen=True, slots=True)
class _Tile:
    """The loops that threads share and that goes through panels of filters, and what the first of
    these means for the margin of the image.
    """

    thread: LoopRef
    panels: LoopRef
    has_part_of_image: bool
    asks_for_margin: bool


def _tile(sch: Schedule, anchor: Anchor, plan: ConvPlan) -> _Tile:
    """Tile the window, and apply the epilogue to each tile."""
    window = anchor.window
    if anchor.epilogue:
        write = sch.block(anchor.epilogue[-1])
    else:
        write = sch.cache_write(window, "local")
    loops = sch.loops(window)
    letters = anchor.layout.letters
    at = dict(zip(letters, loops, strict=False))
    sums = loops[len(letters) :]
    spatial = [s for s in letters if s.isupper() and s not in "NC"]
    inner: list[LoopRef] = []
    parts = _split_rows(sch, at, spatial, plan, inner)
    if letters[-1] in "cC":
        at["W"], pixels = sch.split(at["W"], [None, plan.pixels])
        inner.append(pixels)
    if letters[-1].isupper():
        at[letters[-1]], lanes = sch.split(at[letters[-1]], [None, plan.lanes])
    else:
        lanes = at.pop(letters[-1])
    if letters[-1] != "C":
        at["C"], channels = sch.split(at["C"], [None, plan.channels])
        inner.append(channels)
    inner.append(lanes)
    channels_first = [at["C"], *parts]
    outer = [at["N"], *(reversed(channels_first) if plan.rows_first else channels_first)]
    between = [at[s] for s in spatial]
    sch.reorder(*outer, *between, *sums, *inner)
    written = sch.reverse_compute_at(write, between[-1])
    init = sch.decompose_reduction(window, sums[0])
    taps = _written_out(sums, plan) if anchor.kind != "full" else []
    write_out(sch, [*taps, *inner])
    write_out(sch, written)
    write_out(sch, sch.loops(init)[len(outer) + len(between) :])
    # Vectors of every second pixel would be read lane by lane if some of them were margin.
    is_dense = letters[-1] in "cC" or anchor.op.attrs["step"] == 1
    single = anchor.kind != "full"
    thread = sch.fuse(*(outer if single else outer[:2]))
    panels = at["C"] if plan.rows_first else thread
    return _Tile(thread, panels, plan.rows_first or single, is_dense and len(taps) == len(sums))


def _split_rows(
    sch: Schedule,
    at: dict[str, LoopRef],
    spatial: Sequence[str],
    plan: ConvPlan,
    inner: list[LoopRef],
) -> list[LoopRef]:
    """Split off the rows of a register tile; returns the loop over parts, if there are any."""
    if plan.tall > 1:
        at[spatial[-2]], tall = sch.split(at[spatial[-2]], [None, plan.tall])
        inner.append(tall)
    if len(spatial) < 2:
        return []
    rows = plan.rows if len(spatial) > 2 else -(-plan.rows // plan.tall)
    parts, at[spatial[0]] = sch.split(at[spatial[0]], [None, rows])
    return [parts]


def _written_out(sums: Sequence[LoopRef], plan: ConvPlan) -> list[LoopRef]:
    """The innermost loops over a window that are short enough to be written out."""
    found: list[LoopRef] = []
    size = plan.pixels * plan.tall * plan.channels
    for loop in reversed(sums):
        size *= loop.extent or _WRITTEN_OUT + 1
        if size > _WRITTEN_OUT:
            break
        found.insert(0, loop)
    return found


def _pad(sch: Schedule, anchor: Anchor, tile: _Tile, machine: Target) -> None:
    """Place the copy of the image with its margin."""
    if anchor.padded is None:
        return
    if tile.asks_for_margin:
        sch.compute_inline(anchor.padded)
        return
    if not tile.has_part_of_image:
        _spread(sch, sch.block(anchor.padded), machine)
        return
    loops = sch.compute_at(anchor.padded, tile.thread)
    if loops:
        sch.vectorize(loops[-1])


def _schedule_around(
    sch: Schedule, anchor: Anchor, results: Sequence[Tensor], machine: Target
) -> None:
    """Inline what comes element by element; vectors and threads for all other operations.

    What comes later may also rearrange elements; what comes before is read many times.
    """
    for op in (*anchor.before, *anchor.after):
        tensor = op.outputs[0]
        light = is_broadcast(op.tag) or (op in anchor.after and is_injective(op.tag))
        if light and not is_among(tensor, results) and sch.check("compute_inline", tensor):
            sch.compute_inline(tensor)
            continue
        _spread(sch, sch.block(tensor), machine)


def _spread(sch: Schedule, block: BlockRef, machine: Target) -> None:
    """Vectors, or squares where a copy goes across memory, and threads."""
    loops = _by_blocks(sch, block, machine)
    outer = transpose_squares(sch, block, loops, machine)
    if outer is None:
        *outer, last = loops
        if sch.check("vectorize", last):
            sch.vectorize(sch.split(last, [None, 64])[1])
    shared = sch.fuse(*outer[:2]) if len(outer) > 1 else next(iter(outer), None)
    if shared is not None and sch.check("parallel", shared):
        sch.parallel(shared)


def _by_blocks(sch: Schedule, block: BlockRef, machine: Target) -> list[LoopRef]:
    """The loops of a block, those over channels that lie in blocks split in the same way."""
    lanes = machine.lanes(block_of(sch, block).writes[0].buffer.dtype.bits)
    found: list[LoopRef] = []
    steps = [access.steps for access in access_steps(sch, block)]
    for loop in sch.loops(block):
        uneven = any(step.get(loop.var, 0) is None for step in steps)
        whole = loop.extent is not None and loop.extent % lanes == 0
        found += sch.split(loop, [None, lanes]) if uneven and whole else [loop]
    return found
