"""A graph computed by the references of its operators: slow, and the oracle for compiled code."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from tvmlab.support import ShapeError, TypeMismatch

from .ir import Array, Graph, Node
from .operators import evaluate_node

Watch = Callable[[Node, list[Array]], None]


def evaluate(
    graph: Graph, inputs: Mapping[str, Array], watch: Watch | None = None
) -> dict[str, Array]:
    """The outputs of a graph for arrays of its inputs.

    Parameters
    ----------
    watch
        Called with each node and what it computed.

    Raises
    ------
    ShapeError, TypeMismatch
        If an array does not fit its input.
    """
    values: dict[str, Array] = dict(graph.params)
    for name in graph.inputs:
        values[name] = _fitting(graph, name, inputs.get(name))
    left = {name: graph.uses(name) for name in graph.types}
    for node in graph.nodes:
        made = evaluate_node(node, [values[i] if i else None for i in node.inputs])
        if watch is not None:
            watch(node, made)
        values.update(zip(node.outputs, made, strict=False))
        for name in dict.fromkeys(node.used):
            left[name] -= 1
            if not left[name]:
                del values[name]
    return {name: values[name] for name in graph.outputs}


def _fitting(graph: Graph, name: str, array: Array | None) -> Array:
    wanted = graph.types[name]
    if array is None:
        raise ShapeError(f"the input {name} of {graph.name} is not given",
                         hint=f"inputs are {', '.join(graph.inputs)}")  # fmt: skip
    if array.dtype != wanted.dtype.numpy:
        raise TypeMismatch(f"the input {name} is of {array.dtype}, not of {wanted.dtype}")
    same = len(wanted.shape) == array.ndim and all(
        not isinstance(want, int) or want == size
        for want, size in zip(wanted.shape, array.shape, strict=True)
    )
    if not same:
        raise ShapeError(f"the input {name} has the shape {list(array.shape)}, not {wanted}")
    return np.asarray(array)
