"""Products of flattened images in blocks take their weights in the order of the blocks.

Flattening needs the plain layout only so that each number meets its weight. Weights are known, so
they are put in order once, and the image stays as it is.
"""

from __future__ import annotations

import numpy as np

import tvmlab.topi as topi
from tvmlab.graph.ir import Graph, Node
from tvmlab.graph.operators import attributes

from .edit import GraphEdit


def sink_layout(graph: Graph) -> Graph:
    """The graph with products of flattened images by known weights rewritten."""
    found = {id(node): image for node in graph.nodes if (image := _image(graph, node))}
    if not found:
        return graph
    made = GraphEdit(graph)
    for node in graph.nodes:
        if id(node) in found:
            _rewrite(made, graph, node, found[id(node)])
        else:
            made.keep(node)
    return made.done()


def _image(graph: Graph, node: Node) -> Node | None:
    """The transformation to the plain layout that a product's left factor is flattened from."""
    if node.op != "matmul" or node.inputs[1] not in graph.params:
        return None
    flat = graph.producers.get(node.inputs[0])
    if flat is None or flat.op != "reshape" or graph.types[node.inputs[1]].rank != 2:
        return None
    image = graph.producers.get(flat.inputs[0])
    if image is None or image.op != "layout_transform":
        return None
    attrs = attributes(image)
    plain, rows = graph.types[image.outputs[0]].sizes, graph.types[node.inputs[0]].sizes
    full = attrs.text("target") == "NCHW" and not attrs.int("channels")
    return image if full and len(rows) == 2 and rows[0] == plain[0] else None


def _rewrite(made: GraphEdit, graph: Graph, node: Node, image: Node) -> None:
    source, attrs = image.inputs[0], attributes(image)
    plain = (1, *graph.types[image.outputs[0]].sizes[1:])
    places = np.arange(int(np.prod(plain))).reshape(plain)
    order = topi.pack_array(places, "NCHW", attrs.text("source")).reshape(-1)
    weight = node.inputs[1]
    axis = 1 if attributes(node).flag("transpose_b") else 0
    sorted_ = made.param(np.take(graph.params[weight], order, axis), f"{weight}.sorted")
    shape = graph.types[node.inputs[0]].sizes
    flat = made.emit("reshape", (source,), node=node.inputs[0], shape=shape)
    made.emit("matmul", (flat, sorted_), node.outputs[0], node.name, attrs=node.attrs)
