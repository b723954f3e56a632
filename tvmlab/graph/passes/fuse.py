"""Which nodes become one kernel, by the classes of the paper.

Injective nodes join one another; a reduction takes injective inputs in; what is element-wise joins
the output of a convolution, a matrix product or a reduction; opaque nodes stay alone. A node joins
with all nodes between it and the node where its results come together again, or not at all, so that
groups never wait for one another in a circle.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from tvmlab.graph.groups import Group, make_group
from tvmlab.graph.ir import Graph, Node
from tvmlab.graph.operators import Kind, attributes, find
from tvmlab.graph.views import is_join

MOST_NODES = 48
"""Nodes of one kernel: longer chains gain nothing more, but take longer to compile."""

_MOST_WORK = 256
"""How often, in all, nodes of a group may be computed for one element of its result."""


@dataclass
class _Fusion:
    graph: Graph
    group_of: dict[int, int] = field(default_factory=dict[int, int])
    members: dict[int, list[int]] = field(default_factory=dict[int, list[int]])
    kinds: dict[int, Kind] = field(default_factory=dict[int, Kind])
    refused: dict[int, str] = field(default_factory=dict[int, str])

    def merge(self, numbers: Sequence[int], kind: Kind) -> None:
        groups = sorted({self.group_of[n] for n in numbers})
        into = groups[0]
        for group in groups[1:]:
            for number in self.members.pop(group):
                self.group_of[number] = into
                self.members[into].append(number)
            self.kinds.pop(group)
        self.members[into].sort()
        self.kinds[into] = kind

    def leave(self, number: int, reason: str) -> None:
        """Let a node stay alone, if nothing has joined it yet."""
        if self.members.get(number) == [number]:
            self.kinds[number] = "opaque"
            self.refused[number] = reason

    def kind_of(self, value: str) -> Kind:
        """The kind of the group that makes a value; what is given is there already."""
        number = self.maker.get(value)
        return "opaque" if number is None else self.kinds[self.group_of[number]]

    @cached_property
    def maker(self) -> dict[str, int]:
        """The number of the node that makes each value."""
        return {o: n for n, node in enumerate(self.graph.nodes) for o in node.made}

    @cached_property
    def sources(self) -> list[set[int]]:
        """For each node the numbers of those whose results it reads."""
        return [{self.maker[i] for i in n.used if i in self.maker} for n in self.graph.nodes]


def fuse(graph: Graph, *, enabled: bool = True) -> list[Group]:
    """The groups of a graph, in an order in which they can run.

    Parameters
    ----------
    enabled
        Without fusion each node is a group of its own.
    """
    return fuse_with_reasons(graph, enabled=enabled)[0]


def fuse_with_reasons(graph: Graph, *, enabled: bool = True) -> tuple[list[Group], list[str]]:
    """The groups of a graph, and for each in words why it does not go on."""
    parts, refused = plan(graph, enabled)
    groups = [make_group(graph, [graph.nodes[n] for n in part]) for part in parts]
    if not enabled:
        return groups, ["nodes were not to be joined"] * len(groups)
    return groups, [refused.get(part[-1]) or _end_of(graph, part) for part in parts]


def _end_of(graph: Graph, part: Sequence[int]) -> str:
    """Why nothing follows a group that no rule stopped."""
    made = [o for number in part for o in graph.nodes[number].made]
    if any(o in graph.outputs for o in made):
        return "its result is an output of the model"
    return "its readers have no later node in common"


def plan(graph: Graph, enabled: bool = True) -> tuple[list[list[int]], dict[int, str]]:
    """Numbers of nodes that belong together, and for nodes that end a group, why."""
    state = _Fusion(graph)
    for number, node in enumerate(graph.nodes):
        state.group_of[number] = number
        state.members[number] = [number]
        state.kinds[number] = find(node).kind
    if enabled:
        index = {id(node): n for n, node in enumerate(graph.nodes)}
        after = [_after(graph, node, index) for node in graph.nodes]
        meets = _meeting_points(graph, after)
        _keep_rows(state)
        for wave in ("complex", "reduction", "injective"):
            if wave == "injective":
                _keep_joins(state)
            for number in range(len(graph.nodes)):
                if state.kinds[state.group_of[number]] == wave:
                    _try(state, number, after, meets)
    return _ordered(graph, list(state.members.values())), state.refused


def _keep_rows(state: _Fusion) -> None:
    """Leave slices alone that need no kernel: rows of what is in memory for other readers, too.

    In a kernel, the place of its row would make each step of a recurrence a kernel of its own.
    """
    for number, node in enumerate(state.graph.nodes):
        if node.op == "slice" and state.graph.uses(node.inputs[0]) > 1:
            source, made = (state.graph.types[v].shape for v in (node.inputs[0], node.outputs[0]))
            if source[1:] == made[1:] and attributes(node).ints("steps") == (1,):
                state.leave(number, "it lies within its input, where its readers find it")


def _keep_joins(state: _Fusion) -> None:
    """Leave alone what puts values side by side of which most are in memory anyway.

    Their kernels may as well write them to where they belong.
    """
    graph = state.graph
    for number, node in enumerate(graph.nodes):
        if not is_join(graph, node):
            continue
        parts = [_in_any_shape(graph, i) for i in node.used]
        kept = sum(graph.uses(p) > 1 or state.kind_of(p) != "injective" for p in parts)
        if 2 * kept > len(parts):
            state.leave(number, "its parts are written to where it lies")


def _in_any_shape(graph: Graph, value: str) -> str:
    """The value that another one has in another shape."""
    maker = graph.producers.get(value)
    while maker is not None and maker.op == "reshape":
        value = maker.inputs[0]
        maker = graph.producers.get(value)
    return value


def _after(graph: Graph, node: Node, index: Mapping[int, int]) -> list[int] | None:
    """The nodes that read a node's results; None if a result is an output of the graph."""
    if any(o in graph.outputs for o in node.made):
        return None
    return sorted({index[id(c)] for o in node.made for c in graph.consumers.get(o, ())})


