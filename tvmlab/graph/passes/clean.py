"""Removing what nobody needs, computing what is known, and computing equal things once."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from tvmlab.graph.ir import Array, Graph, Node
from tvmlab.graph.operators import evaluate_node

_LARGEST_FOLDED = 64 << 20


def remove_dead(graph: Graph) -> Graph:
    """The graph without nodes and parameters that no output depends on."""
    needed = set(graph.outputs)
    kept: list[Node] = []
    for node in reversed(graph.nodes):
        wanted = [o in needed for o in node.outputs]
        if any(wanted):
            outputs = tuple(o if w else "" for o, w in zip(node.outputs, wanted, strict=True))
            kept.append(node if outputs == node.outputs else replace(node, outputs=outputs))
            needed.update(node.used)
    if len(kept) == len(graph.nodes) and graph.params.keys() <= needed:
        return graph
    return graph.with_nodes(reversed(kept))


def fold_constants(graph: Graph) -> Graph:
    """The graph with nodes of known inputs replaced by what they give."""
    params: dict[str, Array] = dict(graph.params)
    kept: list[Node] = []
    for node in graph.nodes:
        room = sum(graph.types[o].nbytes for o in node.made)
        known = all(i in params for i in node.used) and node.op != "while_loop"  # may never end
        if not node.used or room > _LARGEST_FOLDED or not known:
            kept.append(node)
            continue
        arrays = evaluate_node(node, [params[i] if i else None for i in node.inputs])
        params.update({o: np.ascontiguousarray(a) if a.ndim else a
                       for o, a in zip(node.outputs, arrays, strict=False) if o})  # fmt: skip
    if len(kept) == len(graph.nodes):
        return graph
    return remove_dead(graph.with_nodes(kept, params=params))


def share_equal(graph: Graph) -> Graph:
    """The graph with equal nodes on equal inputs computed once."""
    seen: dict[object, Node] = {}
    names: dict[str, str] = {}
    kept: list[Node] = []
    for node in graph.nodes:
        own = node.renamed(names)
        key = (own.op, own.inputs, tuple(sorted(own.attrs.items())), len(own.outputs))
        first = seen.get(key)
        same = first is not None and all(a for a, b in zip(first.outputs, own.outputs, strict=True)
                                         if b)  # fmt: skip
        if first is None or not same or any(o in graph.outputs for o in own.made):
            seen.setdefault(key, own)
            kept.append(own)
            continue
        names.update({b: a for a, b in zip(first.outputs, own.outputs, strict=True) if b})
    return graph if len(kept) == len(graph.nodes) else graph.with_nodes(kept)
