"""Transposed convolutions as what they consist of.

Of a single pixel, one is a matrix product. Else, outputs at places of the same remainder modulo the
stride meet the same filter elements: an ordinary convolution computes all remainders as so many
more channels, and these are put side by side. No product with an inserted zero is computed. Where
each output meets two filter elements along each dimension, Winograd's algorithm may need fewer.
"""

from __future__ import annotations

import numpy as np

import tvmlab.topi as topi
from tvmlab.graph.ir import Array, Graph, Node
from tvmlab.graph.operators import attributes
from tvmlab.support import FLOAT32
from tvmlab.target import Target

from .edit import GraphEdit


def spread(graph: Graph, machine: Target | None = None) -> Graph:
    """The graph with transposed convolutions of images by known filters rewritten.

    Parameters
    ----------
    machine
        Decides where Winograd's algorithm is used; nowhere without one.
    """
    if not any(_is_known(graph, node) for node in graph.nodes):
        return graph
    made = GraphEdit(graph)
    for node in graph.nodes:
        if not _is_known(graph, node):
            made.keep(node)
        elif _is_pixel(graph, node):
            _as_product(made, node)
        elif tile := _winograd_tile(graph, node, machine):
            _as_winograd(made, node, tile)
        else:
            _as_convolution(made, node)
    return made.done()


def _is_known(graph: Graph, node: Node) -> bool:
    if node.op != "conv_transpose" or not all(i in graph.params for i in node.used[1:]):
        return False
    attrs, image = attributes(node), graph.types[node.inputs[0]]
    plain = attrs.int("groups") == 1 and set(attrs.ints("dilations")) == {1}
    return plain and image.rank == 4 and image.dtype == FLOAT32 and not image.names


def _is_pixel(graph: Graph, node: Node) -> bool:
    attrs = attributes(node)
    margins = (*attrs.ints("pads"), *attrs.ints("output_padding"))
    return graph.types[node.inputs[0]].sizes[2:] == (1, 1) and not any(margins)


def _bias(made: GraphEdit, node: Node) -> Array | None:
    return made.params[node.inputs[2]] if len(node.used) > 2 else None


def _as_product(made: GraphEdit, node: Node) -> None:
    weight, output = made.params[node.inputs[1]], node.outputs[0]
    batch, channels, *_ = made.types[node.inputs[0]].sizes
    window = weight.shape[2] * weight.shape[3]
    row = made.emit("reshape", (node.inputs[0],), node=f"{output}.row", shape=(batch, channels))
    matrix = made.param(weight.reshape(channels, -1), f"{node.inputs[1]}.matrix")
    product = made.emit("matmul", (row, matrix), node=output)
    bias = _bias(made, node)
    if bias is not None:
        product = made.emit("add", (product, made.param(bias.repeat(window), f"{output}.bias")),
                            node=output)  # fmt: skip
    made.emit("reshape", (product,), output, node.name, shape=made.types[output].sizes)


def _winograd_tile(graph: Graph, node: Node, machine: Target | None) -> int:
    attrs, weight = attributes(node), graph.types[node.inputs[1]].sizes
    strides = attrs.ints("strides")
    two = all(s < k <= 2 * s for k, s in zip(weight[2:], strides, strict=True))
    if machine is None or not two:
        return 0
    size = graph.types[node.outputs[0]].sizes[2:]
    return topi.transposed_winograd_tile(size, (weight[0], weight[1]), strides, machine)


def _as_winograd(made: GraphEdit, node: Node, tile: int) -> None:
    attrs, (output,) = attributes(node), node.outputs
    strides = attrs.ints("strides")
    filters = made.emit("spread_filters", (node.inputs[1],), node=f"{node.inputs[1]}.winograd",
                        tile=tile, strides=strides)  # fmt: skip
    made.emit("spread_winograd", (node.inputs[0], filters, *node.inputs[2:]), output, node.name,
              strides=strides, pads=attrs.ints("pads")[:2],
              sizes=made.types[output].sizes[2:])  # fmt: skip


def _as_convolution(made: GraphEdit, node: Node) -> None:
    attrs, output = attributes(node), node.outputs[0]
    strides, pads = attrs.ints("strides"), attrs.ints("pads")
    weight, image = made.params[node.inputs[1]], made.types[node.inputs[0]].sizes
    filters = topi.pack_transposed(weight, strides)
    places = made.types[output].sizes[2:]
    first, before, after = [0, 0], [0, 0], [0, 0]
    for d in range(2):
        taps = filters.shape[2 + d]
        first[d] = min(pads[d] // strides[d], taps - 1)
        before[d] = taps - 1 - first[d]
        after[d] = max(0, (places[d] - 1 + pads[d]) // strides[d] + 1 - image[2 + d])
    inputs = [node.inputs[0], made.param(filters, f"{node.inputs[1]}.sorted")]
    bias = _bias(made, node)
    if bias is not None:
        repeated = np.tile(bias, strides[0] * strides[1])
        inputs.append(made.param(repeated, f"{output}.bias"))
    parts = made.emit("conv", inputs, node=output, strides=(1, 1), dilations=(1, 1),
                      pads=(*before, *after))  # fmt: skip
    made.emit("interleave", (parts,), output, node.name, strides=strides, offsets=pads[:2],
              first=tuple(first), sizes=places, channels=weight.shape[1])  # fmt: skip
