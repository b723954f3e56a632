"""A graph inside a node that becomes a graph of its own, and what it takes from around it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from tvmlab.graph.builder import GraphBuilder
from tvmlab.graph.ir import Graph
from tvmlab.graph.passes import remove_dead

Inside: TypeAlias = Callable[[Sequence[str], Callable[[str], str]], Sequence[str]]


class Frame:
    """A graph being built inside another one.

    Attributes
    ----------
    floor
        The number of scopes whose names belong to the graph around it.
    states
        Its inputs that are nothing of the graph around it.
    counted
        Those that were taken for places that a loop counts up.
    """

    def __init__(self, outer: GraphBuilder, floor: int) -> None:
        self.outer, self.floor = outer, floor
        self.builder = GraphBuilder("body")
        self.states: list[str] = []
        self.counted: set[str] = set()
        self._inner: dict[str, str] = {}

    def taken(self, value: str) -> str:
        """A value of the graph around, inside: a constant remains one."""
        if value not in self._inner:
            array = self.outer.params.get(value)
            self._inner[value] = (
                self.builder.input(value, self.outer.types[value])
                if array is None
                else self.builder.param(array, value)
            )
        return self._inner[value]

    @property
    def graph(self) -> Graph:
        """The graph as it was built."""
        return remove_dead(self.builder.graph())

    def closed(self) -> tuple[Graph, list[str]]:
        """The graph, whose constants are inputs now, and the outer values behind its states."""
        graph = self.graph
        outside = {inner: value for value, inner in self._inner.items()}
        used = {i for node in graph.nodes for i in node.used} | {*graph.outputs}
        taken = [i for i in graph.inputs if i in outside and i in used]
        values = [outside[i] for i in taken]
        for name, array in graph.params.items():
            taken.append(name)
            values.append(outside.get(name) or self.outer.param(array, name))
        return graph.with_nodes(graph.nodes, inputs=(*self.states, *taken), params={}), values
