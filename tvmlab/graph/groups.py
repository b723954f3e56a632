"""Fused groups: nodes that one kernel computes, as a small graph of its own.

A group is written with canonical names, so that equal groups of a model, or of two models, have
equal texts; the text decides the kernel's name, and is all that is needed to compile it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tvmlab.support import DType

from .ir import Attribute, Graph, Node
from .operators import infer_types
from .text import parse, to_text
from .types import TensorType

_MOST_PRECISE = 1 << 53


@dataclass(frozen=True)
class Group:
    """Nodes of a graph that become one kernel.

    Attributes
    ----------
    inputs, outputs
        The graph's names of what the kernel reads and writes, in the order of its parameters.
    body
        The nodes as a graph with canonical names.
    """

    nodes: tuple[Node, ...]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    body: Graph

    @property
    def text(self) -> str:
        """What the kernel computes."""
        return to_text(self.body)

    @property
    def kernel(self) -> str:
        """The symbol of the kernel: what it does, and a digest of its text."""
        words = "_".join(dict.fromkeys(n.op for n in self.body.nodes if n.op != "full"))[:48]
        return f"{words or 'full'}_{hashlib.sha256(self.text.encode()).hexdigest()[:12]}"

    @property
    def name(self) -> str:
        """What messages call it: the node that decides it, with the number of the others."""
        anchor = max(self.nodes, key=lambda n: _RANK.get(n.op, 0))
        more = len(self.nodes) - 1
        return f"{anchor.name or anchor.op}{f' (+{more})' if more else ''}"


_RANK = {"conv": 3, "conv_transpose": 3, "matmul": 3, "conv_integer": 3, "matmul_integer": 3,
         "softmax": 2, "max_pool": 2, "avg_pool": 2, "mean": 2, "sum": 2}  # fmt: skip


def make_group(graph: Graph, nodes: Sequence[Node]) -> Group:
    """The group of some nodes of a graph, in the graph's order."""
    made = {o for n in nodes for o in n.made}
    inside = {id(n) for n in nodes}
    inputs = [
        i for i in dict.fromkeys(i for n in nodes for i in n.used)
        if i not in made and not _is_scalar(graph, i)
    ]  # fmt: skip
    outputs = [
        o for n in nodes for o in n.made
        if o in graph.outputs or any(id(c) not in inside for c in graph.consumers.get(o, ()))
    ]  # fmt: skip
    return Group(tuple(nodes), tuple(inputs), tuple(outputs), _body(graph, nodes, inputs, outputs))


def _is_scalar(graph: Graph, value: str) -> bool:
    """Whether a value is a single number known now, which becomes a part of the code."""
    array = graph.params.get(value)
    if array is None or array.size != 1 or DType.of(array.dtype).is_bool:
        return False
    number = array.reshape(()).item()
    return not isinstance(number, int) or abs(number) <= _MOST_PRECISE


def _body(
    graph: Graph, nodes: Sequence[Node], inputs: Sequence[str], outputs: Sequence[str]
) -> Graph:
    names = {name: f"p{n}" for n, name in enumerate(inputs)}
    types: dict[str, TensorType] = {names[i]: graph.types[i] for i in inputs}
    written: list[Node] = []

    def put(op: str, given: tuple[str, ...], made: tuple[str, ...], attrs: dict[str, Attribute],
            found: Sequence[TensorType]) -> None:  # fmt: skip
        written.append(Node(op, given, made, attrs, made[0]))
        types.update({o: t for o, t in zip(made, found, strict=False) if o})

    for node in nodes:
        for value in node.used:
            if value not in names:  # a single number
                array = graph.params[value]
                number = array.reshape(()).item()
                names[value] = f"v{len(names)}"
                attrs: dict[str, Attribute] = {
                    "shape": array.shape, "value": float(np.float64(number)),
                    "dtype": DType.of(array.dtype).name,
                }  # fmt: skip
                put("full", (), (names[value],), attrs, [graph.types[value]])
        for output in node.made:
            names[output] = f"v{len(names)}"
        found = infer_types(node, [graph.types[i] if i else None for i in node.inputs])
        put(node.op, tuple(names.get(i, "") for i in node.inputs),
            tuple(names.get(o, "") for o in node.outputs), dict(node.attrs), found)  # fmt: skip
    return Graph("group", tuple(names[i] for i in inputs), tuple(names[o] for o in outputs),
                 tuple(written), types)  # fmt: skip


def body_of(text: str) -> Graph:
    """The graph of a group's text."""
    return parse(text)
