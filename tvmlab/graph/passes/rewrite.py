"""What passes write the new graph with: nodes are typed as they come, names stay unique."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tvmlab.graph.ir import Array, Attribute, Graph, Node
from tvmlab.graph.operators import infer_types
from tvmlab.graph.types import TensorType, type_of

from .clean import remove_dead


class Rewriter:
    """Collects the nodes of the new graph; values keep their names unless they get others."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.types: dict[str, TensorType] = dict(graph.types)
        self.params: dict[str, Array] = dict(graph.params)
        self.nodes: list[Node] = []
        self._number = 0

    def keep(self, node: Node) -> None:
        """A node as it was."""
        self.nodes.append(node)

    def param(self, array: Any, wish: str) -> str:
        """A new parameter; returns its name."""
        name = self._fresh(wish)
        self.params[name] = np.ascontiguousarray(array)
        self.types[name] = type_of(self.params[name])
        return name

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
        name = result or self._fresh(node or op)
        made = Node(op, tuple(inputs), (name,), {**(attrs or {}), **more}, node or name)
        types = [self.types[i] if i else None for i in inputs]
        self.types[name] = infer_types(made, types)[0]
        self.nodes.append(made)
        return name

    def done(self) -> Graph:
        """The new graph without what nobody needs any more."""
        return remove_dead(self.graph.with_nodes(self.nodes, types=self.types, params=self.params))

    def _fresh(self, wish: str) -> str:
        while True:
            self._number += 1
            name = f"{wish}.{self._number}"
            if name not in self.types:
                return name
