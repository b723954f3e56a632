"""Tensors without elements: nothing computes them, and nothing is read of them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from tvmlab.graph.ir import Array, Graph, Node


def remove_empty(graph: Graph) -> Graph:
    """The graph in which values without elements are constants, and concatenations skip them."""
    empty = {n for n, t in graph.types.items() if 0 in t.shape}
    if not empty:
        return graph
    params: dict[str, Array] = dict(graph.params)
    types, names = dict(graph.types), dict[str, str]()
    for name in graph.inputs:
        if name in empty:
            names[name] = f"{name}.empty"
            types[names[name]] = types[name]
            params[names[name]] = np.zeros(types[name].sizes, types[name].dtype.numpy)
    nodes: list[Node] = []
    for node in graph.nodes:
        own = node.renamed(names)
        for output in own.made:
            if output in empty:
                params[output] = np.zeros(types[output].sizes, types[output].dtype.numpy)
        outputs = tuple("" if o in empty else o for o in own.outputs)
        if not any(outputs):
            continue
        own = own if outputs == own.outputs else replace(own, outputs=outputs)
        if own.op == "concat":
            own = replace(own, inputs=tuple(i for i in own.inputs if 0 not in types[i].shape))
        nodes.append(own)
    return graph.with_nodes(nodes, params=params, types=types)
