"""Arithmetic on literals, done wherever it stands in a tree: `16 - 1` becomes `15`."""

from __future__ import annotations

from typing import Any

from .expr import Binary, Compare, Const, binary, compare
from .traverse import N, transform


def fold(node: N) -> N:
    """The node with operations on two literals replaced by their results."""
    return transform(node, _folded)


def _folded(node: Any) -> Any:
    if not isinstance(node, (Binary, Compare)):
        return node
    if not isinstance(node.a, Const) or not isinstance(node.b, Const):
        return node
    if isinstance(node, Compare):
        return compare(node.op, node.a, node.b)
    result = binary(node.op, node.a, node.b)
    return result if isinstance(result, Const) else node
