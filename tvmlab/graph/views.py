"""Values that lie within other values: no kernel copies them.

A value may be a part of an earlier one, or all of it in another shape. It may also be a part of a
later one, which puts values side by side: their kernels then write them to where they belong.

Whether a group of nodes only names elements that lie one after another in its input is asked of the
references of its nodes: they are handed the numbers of the elements.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from .groups import Group
from .ir import Array, Graph, Node
from .operators import attributes, axis_of, find

_MOVES = frozenset({"expand", "identity", "reshape", "slice", "transpose"})

_MOST = 1 << 22
"""Elements whose places are looked at: more take longer than copying them now and then."""


@dataclass(frozen=True, slots=True)
class View:
    """A value within another one, from the element `first` on."""

    name: str
    source: str
    first: int


def split_views(
    graph: Graph, groups: Sequence[Group], apart: Collection[str] = ()
) -> tuple[list[Group], list[View]]:
    """The groups that need a kernel, and what the others are views of.

    Parameters
    ----------
    apart
        Values that must have memory of their own.
    """
    outputs = {*graph.outputs, *apart}
    kept: list[Group] = []
    views: dict[str, View] = {}
    for group in groups:
        known = outputs.isdisjoint(group.outputs) and graph.params.keys().isdisjoint(group.inputs)
        first = _first_element(graph, group) if known else None
        if first is None:
            kept.append(group)
        else:
            made = group.outputs[0]
            views[made] = View(made, group.inputs[0], first)
    # Of values that lie in one another, what holds most comes last.
    free = {o for group in kept for o in group.outputs} - outputs
    needed: list[Group] = []
    for group in kept:
        parts = _parts(graph, group, views, free)
        if parts:
            free -= {part.name for part in parts}
            views.update({part.name: part for part in parts})
        else:
            needed.append(group)
    return needed, list(views.values())


def places_of(views: Sequence[View]) -> dict[str, tuple[str, int]]:
    """For each view the value that is a view of nothing in which it lies, and from where on."""
    named = {view.name: view for view in views}
    found: dict[str, tuple[str, int]] = {}
    for name in named:
        holder, first = name, 0
        while holder in named:
            holder, first = named[holder].source, first + named[holder].first
        found[name] = holder, first
    return found


def is_join(graph: Graph, node: Node) -> bool:
    """Whether a node puts different values one after another in memory."""
    if node.op != "concat" or len({*node.inputs}) < len(node.inputs):
        return False
    shape = graph.types[node.outputs[0]].shape
    axis = axis_of(attributes(node).int("axis"), len(shape))
    return all(size == 1 for size in shape[:axis]) and all(i in graph.producers for i in node.used)


def _parts(graph: Graph, group: Group, views: Mapping[str, View], free: set[str]) -> list[View]:
    """What a group's result consists of, if kernels can write all of it in place."""
    made = group.outputs[0]
    if len(group.outputs) != 1:
        return []
    if len(group.nodes) == 1 and is_join(graph, group.nodes[0]):
        values = group.nodes[0].used
    elif made in graph.outputs and _first_element(graph, group) == 0:
        values = group.inputs
    else:
        return []
    parts: list[View] = []
    first = 0
    for value in values:
        whole = value
        # Another shape of a value may stand for it.
        while whole in views and _is_all_of(graph, views[whole]):
            whole = views[whole].source
        parts.append(View(whole, made, first))
        first += graph.types[value].count
    names = {part.name for part in parts}
    fits = first == graph.types[made].count and len(names) == len(parts) and names <= free
    return parts if fits and made not in names else []


def _is_all_of(graph: Graph, view: View) -> bool:
    return view.first == 0 and graph.types[view.name].count == graph.types[view.source].count


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
