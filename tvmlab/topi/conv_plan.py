"""Sizes of convolution schedules, from the shape of the output and the machine."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from tvmlab.ir import const_int
from tvmlab.target import Target

from .conv_anchor import Anchor
from .layout import Layout

_MOST_PIXELS = 14
"""Pixels of the register tile at most: more do not help, and are more code."""

_MOST_OF_ONE = 28
"""The same, if it has one vector of channels."""

_FILTER_COST = 8
"""Reading filters from the second-level cache takes as long as computing so many pixels."""

_SPILL_COST = 0.05
"""How much longer it takes for each quarter of that cache that the image takes beyond the first."""

_MOST_IDLE = 1.2
"""Threads may wait for others so much that sharing channels only takes this much longer."""

_VECTORS_OF_PIXELS = 4
"""Vectors of pixels that a filter is multiplied with: it is spread over lanes once for all."""

_MOST_TILES_ASKING = 16
"""Each tile asks again; with more of them the processor has what it needs from the first one."""

_ROWS_IN_STEPS = 2
"""Rows of the register tile, if the window moves in steps and rows share what they read."""

_LEAST_PIXELS = 4
"""With fewer pixels, sums of more channels are needed, or each waits for the one before."""


@dataclass(frozen=True, slots=True)
class ConvPlan:
    """Sizes of a convolution schedule, in elements.

    Attributes
    ----------
    lanes
        Elements along the last dimension that are computed at once, as one or more vectors.
    channels
        Channels (or blocks of them) of the register tile, besides those in `lanes`.
    pixels, tall
        Pixels of a row, and rows, of the register tile, besides those in `lanes`.
    rows
        Output rows that a thread takes at once.
    rows_first
        Whether threads share rows, and go through all channels for each part; else they share
        channels, and go through all rows for each.
    """

    lanes: int
    channels: int
    pixels: int
    tall: int
    rows: int
    rows_first: bool


def plan_conv(anchor: Anchor, machine: Target) -> ConvPlan:
    """The sizes for a convolution or pooling on a machine."""
    if anchor.layout.letters[-1] in "cC":
        return _plan_by_channel(anchor, machine)
    return _plan_by_pixel(anchor, machine)


def _plan_by_pixel(anchor: Anchor, machine: Target) -> ConvPlan:
    """Vectors hold pixels of a row; a filter meets so many of them, from several rows if short."""
    width = machine.lanes(anchor.window.dtype.bits)
    vectors = min(_VECTORS_OF_PIXELS, -(-anchor.extent(anchor.layout.letters[-1]) // width))
    if anchor.kind != "full":
        rows, rows_first = _parts(anchor, machine, 1)
        return ConvPlan(vectors * width, 1, 1, 1, rows, rows_first)
    tall = even_tile(_height(anchor), _VECTORS_OF_PIXELS // vectors)
    room = _tile_room(machine, vectors * tall)
    channels = _tile_of_group(anchor, _group_channels(anchor), room)
    rows, rows_first = _parts(anchor, machine, channels, tall)
    return ConvPlan(vectors * width, channels, 1, tall, rows, rows_first)


def _plan_by_channel(anchor: Anchor, machine: Target) -> ConvPlan:
    """Vectors hold channels of one pixel."""
    width = machine.lanes(anchor.window.dtype.bits)
    late = _filters_come_late(anchor, machine)
    lanes, channels = _channel_lanes(anchor, width, 1 if anchor.kind != "full" or late else 2)
    most = _MOST_OF_ONE if late else _MOST_PIXELS
    room = _tile_room(machine, channels * -(-lanes // width), most)
    tall = _ROWS_IN_STEPS if _shares_rows_in_steps(anchor) else 1
    pixels = even_tile(anchor.extent("W"), max(1, room // tall))
    rows, rows_first = _parts(anchor, machine, channels * (lanes if channels == 1 else 1))
    if anchor.kind == "full" and pixels == anchor.extent("W"):
        tall = even_tile(rows, max(1, room // pixels), exact=rows < _height(anchor))
    if anchor.kind == "full" and pixels * tall < _LEAST_PIXELS:
        lanes, channels = _channel_lanes(anchor, width, 2 * _LEAST_PIXELS // (pixels * tall))
    return ConvPlan(lanes, channels, pixels, tall, rows, rows_first)


def _shares_rows_in_steps(anchor: Anchor) -> bool:
    """Whether one reading of the input should do for two rows of a depthwise convolution: with a
    stride it has few products for what it reads. Of few rows, pairs leave too many over.
    """
    step = int(anchor.op.attrs.get("step", 1))
    return anchor.kind == "depthwise" and step > 1 and _height(anchor) > 2 * _ROWS_IN_STEPS


_PANEL_VECTORS = (2, 3, 1)
"""Vectors of channels of a register tile, whichever first leaves no rest."""

_LEAST_TAPS = 32
"""With fewer elements for each output, copies take a large part of the time."""

_LEAST_PLACES = 32
"""The same for places of the window, which use each filter once."""


def wants_panels(anchor: Anchor, machine: Target) -> bool:
    """Whether filters should be copied to panels: where they are all of one group, as wide as the
    sums, come from outside, are used often enough, and fill vectors of channels.
    """
    filters, layouts = anchor.op.input_tensors[1:], ("layout", "kernel_layout", "out_layout")
    if anchor.kind != "full" or len(filters) != 1 or filters[0].op.input_tensors:
        return False
    if any(Layout.of(str(anchor.op.attrs.get(name))).blocks for name in layouts):
        return False
    if anchor.op.attrs["layout"] != anchor.op.attrs["out_layout"]:
        return False
    sizes = [const_int(s) for t in (anchor.window, *anchor.op.input_tensors) for s in t.shape]
    same = len({t.dtype for t in (anchor.window, *anchor.op.input_tensors)}) == 1
    width = machine.lanes(anchor.window.dtype.bits)
    if None in sizes or not same or width < 2 or _group_channels(anchor) < _channels(anchor):
        return False
    places = prod(anchor.extent(s) for s in anchor.layout.letters if s not in "NC")
    enough = anchor.taps >= _LEAST_TAPS and places >= _LEAST_PLACES
    return enough and anchor.extent("W") >= _LEAST_PIXELS and _channels(anchor) % width == 0


def plan_panels(anchor: Anchor, machine: Target) -> ConvPlan:
    """The sizes where filters are copied to panels."""
    width = machine.lanes(anchor.window.dtype.bits)
    count = _channels(anchor) // width
    vectors = next(n for n in _PANEL_VECTORS if count % n == 0)
    room = _tile_room(machine, vectors)
    pixels = even_tile(anchor.extent("W"), room)
    rows, rows_first = _parts(anchor, machine, vectors * width)
    tall = 1
    if pixels == anchor.extent("W"):
        tall = even_tile(rows, max(1, room // pixels), exact=rows < _height(anchor))
    return ConvPlan(vectors * width, 1, pixels, tall, rows, rows_first)


def _tile_room(machine: Target, vectors: int, most: int = _MOST_PIXELS) -> int:
    """How often so many vectors fit the registers, besides the operands of one step."""
    return min(most, max(1, (max(machine.num_registers, 8) - vectors - 1) // vectors))


def _filters_come_late(anchor: Anchor, machine: Target) -> bool:
    """Whether filters come from behind the second cache, and whole rows make larger tiles of one
    vector of channels: each filter should meet many pixels then.
    """
    if anchor.kind != "full":
        return False
    filters = anchor.op.input_tensors[1]
    size = prod(const_int(s) or 1 for s in filters.shape) * filters.dtype.itemsize
    rows = _tile_room(machine, 1, _MOST_OF_ONE) // anchor.extent("W")
    return size > _second_cache(machine) and rows > 1 and _height(anchor) % rows == 0


def _second_cache(machine: Target) -> int:
    """Its size in bytes."""
    return next((c.size for c in machine.caches if c.level == 2), 512 << 10)


def _channel_lanes(anchor: Anchor, width: int, wanted: int) -> tuple[int, int]:
    """Channels in vectors, and blocks of them besides, when channels are the last dimension."""
    if "C" in anchor.layout.blocks:
        block = anchor.layout.blocks["C"]
        most = max(1, wanted * width // max(block, width))
        return block, _tile_of_group(anchor, max(1, _group_channels(anchor) // block), most)
    most = min(-(-anchor.extent("C") // width), wanted) * width
    group = _group_channels(anchor)
    if anchor.kind != "full" or group == _channels(anchor) or group % most == 0:
        return most, 1
    # A vector over several groups would need the inputs of each of them.
    return max(n for n in range(1, width + 1) if group % n == 0), 1


def _group_channels(anchor: Anchor) -> int:
    """Channels that are computed from the same input."""
    return int(anchor.op.attrs.get("group_size", 0)) or _channels(anchor)


def _tile_of_group(anchor: Anchor, extent: int, most: int) -> int:
    """The size of tiles of channels: tiles of several groups would need several inputs."""
    grouped = _group_channels(anchor) < _channels(anchor)
    return even_tile(extent, min(most, _MOST_PIXELS), exact=grouped)


def _channels(anchor: Anchor) -> int:
    """All channels of the output."""
    return anchor.extent("C") * anchor.layout.block("C")


def waits_for_filters(anchor: Anchor, plan: ConvPlan, machine: Target) -> bool:
    """Whether filters of the next channels had better be asked for while these are computed.

    They come from behind the second cache, and few pixels meet each of them. So many as a part of
    that cache holds arrive before they are needed.
    """
    letters, shape = anchor.layout.letters, anchor.window.shape
    if (
        letters[-1] not in "cC"
        or anchor.kind != "full"
        or _group_channels(anchor) < _channels(anchor)
    ):
        return False
    sizes = {x: const_int(s) or 0 for x, s in zip(letters, shape, strict=True)}
    pixels = prod(size for x, size in sizes.items() if x not in "cC")
    tiles = pixels / (plan.pixels * plan.tall)
    wide = plan.lanes * plan.channels
    panel = anchor.taps * wide * anchor.window.dtype.itemsize
    filters = panel * _channels(anchor) / wide
    return worth_asking(panel, filters, tiles, machine)


def worth_asking(panel: int, weights: float, tiles: float, machine: Target) -> bool:
    """Whether it pays to ask for a panel of weights while the one before is multiplied.

    Parameters
    ----------
    panel, weights
        Bytes of a panel, and of all.
    tiles
        How many register tiles each panel meets.
    """
    second = _second_cache(machine)
    several = weights > panel and weights >= second / 4
    return several and panel <= second / 8 and 0 < tiles <= _MOST_TILES_ASKING


def even_tile(extent: int, most: int, *, exact: bool = False) -> int:
    """The size of tiles, at most `most`, that are computed soonest; `exact` ones divide the extent.

    A tile takes as long as its size, and a step more for what is loaded once for it.
    """
    if extent <= most:
        return max(extent, 1)
    sizes = [s for s in range(max(most, 1), 0, -1) if not exact or extent % s == 0]
    return min(sizes, key=lambda size: (-(-extent // size) * (size + 1), -extent % size))


def _height(anchor: Anchor) -> int:
    """The size of the outermost spatial dimension, besides the innermost."""
    spatial = [s for s in anchor.layout.letters if s.isupper() and s not in "NC"]
    return anchor.extent(spatial[0]) if len(spatial) > 1 else 1


def _parts(anchor: Anchor, machine: Target, channels: int, tall: int = 1) -> tuple[int, bool]:
    """Rows of a part, in whole tiles, and whether threads share rows rather than channels."""
    height, letters = _height(anchor), anchor.layout.letters
    images = anchor.extent("N") if "N" in letters else 1
    if anchor.kind != "full":
        count = images * -(-anchor.extent("C") // max(channels, 1))
        few = -(-count // machine.num_threads) * machine.num_threads > _MOST_IDLE * count
        return (-(-height // machine.num_threads) if few else height), False
    if height == 1:
        return 1, False
    pixels = anchor.extent("W")
    source = anchor.padded or anchor.op.input_tensors[0]
    image = source.dtype.itemsize
    for letter, size in zip(letters, source.shape, strict=False):
        image *= 1 if letter == "N" else const_int(size) or 1
    second = _second_cache(machine)

    def cost(rows: int, rows_first: bool) -> float:
        """How much longer than at best it takes, as a factor."""
        parts = -(-height // rows) if rows_first else -(-anchor.extent("C") // max(channels, 1))
        rounds = -(-parts * images // machine.num_threads) * machine.num_threads
        idle = rounds * rows / (height * images) if rows_first else rounds / (parts * images)
        filters = 1 + _FILTER_COST / (rows * pixels)
        beyond = image * rows / height / (second / 4) - 1
        return idle * filters * (1 + _SPILL_COST * max(0.0, beyond))

    tiles = -(-height // tall)
    sizes = sorted({tall * -(-tiles // count) for count in range(1, tiles + 1)}, reverse=True)
    best = min(sizes, key=lambda rows: cost(rows, True))
    return (sizes[0], False) if cost(height, False) <= cost(best, True) else (best, True)
