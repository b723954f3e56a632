"""Batch normalization, and scaling or shifting of channels, become part of the convolution before.

What follows a convolution channel by channel, `y * scale + shift`, is the convolution by filters
times `scale`, with `bias * scale + shift`: known weights pay for it once.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from tvmlab.graph.ir import Array, Graph, Node
from tvmlab.graph.operators import attributes

from .edit import GraphEdit

_FILTERS_FIRST = {"conv": 0, "conv_transpose": 1}
"""Where the filters have their output channels; transposed ones are (in, out / groups, ...)."""


def fold_norm(graph: Graph) -> Graph:
    """The graph with scales and shifts of channels taken into convolutions before them."""
    while True:
        pairs = _pairs(graph)
        if not pairs:
            return graph
        made = GraphEdit(graph)
        for node in graph.nodes:
            if id(node) in pairs:
                follower, scale, shift = pairs[id(node)]
                _emit(made, node, follower, scale, shift)
            elif not any(node is follower for follower, *_ in pairs.values()):
                made.keep(node)
        graph = made.done()


def _pairs(graph: Graph) -> dict[int, tuple[Node, Array, Array]]:
    """For convolutions the node after it that it can take in, with its scale and shift."""
    found: dict[int, tuple[Node, Array, Array]] = {}
    for node in graph.nodes:
        if node.op not in _FILTERS_FIRST or not all(i in graph.params for i in node.used[1:]):
            continue
        if node.op == "conv_transpose" and attributes(node).int("groups") != 1:
            continue
        (output,) = node.outputs
        if graph.uses(output) != 1 or not graph.consumers.get(output):
            continue
        follower = graph.consumers[output][0]
        channels = graph.types[output].shape[1]
        if not graph.types[output].dtype.is_float or not isinstance(channels, int):
            continue
        effect = _effect(graph, follower, output, channels)
        if effect is not None:
            found[id(node)] = (follower, *effect)
    return found


def _effect(graph: Graph, node: Node, value: str, channels: int) -> tuple[Array, Array] | None:
    """What a node does to the channels of a value, as scale and shift; None if it does more."""
    params = graph.params
    if node.op == "batch_norm" and node.inputs[0] == value:
        if not all(i in params for i in node.inputs[1:]):
            return None
        gamma, beta, mean, variance = (params[i].astype(np.float64) for i in node.inputs[1:])
        scale = gamma / np.sqrt(variance + attributes(node).float("epsilon"))
        return scale, beta - mean * scale
    if node.op not in ("add", "subtract", "multiply") or len(node.inputs) != 2:
        return None
    other = node.inputs[1] if node.inputs[0] == value else node.inputs[0]
    if other == value or (node.op == "subtract" and node.inputs[0] != value):
        return None
    vector = _per_channel(params, other, graph.types[value].rank, channels)
    if vector is None:
        return None
    ones = np.ones(channels)
    if node.op == "multiply":
        return vector, ones * 0
    return ones, vector if node.op == "add" else -vector


def _per_channel(params: Mapping[str, Array], name: str, rank: int, channels: int) -> Array | None:
    """A parameter that is the same for all pixels of a channel, one number for each."""
    array = params.get(name)
    if array is None or array.ndim > rank:
        return None
    shape = (1,) * (rank - array.ndim) + array.shape
    if any(size != 1 for d, size in enumerate(shape) if d != 1):
        return None
    return np.broadcast_to(array.reshape(-1).astype(np.float64), (channels,))


def _emit(made: GraphEdit, node: Node, follower: Node, scale: Array, shift: Array) -> None:
    filters = made.params[node.inputs[1]]
    at = _FILTERS_FIRST[node.op]
    along = [1] * filters.ndim
    along[at] = -1
    weight: Any = filters * scale.reshape(along)
    bias = made.params[node.inputs[2]] if len(node.used) > 2 else np.zeros(len(scale))
    names = [
        made.param(weight.astype(filters.dtype), f"{node.inputs[1]}.scaled"),
        made.param((bias * scale + shift).astype(filters.dtype), f"{node.outputs[0]}.bias"),
    ]
    made.emit(node.op, (node.inputs[0], *names), follower.outputs[0], node.name, node.attrs)
