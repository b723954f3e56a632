"""The order of a model's nodes, and what graphs inside them read from around them."""

from __future__ import annotations

from tvmlab.graph.types import GraphError

from .proto import GraphProto, NodeProto


def in_order(graph: GraphProto, known: set[str]) -> list[NodeProto]:
    """The nodes so that each comes after what it reads.

    Raises
    ------
    GraphError
        If there is a circle, or a value comes from nowhere.
    """
    ready = set(known)
    ordered: list[NodeProto] = []
    waiting = list(graph.node)
    made = {o for n in waiting for o in n.output if o}
    while waiting:
        later: list[NodeProto] = []
        for node in waiting:
            needs = {i for i in node.input if i} | outer_names(node)
            missing = needs - ready
            if not missing:
                ordered.append(node)
                ready |= {o for o in node.output if o}
                continue
            lost = missing - made - ready
            if lost:
                raise GraphError(f"node {node.name} ({node.op_type}) reads {min(lost)}, which is "
                                 "neither an input, an initializer nor made by a node")  # fmt: skip
            later.append(node)
        if len(later) == len(waiting):
            names = ", ".join(n.name or n.op_type for n in later[:4])
            raise GraphError(f"the nodes {names} wait for one another: the graph has a circle")
        waiting = later
    return ordered


def outer_names(node: NodeProto) -> set[str]:
    """Names that the graphs inside a node read from around it."""
    found: set[str] = set()
    for attribute in node.attribute:
        if attribute.HasField("g"):
            inner = attribute.g
            own = {o for n in inner.node for o in n.output}
            own |= {i.name for i in inner.input} | {t.name for t in inner.initializer}
            used = {i for n in inner.node for i in n.input if i} | {o.name for o in inner.output}
            nested = {m for n in inner.node for m in outer_names(n)}
            found |= (used | nested) - own
    return found
