"""How a convolution is computed on images in blocks of channels, if it can be."""

from __future__ import annotations

import math
from dataclasses import dataclass

from tvmlab.graph.ir import Graph, Node
from tvmlab.graph.operators import attributes
from tvmlab.support import FLOAT32

_LEAST_CHANNELS = 32
"""Winograd's algorithm needs so many, because transformations do not depend on their number."""

_LEAST_TILES = 12
"""So few tiles of an image do not fill registers."""

_LEAST_GAIN = 1.5
"""Products of a direct sum for each one that is left: with fewer, transformations cost more."""

_LEAST_WORK = 1 << 24
"""Products of a direct sum, for tiles of 2x2: with fewer, threads wait for each other too often."""


@dataclass(frozen=True, slots=True)
class ConvSite:
    """Layouts of a convolution.

    Attributes
    ----------
    layout, kernel_layout
        Of its image and of its filters.
    groups
        Their number; for depthwise convolutions with the channels that fill up blocks.
    winograd_tile
        The size of tiles by Winograd's algorithm; 0 for a direct sum.
    flops
        Operations of the direct sum.
    """

    layout: str
    kernel_layout: str
    groups: int
    winograd_tile: int
    flops: int


def conv_site(graph: Graph, node: Node, block: int) -> ConvSite | None:
    """The layouts for a convolution with known filters, None if blocks do not suit it."""
    image, weight = graph.types[node.inputs[0]], graph.types[node.inputs[1]]
    output = graph.types[node.outputs[0]]
    known = all(i in graph.params for i in node.used[1:])
    if image.rank != 4 or image.dtype != FLOAT32 or image.names or output.names or not known:
        return None
    groups, (outputs, inner, *window) = attributes(node).int("groups"), weight.sizes
    flops = 2 * output.count * inner * math.prod(window)
    blocked = f"NCHW{block}c"
    if groups > 1 and inner == 1 and outputs == groups:
        filled = -(-groups // block) * block
        return ConvSite(blocked, f"OIHW{block}o", filled, 0, flops)
    if groups > 1:
        full = inner % block == 0 and (outputs // groups) % block == 0
        return ConvSite(blocked, f"OIHW{block}i{block}o", groups, 0, flops) if full else None
    if inner < block // 2:
        return ConvSite("NCHW", f"OIHW{block}o", 1, 0, flops)
    tile = _winograd_tile(graph, node, block)
    return ConvSite(blocked, f"OIHW{block}i{block}o", 1, tile, flops)


def _winograd_tile(graph: Graph, node: Node, block: int) -> int:
    attrs, (outputs, inner, *window) = attributes(node), graph.types[node.inputs[1]].sizes
    ones = (*attrs.ints("strides"), *attrs.ints("dilations"))
    if window != [3, 3] or set(ones) != {1} or min(outputs, inner) < _LEAST_CHANNELS:
        return 0
    if inner % block or outputs % block:
        return 0
    *_, height, width = graph.types[node.outputs[0]].sizes
    direct = 9 * height * width * inner * outputs
    for tile in (4, 2) if direct >= _LEAST_WORK else (4,):
        tiles = -(-height // tile) * -(-width // tile)
        if tiles >= _LEAST_TILES and 9 * height * width >= _LEAST_GAIN * (tile + 2) ** 2 * tiles:
            return tile
    return 0
