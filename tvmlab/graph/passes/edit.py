"""What passes write the new graph with: nodes are typed as they come, names stay unique."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tvmlab.graph.builder import GraphBuilder
from tvmlab.graph.ir import Attribute, Graph, Node
from tvmlab.graph.operators import infer_types

from .clean import remove_dead


class GraphEdit(GraphBuilder):
    """The new graph; values keep their names and types unless they get others."""

    def __init__(self, graph: Graph) -> None:
        super().__init__(graph.name)
        self._old = graph
        self.types = dict(graph.types)
        self.params = dict(graph.params)
        self._taken = set(graph.types)

    def emit(
        self,
        op: str,
        inputs: Sequence[str],
        result: str = "",
        node: str = "",
        attrs: Mapping[str, Attribute] | None = None,
        **more: Attribute,
    ) -> str:
        """A node with one output: `result`, or a new name after `node`; returns the name."""
        name = result or self.fresh(node or op)
        made = Node(op, tuple(inputs), (name,), {**(attrs or {}), **more}, node or name)
        types = [self.types[i] if i else None for i in inputs]
        self.types[name] = infer_types(made, types)[0]
        self.nodes.append(made)
        return name

    def keep(self, node: Node) -> None:
        """A node as it stands; if nothing before it has another type, neither has what it makes."""
        old = self._old
        same = all(old.producers.get(o) is node for o in node.made) and all(
            self.types[i] is old.types.get(i) for i in node.used
        )
        if not same:
            super().keep(node)
            return
        self.types.update({o: old.types[o] for o in node.made})
        self.nodes.append(node)

    def done(self) -> Graph:
        """The new graph without what nobody needs any more."""
        return remove_dead(self._old.with_nodes(self.nodes, types=self.types, params=self.params))
