"""Sizes of convolution schedules, from the shape of the output and the machine."""

from __future__ import annotations

from dataclasses import dataclass

from tvmlab.ir import const_int
from tvmlab.target import Target

from .conv_anchor import Anchor

_MOST_PIXELS = 14
"""Pixels of the register tile at most: more do not help, and are more code."""


@dataclass(frozen=True, slots=True)
class ConvPlan:
    """Sizes of a convolution schedule, in elements.

    Attributes
    ----------
    lanes
        Elements along the last dimension that are computed at once, as one or more vectors.
    channels
        Channels (or blocks of them) of the register tile, besides those in `lanes`.
    pixels
        Pixels of a row of the register tile, besides those in `lanes`.
    rows
        Output rows that a thread takes at once.
    rows_first
        Whether threads share rows, and go through all channels for each part; else they share
        channels, and go through all rows for each.
    """

    lanes: int
    channels: int
    pixels: int
    rows: int
    rows_first: bool


def plan_conv(anchor: Anchor, machine: Target) -> ConvPlan:
    """The sizes for a convolution or pooling on a machine."""
    width = machine.lanes(anchor.window.dtype.bits)
    last = anchor.layout.letters[-1]
    registers = max(machine.num_registers, 8)
    if last in "cC":
        lanes, channels = _channel_lanes(anchor, width)
        vectors = channels * -(-lanes // width)
        most = max(1, (registers - vectors - 1) // vectors)
        pixels = even_tile(anchor.extent("W"), min(most, _MOST_PIXELS))
    else:
        extent = anchor.extent(last)
        vectors = min(4, -(-extent // width))
        lanes, pixels = vectors * width, 1
        most = max(1, (registers - vectors - 1) // vectors)
        single = anchor.kind != "full"
        channels = 1 if single else even_tile(_group_channels(anchor), min(most, _MOST_PIXELS))
    rows, rows_first = _parts(anchor, machine, channels * (lanes if last == "C" else 1))
    return ConvPlan(lanes, channels, pixels, rows, rows_first)


def _channel_lanes(anchor: Anchor, width: int) -> tuple[int, int]:
    """Channels in vectors, and blocks of them besides, when channels are the last dimension."""
    single = anchor.kind != "full"
    if "C" in anchor.layout.blocks:
        block = anchor.layout.blocks["C"]
        wanted = 1 if single or block > width else 2
        return block, even_tile(_group_blocks(anchor, block), wanted)
    channels = anchor.extent("C")
    return min(-(-channels // width), 1 if single else 2) * width, 1


def _group_channels(anchor: Anchor) -> int:
    """Channels that are computed from the same input."""
    return int(anchor.op.attrs.get("group_size", 0)) or anchor.extent("C")


def _group_blocks(anchor: Anchor, block: int) -> int:
    """Blocks of channels that are computed from the same input."""
    if anchor.kind != "full":
        return anchor.extent("C")
    return max(1, _group_channels(anchor) // block)


def even_tile(extent: int, most: int) -> int:
    """The size of tiles, at most `most`, with the least left over; the largest of these."""
    if extent <= most:
        return max(extent, 1)
    candidates = range(most, max(most // 2, 1) - 1, -1)
    return min(candidates, key=lambda size: -extent % size)


def _parts(anchor: Anchor, machine: Target, channels: int) -> tuple[int, bool]:
    """Rows of a part, and whether threads share rows rather than channels."""
    letters = anchor.layout.letters
    spatial = [s for s in letters if s.isupper() and s not in "NC"]
    height = anchor.extent(spatial[0]) if len(spatial) > 1 else 1
    parts = -(-anchor.extent("C") // max(channels, 1))
    second = next((c.size for c in machine.caches if c.level == 2), 512 << 10)
    source = anchor.padded or anchor.op.input_tensors[0]
    image = source.dtype.itemsize
    for letter, size in zip(letters, source.shape, strict=False):
        image *= 1 if letter == "N" else const_int(size) or 1
    threads = machine.num_threads
    balanced = parts % threads == 0 or parts >= 4 * threads
    if len(spatial) < 2 or anchor.kind != "full" or (balanced and image <= second // 2):
        return height, False
    images = anchor.extent("N") if "N" in letters else 1
    for count in range(1, height + 1):
        rows = -(-height // count)
        used = -(-height // rows) * images
        fair = used % threads == 0 or used >= 8 * threads
        if used >= threads and fair and image // count <= second // 4:
            return rows, True
    return 1, True