def _meeting_points(graph: Graph, after: Sequence[list[int] | None]) -> list[int | None]:
    """For each node the first later node that all its results must pass through."""
    count = len(graph.nodes)
    meets: list[int | None] = [None] * count
    for number in range(count - 1, -1, -1):
        following = after[number]
        if not following:
            continue
        common: int | None = following[0]
        for other in following[1:]:
            a, b = common, other
            while a is not None and b is not None and a != b:
                if a < b:
                    a = meets[a]
                else:
                    b = meets[b]
            common = a if a == b else None
        meets[number] = common
    return meets


def _between(number: int, end: int, after: Sequence[list[int] | None]) -> list[int]:
    """The nodes on ways from a node to its meeting point, which is included.

    More than a kernel may have are not looked for: that they are too many is all that counts.
    """
    found: set[int] = set()
    stack = list(after[number] or ())
    while stack and len(found) <= MOST_NODES:
        current = stack.pop()
        if current not in found:
            found.add(current)
            if current != end:
                stack += after[current] or ()
    return sorted(found)


def _try(
    state: _Fusion, number: int, after: Sequence[list[int] | None], meets: Sequence[int | None]
) -> None:
    """Let a node's group take in what follows it, as far as the rules allow."""
    while True:
        group = state.group_of[number]
        last = state.members[group][-1]
        end = meets[last]
        if end is None:
            return
        way = _between(last, end, after)
        reason = _why_not(state, group, last, way)
        if reason:
            state.refused[last] = reason
            return
        kinds = {state.kinds[group], *(state.kinds[state.group_of[n]] for n in way)}
        kind: Kind = next(k for k in ("complex", "reduction", "injective") if k in kinds)
        state.merge([*state.members[group], *way], kind)


