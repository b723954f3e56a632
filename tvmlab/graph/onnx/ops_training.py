"""Gradients that a model asks for: the chain rule over the nodes that lead to a value."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from tvmlab.graph.dims import Dim
from tvmlab.graph.ir import Node

from .registry import Site, onnx_op

Adjoint = Callable[[Site, Node, str], list[str]]
"""From a node and the gradient of its output to the gradients of its inputs."""


def _product(site: Site, node: Node, up: str) -> list[str]:
    a, b = node.inputs
    return [site.add("multiply", up, b), site.add("multiply", up, a)]


def _relu(site: Site, node: Node, up: str) -> list[str]:
    (x,) = node.inputs
    return [site.add("where", site.add("greater", x, site.scalar(0, x)), up, site.scalar(0, x))]


def _sigmoid(site: Site, node: Node, up: str) -> list[str]:
    y = node.outputs[0]
    rest = site.add("subtract", site.scalar(1, y), y)
    return [site.add("multiply", up, site.add("multiply", y, rest))]


def _tanh(site: Site, node: Node, up: str) -> list[str]:
    y = node.outputs[0]
    return [site.add("multiply", up, site.add("subtract", site.scalar(1, y),
                                              site.add("multiply", y, y)))]  # fmt: skip


ADJOINTS: dict[str, Adjoint] = {
    "add": lambda site, node, up: [up, up],
    "subtract": lambda site, node, up: [up, site.add("negative", up)],
    "multiply": _product,
    "negative": lambda site, node, up: [site.add("negative", up)],
    "exp": lambda site, node, up: [site.add("multiply", up, node.outputs[0])],
    "log": lambda site, node, up: [site.add("divide", up, node.inputs[0])],
    "relu": _relu,
    "sigmoid": _sigmoid,
    "tanh": _tanh,
}


def _fitted(site: Site, gradient: str, shape: Sequence[Dim]) -> str:
    """A gradient summed over the dimensions along which its value was stretched."""
    own = site.shape_of(gradient)
    extra = len(own) - len(shape)
    axes = tuple(d for d in range(len(own)) if d < extra or (shape[d - extra] == 1 != own[d]))
    if not axes:
        return gradient
    return site.reshape(site.add("sum", gradient, axes=axes, keepdims=True), shape)


@onnx_op("Gradient", domain="ai.onnx.preview.training")
def _gradient(site: Site) -> list[str]:
    names = site.attr("xs")
    if site.attrs.get("zs"):
        raise site.error("a gradient with constants `zs` is not supported")
    target = site.around.value_of(site.attr("y"))
    gradients: dict[str, str] = {
        target: site.param(np.ones(site.around.type_of(target).sizes,
                                   site.dtype_of(target).numpy))
    }  # fmt: skip
    for node in reversed(site.around.nodes_so_far()):
        up = gradients.get(node.outputs[0])
        if up is None:
            continue
        if node.op not in ADJOINTS:
            raise site.error(f"the gradient of {node.op} is not supported",
                             hint=f"supported are {', '.join(sorted(ADJOINTS))}")  # fmt: skip
        for value, part in zip(node.inputs, ADJOINTS[node.op](site, node, up), strict=True):
            fitted = _fitted(site, part, site.shape_of(value))
            before = gradients.get(value)
            gradients[value] = fitted if before is None else site.add("add", before, fitted)
    found: list[str] = []
    for name in names:
        value = site.around.value_of(name)
        zero = site.param(np.zeros(site.around.type_of(value).sizes, site.dtype_of(value).numpy))
        found.append(gradients.get(value, zero))
    return found
