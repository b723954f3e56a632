"""Margins of zeros become part of the convolution that reads them."""

from __future__ import annotations

from tvmlab.graph.ir import Graph, Node
from tvmlab.graph.operators import attributes

from .edit import GraphEdit


def fold_pad(graph: Graph) -> Graph:
    """The graph with constant margins of zeros taken into the convolutions that read them."""
    made = GraphEdit(graph)
    changed = False
    for node in graph.nodes:
        source = graph.producers.get(node.inputs[0]) if node.op == "conv" else None
        margin = None if source is None else _zeros_around(graph, source)
        if margin is None or source is None:
            made.keep(node)
            continue
        pads = tuple(a + b for a, b in zip(attributes(node).ints("pads"), margin, strict=True))
        attrs = {**node.attrs, "pads": pads}
        made.emit("conv", (source.inputs[0], *node.inputs[1:]), node.outputs[0], node.name, attrs)
        changed = True
    return made.done() if changed else graph


def _zeros_around(graph: Graph, node: Node) -> tuple[int, ...] | None:
    """The pads of the spatial dimensions, if a node does nothing but put zeros around an image."""
    if node.op != "pad" or len(node.used) > 1:
        return None
    attrs, rank = attributes(node), graph.types[node.inputs[0]].rank
    pads = attrs.ints("pads")
    first, last = pads[:rank], pads[rank:]
    outside = (*first[:2], *last[:2])
    if attrs.text("mode") != "constant" or attrs.float("value") or any(outside) or min(pads) < 0:
        return None
    return (*first[2:], *last[2:])
