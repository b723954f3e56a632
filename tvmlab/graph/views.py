"""Values that are a part of another value, or all of it in another shape: no kernel copies them.

Whether a group of nodes only names elements that lie one after another in its input is asked of the
references of its nodes: they are handed the numbers of the elements.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from .groups import Group
from .ir import Array, Graph
from .operators import attributes, find

_MOVES = frozenset({"expand", "identity", "reshape", "slice", "transpose"})

_MOST = 1 << 22
"""Elements whose places are looked at: more take longer than copying them now and then."""


@dataclass(frozen=True, slots=True)
class View:
    """A value within another one, from the element `first` on."""

    name: str
    source: str
    first: int


def split_views(graph: Graph, groups: Sequence[Group]) -> tuple[list[Group], list[View]]:
    """The groups that need a kernel, and what the others are views of, in their order."""
    kept: list[Group] = []
    views: list[View] = []
    inside = {o for group in groups for o in group.outputs} - set(graph.outputs)
    for group in groups:
        known = inside.issuperset((*group.inputs, *group.outputs))
        first = _first_element(graph, group) if known else None
        if first is None:
            kept.append(group)
        else:
            views.append(View(group.outputs[0], group.inputs[0], first))
    return kept, views


def _first_element(graph: Graph, group: Group) -> int | None:
    """The element where the group's result begins in its input; None if it does not lie there."""
    if len(group.inputs) != 1 or len(group.outputs) != 1:
        return None
    (source,), (made,) = group.inputs, group.outputs
    count = graph.types[source].count
    if not 0 < count <= _MOST or any(node.op not in _MOVES for node in group.nodes):
        return None
    places: dict[str, Array] = {source: np.arange(count).reshape(graph.types[source].sizes)}
    for node in group.nodes:
        evaluate: Callable[..., object] = find(node).evaluate
        moved: Array = np.asarray(evaluate(attributes(node), *(places[i] for i in node.used)))
        places[node.outputs[0]] = moved
    found = places[made].reshape(-1)
    first = int(found[0]) if found.size else 0
    if not found.size or not np.array_equal(found, np.arange(first, first + found.size)):
        return None
    return first
