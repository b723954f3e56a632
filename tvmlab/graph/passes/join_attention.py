"""Attention written as products and a softmax, as the one operator that never stores the scores.

The transposes around it are taken in: its operands and its result may have any order of dimensions.
Where queries, keys and values are products of one value by known matrices, one product makes them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tvmlab.graph.ir import Graph, Node
from tvmlab.graph.operators import attributes
from tvmlab.support import FLOAT32
from tvmlab.target import Target
from tvmlab.topi import attention_fits

from .edit import GraphEdit
from .turn_factors import is_used_once


@dataclass(frozen=True, slots=True)
class _Operand:
    """A value with the order of its dimensions, and the number that it is multiplied by."""

    value: str
    layout: str
    scale: float = 1.0


@dataclass(frozen=True, slots=True)
class _Scores:
    """The product below a softmax, and what happens to it."""

    product: Node
    scale: float
    mask: str = ""


@dataclass(frozen=True, slots=True)
class _Found:
    """An attention: its operands (queries, keys, values), and the node that makes its result."""

    operands: tuple[_Operand, _Operand, _Operand]
    scale: float
    mask: str
    layout: str
    result: Node


def join_attention(graph: Graph, target: Target) -> Graph:
    """The graph with `attention` where it is worth it on a machine."""
    found = {id(n): f for n in graph.nodes if (f := _find(graph, n, target)) is not None}
    if not found:
        return graph
    made = GraphEdit(graph)
    later = {id(f.result) for f in found.values()} - found.keys()
    for node in graph.nodes:
        if id(node) in found:
            _write(made, graph, found[id(node)])
        elif id(node) not in later:
            made.keep(node)
    return made.done()


def _find(graph: Graph, node: Node, target: Target) -> _Found | None:
    """The attention whose last product a node is."""
    if node.op != "matmul" or attributes(node).flag("transpose_b"):
        return None
    shares = graph.producers.get(node.inputs[0])
    if shares is None or shares.op != "softmax" or not is_used_once(graph, shares):
        return None
    type_ = graph.types[shares.outputs[0]]
    if attributes(shares).int("axis") not in (-1, type_.rank - 1) or type_.names:
        return None
    scores = _scores(graph, shares.inputs[0])
    if scores is None or type_.dtype != FLOAT32 or type_.rank not in (3, 4):
        return None
    plain = "BHTD"[-type_.rank :] if type_.rank == 4 else "BTD"
    turned = plain if attributes(scores.product).flag("transpose_b") else f"{plain[:-2]}DT"
    queries = _operand(graph, scores.product.inputs[0], plain)
    keys = _operand(graph, scores.product.inputs[1], turned)
    values = _operand(graph, node.inputs[1], plain, may_scale=False)
    types = [graph.types[i] for i in (*scores.product.inputs, node.inputs[1])]
    if any(t.rank != type_.rank or t.sizes[:-2] != type_.sizes[:-2] for t in types):
        return None
    depth, width = types[0].sizes[-1], types[2].sizes[-1]
    if not attention_fits(type_.sizes[-2:], (depth, width), target):
        return None
    layout, result = _result(graph, node, plain)
    scale = scores.scale * queries.scale * keys.scale
    return _Found((queries, keys, values), scale, scores.mask, layout, result)


def _scores(graph: Graph, value: str) -> _Scores | None:
    """The product that a softmax is taken of, if only a number and a mask come between."""
    node, mask = graph.producers.get(value), ""
    if node is not None and node.op == "add" and is_used_once(graph, node):
        for number in (0, 1):
            inner = _scores(graph, node.inputs[number])
            same = graph.types[node.inputs[number]].shape == graph.types[value].shape
            if inner is not None and same and not inner.mask:
                mask = node.inputs[1 - number]
                return _Scores(inner.product, inner.scale, mask)
        return None
    if node is None or not is_used_once(graph, node):
        return None
    if node.op == "matmul":
        return _Scores(node, 1.0)
    source, scale = _scaled(graph, node)
    inner = _scores(graph, source) if source else None
    if inner is None or inner.mask:
        return None
    return _Scores(inner.product, inner.scale * scale)


def _scaled(graph: Graph, node: Node) -> tuple[str, float]:
    """What a node multiplies by a known number, and that number; "" if it does not."""
    if node.op not in ("multiply", "divide"):
        return "", 1.0
    sides = [(0, 1), (1, 0)] if node.op == "multiply" else [(0, 1)]
    for one, other in sides:
        array = graph.params.get(node.inputs[other])
        same = graph.types[node.inputs[one]] == graph.types[node.outputs[0]]
        if array is not None and array.size == 1 and same:
            number = float(array.reshape(()))
            if number:
                return node.inputs[one], number if node.op == "multiply" else 1 / number
    return "", 1.0


def _operand(graph: Graph, value: str, layout: str, may_scale: bool = True) -> _Operand:
    """An operand before it is transposed and scaled."""
    scale = 1.0
    while (node := graph.producers.get(value)) is not None:
        source, number = _scaled(graph, node) if may_scale else ("", 1.0)
        if node.op == "transpose":
            perm = attributes(node).ints("perm")
            letters = dict(zip(perm, layout, strict=True))
            value, layout = node.inputs[0], "".join(letters[d] for d in range(len(layout)))
        elif source:
            value, scale = source, scale * number
        else:
            break
    return _Operand(value, layout, scale)


def _result(graph: Graph, product: Node, plain: str) -> tuple[str, Node]:
    """The order of the result, and the node that makes it: the product or a transpose of it."""
    (output,) = product.outputs
    readers = graph.consumers.get(output, ())
    if is_used_once(graph, product) and readers and readers[0].op == "transpose":
        perm = attributes(readers[0]).ints("perm")
        return "".join(plain[d] for d in perm), readers[0]
    return plain, product


def _write(made: GraphEdit, graph: Graph, found: _Found) -> None:
    heads, first, values = 0, (0, 0, 0), [o.value for o in found.operands]
    layouts = [o.layout for o in found.operands]
    joined = _joined(made, graph, found.operands)
    if joined:
        heads = graph.types[values[0]].sizes[2]
        first, values = (0, heads, 2 * heads), [joined] * 3
    inputs = [*values, found.mask] if found.mask else values
    made.emit("attention", inputs, found.result.outputs[0], found.result.name,
              scale=found.scale, layouts=",".join([*layouts, found.layout]), heads=heads,
              first=first)  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Dense:
    """A reshaped product by a known matrix, to which a known vector may be added."""

    source: str
    weight: str
    bias: str
    transposed: bool


def _joined(made: GraphEdit, graph: Graph, operands: Sequence[_Operand]) -> str:
    """Queries, keys and values side by side as one product; "" if they are none."""
    parts = [_dense(graph, o.value) for o in operands]
    if any(p is None for p in parts) or {o.layout for o in operands} != {"BTHD"}:
        return ""
    dense = [p for p in parts if p is not None]
    alike = {(d.source, d.transposed, bool(d.bias)) for d in dense}
    shapes = {graph.types[o.value].sizes for o in operands}
    if len(alike) > 1 or len(shapes) > 1 or len({o.value for o in operands}) < 3:
        return ""
    ((source, transposed, biased),), ((batch, rows, heads, width),) = alike, shapes
    axis = 0 if transposed else 1
    weight = np.concatenate([graph.params[d.weight] for d in dense], axis)
    name = operands[0].value
    product = made.emit("matmul", (source, made.param(weight, f"{dense[0].weight}.joined")),
                        node=f"{name}.joined", transpose_b=transposed)  # fmt: skip
    if biased:
        bias = np.concatenate([graph.params[d.bias].reshape(-1) for d in dense])
        product = made.emit("add", (product, made.param(bias, f"{dense[0].bias}.joined")),
                            node=f"{name}.joined")  # fmt: skip
    return made.emit("reshape", (product,), node=f"{name}.joined",
                     shape=(batch, rows, 3 * heads, width))  # fmt: skip


def _dense(graph: Graph, value: str) -> _Dense | None:
    """How a value is made, if by a product that nobody else needs."""
    node = graph.producers.get(value)
    if node is None or node.op != "reshape":
        return None
    rows, shape = graph.types[node.inputs[0]].sizes, graph.types[value].sizes
    if rows[-1] != shape[-1] * shape[-2] or not is_used_once(graph, node):
        return None
    node, bias = graph.producers.get(node.inputs[0]), ""
    if node is not None and node.op == "add" and is_used_once(graph, node):
        known = [i for i in node.inputs if i in graph.params]
        if len(known) != 1 or graph.types[known[0]].sizes != rows[-1:]:
            return None
        (bias,) = known
        (other,) = (i for i in node.inputs if i != bias)
        node = graph.producers.get(other)
    if node is None or node.op != "matmul" or not is_used_once(graph, node):
        return None
    source, weight = node.inputs
    if weight not in graph.params or graph.types[weight].rank != 2 or source in graph.params:
        return None
    return _Dense(source, weight, bias, attributes(node).flag("transpose_b"))
