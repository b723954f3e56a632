"""Building a graph node by node, each typed as it is added.

>>> g = GraphBuilder("double")
>>> x = g.input("x", TensorType.of("float32", ("n", 4)))
>>> g.output(g.add("add", x, x))
>>> print(to_text(g.graph()))                                      # doctest: +SKIP
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from .dims import Dim
from .ir import Array, Attribute, Graph, Node, check
from .operators import infer_types
from .types import GraphError, TensorType, type_of


class GraphBuilder:
    """Collects inputs, parameters and nodes; value names are made unique."""

    def __init__(self, name: str = "graph") -> None:
        self.name = name
        self.types: dict[str, TensorType] = {}
        self.params: dict[str, Array] = {}
        self.nodes: list[Node] = []
        self.inputs: list[str] = []
        self.outputs: list[str] = []
        self._taken: set[str] = set()
        self._counts: dict[str, int] = {}

    @staticmethod
    def of(graph: Graph) -> GraphBuilder:
        """A builder that holds a graph's inputs, types and parameters, but no nodes yet."""
        made = GraphBuilder(graph.name)
        made.inputs, made.outputs = list(graph.inputs), list(graph.outputs)
        made.params = dict(graph.params)
        made.types = {n: graph.types[n] for n in (*graph.inputs, *graph.params)}
        made._taken = set(graph.types)
        return made

    def input(self, name: str, type_: TensorType) -> str:
        """An input of the graph."""
        unique = self._declare(name, type_)
        self.inputs.append(unique)
        return unique

    def param(self, array: Any, name: str = "const") -> str:
        """A constant."""
        data = np.asarray(array, order="C")
        unique = self._declare(name, type_of(data))
        self.params[unique] = data
        return unique

    def add(
        self,
        op: str,
        *inputs: str,
        name: str = "",
        result: str = "",
        node: str = "",
        **attrs: Attribute,
    ) -> str:
        """A node with one output, whose name is returned."""
        return self.add_several(op, inputs, 1, attrs, [result or name or op], node or name)[0]

    def add_several(
        self,
        op: str,
        inputs: Sequence[str],
        count: int,
        attrs: Mapping[str, Attribute],
        names: Sequence[str] = (),
        node: str = "",
    ) -> list[str]:
        """A node with several outputs."""
        types = [self.types[i] if i else None for i in inputs]
        wishes = [names[n] if n < len(names) else f"{op}_{n}" for n in range(count)]
        draft = Node(op, tuple(inputs), tuple("?" * count), attrs, node or (names or [op])[0])
        found = infer_types(draft, types)
        outputs = [self._declare(w, t) for w, t in zip(wishes, found, strict=False)]
        self.nodes.append(Node(op, tuple(inputs), tuple(outputs), attrs, draft.name))
        return outputs

    def keep(self, node: Node) -> None:
        """A node as it stands, with the names of its outputs."""
        types = [self.types[i] if i else None for i in node.inputs]
        for output, type_ in zip(node.outputs, infer_types(node, types), strict=False):
            if output:
                self.types[output] = type_
                self._taken.add(output)
        self.nodes.append(node)

    def output(self, value: str) -> None:
        """Make a value an output of the graph."""
        self.outputs.append(value)

    def shape(self, value: str) -> tuple[Dim, ...]:
        """The shape of a value."""
        return self.types[value].shape

    def rename(self, old: str, new: str) -> None:
        """Give the output of a node another name, everywhere; the name must be free."""
        self.types[new] = self.types.pop(old)
        self._taken.add(new)

        def swap(names: tuple[str, ...]) -> tuple[str, ...]:
            return tuple(new if n == old else n for n in names)

        self.nodes = [
            Node(n.op, swap(n.inputs), swap(n.outputs), n.attrs, n.name) for n in self.nodes
        ]
        self.outputs = [new if o == old else o for o in self.outputs]

    def graph(self) -> Graph:
        """The graph as it is now.

        Raises
        ------
        GraphError
            If it has no outputs.
        """
        if not self.outputs:
            raise GraphError(f"the graph {self.name} has no outputs")
        whole = Graph(self.name, tuple(self.inputs), tuple(self.outputs), tuple(self.nodes),
                      dict(self.types), dict(self.params))  # fmt: skip
        return check(whole)

    def fresh(self, wish: str) -> str:
        """A name that no value has."""
        base = wish or "value"
        name, number = base, self._counts.get(base, 0)
        while name in self._taken or name == "":
            number += 1
            name = f"{base}_{number}"
        self._counts[base] = number
        self._taken.add(name)
        return name

    def _declare(self, wish: str, type_: TensorType) -> str:
        name = self.fresh(wish)
        self.types[name] = type_
        return name


def retype(graph: Graph, inputs: Mapping[str, TensorType]) -> Graph:
    """The graph with other types of its inputs, and what follows from them."""
    builder = GraphBuilder.of(graph)
    for name, type_ in inputs.items():
        builder.types[name] = type_
    for node in graph.nodes:
        builder.keep(node)
    return builder.graph()


def bind(graph: Graph, sizes: Mapping[str, int]) -> Graph:
    """The graph with numbers for names in its shapes.

    Raises
    ------
    GraphError
        If a name is none of the graph's.
    """
    unknown = sizes.keys() - graph.names
    if unknown:
        raise GraphError(
            f"the graph {graph.name} has no size {sorted(unknown)[0]!r}",
            hint=f"its sizes are {', '.join(sorted(graph.names)) or 'all numbers'}",
        )
    return retype(graph, {i: graph.types[i].bind(sizes) for i in graph.inputs}) if sizes else graph