def _why_not(state: _Fusion, group: int, last: int, way: Sequence[int]) -> str:
    """Why a group cannot take nodes in; "" if it can."""
    graph, kind = state.graph, state.kinds[group]
    others = {state.group_of[n] for n in way} - {group}
    kinds = {state.kinds[g] for g in others}
    if kind == "opaque" or "opaque" in kinds:
        return "an opaque operator stays alone"
    if kind == "complex" and kinds != {"injective"}:
        return "a complex operator takes only element-wise work onto its output"
    if "complex" in kinds:
        return "a complex operator takes no work in from before it"
    if kind == "reduction" and kinds != {"injective"}:
        return "a kernel has one reduction"
    numbers = sorted({m for g in (group, *others) for m in state.members[g]})
    if len(numbers) > MOST_NODES:
        return f"a kernel has at most {MOST_NODES} nodes"
    if kind in ("complex", "reduction"):
        shape = graph.types[graph.nodes[last].made[0]].shape
        for n in way:
            if not _is_pointwise(graph, graph.nodes[n], shape):
                return f"{graph.nodes[n].op} is not element-wise on the result"
    if not _self_contained(state, numbers):
        return "something between is computed elsewhere"
    if _work(graph, numbers) > _MOST_WORK:
        return "too much would be computed more than once"
    return ""


def _is_pointwise(graph: Graph, node: Node, shape: tuple[object, ...]) -> bool:
    """Whether a node works on elements at the same place, without changing the shape."""
    return len(node.made) == 1 and graph.types[node.made[0]].shape == shape and (
        node.op in _POINTWISE
    )  # fmt: skip


def _self_contained(state: _Fusion, numbers: Sequence[int]) -> bool:
    """Whether no way leads out of a set of nodes and back into it."""
    inside, first = set(numbers), numbers[0]
    # Nodes outside, between the first and the last, that depend on a node inside.
    tainted: set[int] = set()
    for number in range(first, numbers[-1] + 1):
        sources = state.sources[number]
        if number in inside:
            if sources & tainted:
                return False
        elif sources & (inside | tainted):
            tainted.add(number)
    return True


def _work(graph: Graph, numbers: Sequence[int]) -> int:
    """Evaluations of nodes for one element, if each is written into its readers."""
    work: dict[str, int] = {}
    total = 0
    for number in numbers:
        node = graph.nodes[number]
        cost = 1 + sum(work.get(i, 0) for i in node.used)
        total = max(total, cost)
        if find(node).kind == "injective":
            work.update(dict.fromkeys(node.made, cost))
    return total


def _ordered(graph: Graph, parts: list[list[int]]) -> list[list[int]]:
    """Groups in an order in which each comes after those whose results it reads."""
    owner = {n: k for k, part in enumerate(parts) for n in part}
    index = {o: n for n, node in enumerate(graph.nodes) for o in node.made}
    needs: list[set[int]] = [set() for _ in parts]
    for n, node in enumerate(graph.nodes):
        needs[owner[n]] |= {owner[index[i]] for i in node.used if i in index} - {owner[n]}
    done: set[int] = set()
    order: list[int] = []
    waiting = sorted(range(len(parts)), key=lambda k: parts[k][-1])
    while waiting:
        ready = next(k for k in waiting if needs[k] <= done)
        waiting.remove(ready)
        done.add(ready)
        order.append(ready)
    return [parts[k] for k in order]


_POINTWISE = frozenset({
    "abs", "acos", "acosh", "add", "asin", "asinh", "atan", "atanh", "bitwise_and", "bitwise_not",
    "bitwise_or", "bitwise_xor", "cast", "ceil", "celu", "clip", "cos", "cosh", "divide", "elu",
    "equal", "erf", "exp", "floor", "gelu", "greater", "greater_equal", "hard_sigmoid",
    "hard_swish", "identity", "is_inf", "is_nan", "leaky_relu", "less", "less_equal", "log",
    "logical_and", "logical_not", "logical_or", "logical_xor", "maximum", "minimum", "mish", "mod",
    "multiply", "negative", "not_equal", "power", "prelu", "reciprocal", "relu", "round", "rsqrt",
    "selu", "shift", "shrink", "sigmoid", "sign", "silu", "sin", "sinh", "softplus", "softsign",
    "sqrt", "subtract", "tan", "tanh", "thresholded_relu", "where",
})  # fmt: skip
