"""Graphs: operators on named tensors, in an order in which they can be computed.

A graph is an immutable value; passes take one and return another. Values are names, and `types`
says what each is. Parameters are constants with an array.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from types import MappingProxyType
from typing import Any, TypeAlias, Union

from numpy.typing import NDArray

from .types import GraphError, TensorType

Attribute: TypeAlias = Union[
    int, float, str, bool, tuple[int, ...], tuple[float, ...], tuple[str, ...]
]
Array: TypeAlias = NDArray[Any]


@dataclass(frozen=True)
class Node:
    """An operator applied to values.

    Attributes
    ----------
    op
        The operator's name, a key of `operators.OPERATORS`.
    inputs
        Names of values; "" for an optional input that is left out.
    outputs
        Names of the values that it makes; "" for one that nobody needs.
    name
        What messages call it: the name in the model it came from.
    """

    op: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    attrs: Mapping[str, Attribute] = field(default_factory=dict[str, Attribute])
    name: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "attrs", MappingProxyType(dict(self.attrs)))

    @property
    def used(self) -> tuple[str, ...]:
        """The inputs that are not left out."""
        return tuple(i for i in self.inputs if i)

    @property
    def made(self) -> tuple[str, ...]:
        """The outputs that somebody may need."""
        return tuple(o for o in self.outputs if o)

    def renamed(self, names: Mapping[str, str]) -> Node:
        """The node with other names for its inputs."""
        inputs = tuple(names.get(i, i) for i in self.inputs)
        return self if inputs == self.inputs else replace(self, inputs=inputs)

    def __reduce__(self) -> tuple[Any, ...]:
        return Node, (self.op, self.inputs, self.outputs, dict(self.attrs), self.name)


@dataclass(frozen=True)
class Graph:
    """Inputs, parameters, nodes in order, and outputs."""

    name: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    nodes: tuple[Node, ...]
    types: Mapping[str, TensorType]
    params: Mapping[str, Array] = field(default_factory=dict[str, Array])

    @cached_property
    def producers(self) -> Mapping[str, Node]:
        """The node that makes each value."""
        return {o: node for node in self.nodes for o in node.made}

    @cached_property
    def consumers(self) -> Mapping[str, tuple[Node, ...]]:
        """The nodes that read each value, each once; an output of the graph counts in `uses`."""
        found: dict[str, list[Node]] = {}
        for node in self.nodes:
            for name in dict.fromkeys(node.used):
                found.setdefault(name, []).append(node)
        return {name: tuple(nodes) for name, nodes in found.items()}

    def uses(self, value: str) -> int:
        """How many readers a value has, the caller included if it is an output."""
        return len(self.consumers.get(value, ())) + (value in self.outputs)

    def type(self, value: str) -> TensorType:
        """The type of a value."""
        return self.types[value]

    @property
    def names(self) -> frozenset[str]:
        """Names in shapes that have no value."""
        return frozenset[str]().union(*(self.types[i].names for i in self.inputs))

    def with_nodes(self, nodes: Iterable[Node], **changes: Any) -> Graph:
        """The graph with other nodes, and only those types and parameters that it still has."""
        kept = tuple(nodes)
        made = {o for n in kept for o in n.made}
        used = {i for n in kept for i in n.used}
        inputs: Sequence[str] = changes.pop("inputs", self.inputs)
        outputs: Sequence[str] = changes.pop("outputs", self.outputs)
        types: Mapping[str, TensorType] = changes.pop("types", self.types)
        params: Mapping[str, Array] = changes.pop("params", self.params)
        wanted = made | used | {*inputs} | {*outputs}
        return replace(
            self,
            nodes=kept,
            inputs=tuple(inputs),
            outputs=tuple(outputs),
            types={n: t for n, t in types.items() if n in wanted},
            params={n: a for n, a in params.items() if n in wanted},
            **changes,
        )


def check(graph: Graph) -> Graph:
    """The graph itself, if each value is made once, before it is used.

    Raises
    ------
    GraphError
        It names the node and the value.
    """
    ready = set(graph.inputs) | set(graph.params)
    for node in graph.nodes:
        missing = [i for i in node.used if i not in ready]
        if missing:
            later = any(missing[0] in other.made for other in graph.nodes)
            why = "is made only later: the graph has a circle, or is out of order" if later else (
                "is neither an input, a parameter nor made by a node")  # fmt: skip
            raise GraphError(f"node {node.name} ({node.op}) reads {missing[0]}, which {why}")
        for made in node.made:
            if made in ready:
                raise GraphError(f"node {node.name} ({node.op}) makes {made}, which exists already")
            ready.add(made)
    for output in graph.outputs:
        if output not in ready:
            raise GraphError(f"the output {output} of graph {graph.name} is made by no node")
    return graph
