"""Transposes before a matrix product write the right factor the way the product reads it best.

A product by a transposed factor has its columns far from one another. Where the factor comes from a
transpose anyway, as in attention, that one may as well put the columns side by side.
"""

from __future__ import annotations

from tvmlab.graph.ir import Graph, Node
from tvmlab.graph.operators import attributes

from .edit import GraphEdit


def turn_factors(graph: Graph) -> Graph:
    """The graph with transposed right factors turned by the transposes that make them."""
    made = GraphEdit(graph)
    changed = False
    for node in graph.nodes:
        source = _transpose_before(graph, node)
        if source is None:
            made.keep(node)
            continue
        *rest, last, first = attributes(source).ints("perm")
        factor = made.emit("transpose", source.inputs, node=source.outputs[0],
                           perm=(*rest, first, last))  # fmt: skip
        made.emit("matmul", (node.inputs[0], factor), node.outputs[0], node.name)
        changed = True
    return made.done() if changed else graph


def _transpose_before(graph: Graph, node: Node) -> Node | None:
    """The transpose whose only reader is a product that transposes once more."""
    if node.op != "matmul" or not attributes(node).flag("transpose_b"):
        return None
    source = graph.producers.get(node.inputs[1])
    if source is None or source.op != "transpose" or not is_used_once(graph, source):
        return None
    return source if node.inputs[0] != node.inputs[1] else None


def is_used_once(graph: Graph, node: Node) -> bool:
    """Whether the one result of a node has one reader, or is an output that nobody reads."""
    return len(node.made) == 1 and graph.uses(node.made[0]) == 1
