"""Matrix products by known weights take them in panels of columns, packed once."""

from __future__ import annotations

import math

from tvmlab.graph.ir import Graph, Node
from tvmlab.graph.operators import attributes
from tvmlab.support import FLOAT32
from tvmlab.target import Target
from tvmlab.topi import panel_width

from .edit import GraphEdit


def pack_dense(graph: Graph, target: Target) -> Graph:
    """The graph with products by known matrices as `packed_dense`."""
    if not any(_is_dense(graph, node) for node in graph.nodes):
        return graph
    made = GraphEdit(graph)
    packed: dict[tuple[str, bool, int], str] = {}
    for node in graph.nodes:
        if not _is_dense(graph, node):
            made.keep(node)
            continue
        source, weight = node.inputs
        *rows, columns = graph.types[node.outputs[0]].sizes
        transposed = attributes(node).flag("transpose_b")
        depth = graph.types[source].sizes[-1]
        width = panel_width(math.prod(rows), columns, target, depth)
        key = (weight, transposed, width)
        if key not in packed:
            packed[key] = _packed(made, *key)
        made.emit("packed_dense", (source, packed[key]), node.outputs[0], node.name,
                  columns=columns)  # fmt: skip
    return made.done()


def _packed(made: GraphEdit, weight: str, transposed: bool, width: int) -> str:
    plain = weight
    if transposed:
        plain = made.emit("transpose", (weight,), node=f"{weight}.turned", perm=(1, 0))
    return made.emit("pack_columns", (plain,), node=f"{weight}.packed", block=width)


def _is_dense(graph: Graph, node: Node) -> bool:
    """Whether a node multiplies rows of known number by a known matrix."""
    if node.op != "matmul" or node.inputs[1] not in graph.params:
        return False
    types = [graph.types[i] for i in (*node.inputs, *node.outputs)]
    known = all(t.dtype == FLOAT32 and not t.names and t.count > 0 for t in types)
    return known and types[0].rank >= 2 and types[1].rank == 2
