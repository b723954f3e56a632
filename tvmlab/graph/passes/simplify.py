"""Algebraic simplification: what can be said with fewer or cheaper nodes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tvmlab.graph.builder import GraphBuilder
from tvmlab.graph.ir import Array, Graph, Node
from tvmlab.graph.operators import attributes, slice_bounds

from .clean import remove_dead

Rule = Callable[["Rewriter", Node], "str | None"]
"""From a node, whose inputs are those of the new graph, to the value that stands for its output."""


class Rewriter:
    """The graph being rebuilt, node by node, with the rules at work."""

    def __init__(self, graph: Graph, rules: dict[str, list[Rule]]) -> None:
        self.old = graph
        self.builder = GraphBuilder.of(graph)
        self.makers: dict[str, Node] = {}
        self._rules = rules
        self._names: dict[str, str] = {}

    def run(self) -> Graph:
        """The rebuilt graph; outputs keep their names."""
        changed = False
        for node in self.old.nodes:
            own = node.renamed(self._names)
            value = self._rewritten(own)
            changed |= value is not None
            if value is None:
                self._keep(own)
            elif any(o in self.old.outputs for o in node.made):
                # An output keeps its name; a copy of it costs less than a rule for renaming.
                self._keep(Node("identity", (value,), own.made, {}, own.name))
            else:
                self._names[own.made[0]] = value
        return remove_dead(self.builder.graph()) if changed else self.old

    def _rewritten(self, node: Node) -> str | None:
        if len(node.outputs) != 1:
            return None
        for rule in self._rules.get(node.op, ()):
            value = rule(self, node)
            if value is not None:
                return value
        return None

    def _keep(self, node: Node) -> None:
        self.builder.keep(node)
        self.makers.update(dict.fromkeys(node.made, node))

    def add(self, op: str, *inputs: str, like: Node, **attrs: Any) -> str:
        """A new node in place of an old one."""
        value = self.builder.add(
            op, *inputs, result=f"{like.made[0]}.{op}", node=like.name, **attrs
        )
        self.makers[value] = self.builder.nodes[-1]
        return value

    def constant(self, value: str) -> Array | None:
        """The array of a constant."""
        return self.builder.params.get(value) if value else None


def _no_change(rewriter: Rewriter, node: Node) -> str | None:
    """A node whose result is its input."""
    types = rewriter.builder.types
    return node.inputs[0] if types[node.inputs[0]] == _type(rewriter, node) else None


def _type(rewriter: Rewriter, node: Node) -> object:
    return rewriter.old.types[node.made[0]]


def _identity(rewriter: Rewriter, node: Node) -> str | None:
    """A copy, unless it gives an output its name."""
    return None if node.made[0] in rewriter.old.outputs else node.inputs[0]


def _transpose(rewriter: Rewriter, node: Node) -> str | None:
    perm = attributes(node).ints("perm")
    if perm == tuple(range(len(perm))):
        return node.inputs[0]
    inner = rewriter.makers.get(node.inputs[0])
    if inner is None or inner.op != "transpose":
        return None
    before = attributes(inner).ints("perm")
    both = tuple(before[d] for d in perm)
    if both == tuple(range(len(both))):
        return inner.inputs[0]
    return rewriter.add("transpose", inner.inputs[0], like=node, perm=both)


def _reshape(rewriter: Rewriter, node: Node) -> str | None:
    same = _no_change(rewriter, node)
    inner = rewriter.makers.get(node.inputs[0])
    if same is not None or inner is None or inner.op != "reshape":
        return same
    shape = rewriter.old.types[node.made[0]].shape
    sizes = tuple(s if isinstance(s, int) else -1 for s in shape)
    if sizes.count(-1) > 1:
        return None
    return rewriter.add("reshape", inner.inputs[0], like=node, shape=sizes)


def _slice(rewriter: Rewriter, node: Node) -> str | None:
    """A slice of everything."""
    shape = rewriter.builder.shape(node.inputs[0])
    if not all(isinstance(s, int) for s in shape):
        return None
    bounds = slice_bounds(attributes(node), shape)
    whole = all(b == (0, 1, s) for b, s in zip(bounds, shape, strict=True))
    return node.inputs[0] if whole else None


def _neutral(number: float) -> Rule:
    """`x op number`, which is `x`."""

    def rule(rewriter: Rewriter, node: Node) -> str | None:
        sides = [(node.inputs[0], node.inputs[1])]
        if node.op in ("add", "multiply"):
            sides.append((node.inputs[1], node.inputs[0]))
        for x, other in sides:
            array = rewriter.constant(other)
            same = rewriter.builder.types[x] == _type(rewriter, node)
            if array is not None and same and array.size and np.all(array == number):
                return x
        return None

    return rule


def _square(rewriter: Rewriter, node: Node) -> str | None:
    """A power that a multiplication or a root gives as well."""
    exponent = rewriter.constant(node.inputs[1])
    if exponent is None or exponent.size != 1 or exponent.ndim > 1:
        return None
    x, number = node.inputs[0], float(exponent.reshape(()))
    if rewriter.builder.types[x] != _type(rewriter, node):
        return None
    if number == 1:
        return x
    return rewriter.add("multiply", x, x, like=node) if number == 2 else None


ORDINARY: dict[str, list[Rule]] = {
    "identity": [_identity],
    "cast": [_no_change],
    "expand": [_no_change],
    "tile": [_no_change],
    "reshape": [_reshape],
    "transpose": [_transpose],
    "slice": [_slice],
    "add": [_neutral(0)],
    "subtract": [_neutral(0)],
    "multiply": [_neutral(1)],
    "divide": [_neutral(1)],
    "power": [_square],
}


def simplify(graph: Graph) -> Graph:
    """The graph without nodes that change nothing, and with chains of moves joined."""
    return Rewriter(graph, ORDINARY).run()


def split_to_slices(graph: Graph) -> Graph:
    """The graph with a slice for each part of a split: parts can then join different kernels."""
    if all(node.op != "split" for node in graph.nodes):
        return graph
    nodes: list[Node] = []
    for node in graph.nodes:
        if node.op != "split":
            nodes.append(node)
            continue
        attrs, start = attributes(node), 0
        axis = attrs.int("axis")
        for output, size in zip(node.outputs, attrs.ints("sizes"), strict=False):
            if output:
                cut = {"starts": (start,), "ends": (start + size,), "axes": (axis,), "steps": (1,)}
                nodes.append(Node("slice", node.inputs, (output,), cut, node.name))
            start += size
    return graph.with_nodes(nodes)
