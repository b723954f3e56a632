"""What of a graph becomes kernels: its groups, the views between them, and the bodies of loops.

The states of a loop have a place of their own in memory: they are copied there before the first
turn, and the body's last steps copy what it has made of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from tvmlab.target import Target

from .groups import Group, make_group
from .in_place import proposals
from .ir import Array, Graph, Node
from .kernels import KernelRequest
from .operators import attributes, body_of_loop
from .options import BuildOptions
from .passes import PassRecord, fuse_with_reasons, optimize, remove_empty
from .views import View, split_views


@dataclass(frozen=True)
class Outline:
    """The kernels of a graph.

    Attributes
    ----------
    groups, asked, ends
        What kernels compute, the requests for them (None: a loop), and why nothing more joined.
    loops
        The bodies of loops, by the number of the loop's group.
    copies
        Of a body, what is copied at the end of a turn: from where, to where, by which kernel.
    """

    graph: Graph
    groups: tuple[Group, ...]
    asked: tuple[KernelRequest | None, ...]
    ends: tuple[str, ...]
    views: tuple[View, ...]
    loops: Mapping[int, Outline]
    passes: tuple[PassRecord, ...] = ()
    copies: tuple[tuple[str, str, KernelRequest], ...] = ()

    def compiled(self) -> Iterator[tuple[Group, KernelRequest]]:
        """All groups that become kernels, also those of bodies."""
        for number, (group, request) in enumerate(zip(self.groups, self.asked, strict=True)):
            if request is None:
                yield from self.loops[number].compiled()
            else:
                yield group, request

    def requests(self) -> Iterator[KernelRequest]:
        """All kernels."""
        yield from (request for _, request in self.compiled())
        yield from self._copiers()

    def _copiers(self) -> Iterator[KernelRequest]:
        yield from (request for *_, request in self.copies)
        for body in self.loops.values():
            yield from body._copiers()

    def parameters(self) -> dict[str, Array]:
        """The parameters of the graph and of all bodies."""
        found = dict(self.graph.params)
        for body in self.loops.values():
            found.update(body.parameters())
        return found


def outline_of(graph: Graph, options: BuildOptions, machine: Target) -> Outline:
    """The kernels of a graph whose sizes are known."""
    graph = remove_empty(graph)
    records: list[PassRecord] = []
    if options.optimize:
        graph, records = optimize(graph, machine, options.without)
    return _grouped(_with_own_outputs(graph), options, machine, tuple(records))


def _grouped(
    graph: Graph, options: BuildOptions, machine: Target, records: tuple[PassRecord, ...] = ()
) -> Outline:
    graph, states = _with_states(graph)
    fused, ends = fuse_with_reasons(graph, enabled=options.fuse)
    groups, views = split_views(graph, fused, states)
    over = proposals(graph, groups, views, states) if options.in_place else {}
    loops = {
        number: _body(graph, group.nodes[0], options, machine)
        for number, group in enumerate(groups) if group.nodes[0].op == "while_loop"
    }  # fmt: skip
    asked = tuple(
        None if number in loops else _request(group, over.get(number, -1))
        for number, group in enumerate(groups)
    )
    why = {group.outputs: end for group, end in zip(fused, ends, strict=True)}
    return Outline(graph, tuple(groups), asked, tuple(why[g.outputs] for g in groups),
                   tuple(views), loops, records)  # fmt: skip


def _with_own_outputs(graph: Graph) -> Graph:
    """Copies for outputs that are inputs, parameters, of loops, or named twice.

    Each output gets memory of its own.
    """
    nodes, outputs = list(graph.nodes), list[str]()
    types = dict(graph.types)
    for number, output in enumerate(graph.outputs):
        maker = graph.producers.get(output)
        own = maker is not None and maker.op != "while_loop" and output not in outputs
        if own or graph.types[output].count == 0:
            outputs.append(output)
            continue
        name = f"{output}.out{number}"
        types[name] = types[output]
        nodes.append(Node("identity", (output,), (name,), {}, name))
        outputs.append(name)
    return graph.with_nodes(nodes, outputs=outputs, types=types)


def _request(group: Group, over: int) -> KernelRequest:
    """The kernel of a group, of another name if it may write over an input."""
    symbol = group.kernel if over < 0 else f"{group.kernel}_over{over}"
    return KernelRequest(symbol, group.text, over=over)


# ---------------------------------------------------------------------------- loops


def states_of(loop: Group) -> dict[str, str]:
    """For each result that is read of a loop with states, the state that becomes it."""
    (node,) = loop.nodes
    states = zip(node.outputs, node.inputs[1:], strict=False)
    return {made: state for made, state in states if made in loop.outputs}


def _with_states(graph: Graph) -> tuple[Graph, set[str]]:
    """The graph with copies of what loops begin with, and all that lies where these do."""
    if all(node.op != "while_loop" for node in graph.nodes):
        return graph, set()
    nodes: list[Node] = []
    types, states = dict(graph.types), set[str]()
    for node in graph.nodes:
        if node.op != "while_loop":
            nodes.append(node)
            continue
        count = attributes(node).int("states")
        base = node.made[0]
        while any(name.startswith(f"{base}.") for name in types):
            base += "_"
        own = [f"{base}.{n}" for n in range(count + 1)]
        for name, first in zip(own, node.inputs, strict=False):
            types[name] = types[first]
            nodes.append(Node("identity", (first,), (name,), {}, name))
        given = [*node.outputs, *[""] * (count - len(node.outputs))]
        made = [o or f"{name}.end" for o, name in zip(given, own[1:], strict=True)]
        types.update({o: types[s] for o, s in zip(made, own[1:], strict=True)})
        nodes.append(replace(node, inputs=(*own, *node.inputs[len(own) :]), outputs=tuple(made)))
        states.update(own, made)
    return graph.with_nodes(nodes, types=types), states


def _body(graph: Graph, node: Node, options: BuildOptions, machine: Target) -> Outline:
    """The kernels of a loop's body, with the names of the graph for what it takes from there."""
    count = attributes(node).int("states")
    body = body_of_loop(attributes(node).text("body"))
    outer = dict(zip(body.inputs, node.inputs[1:], strict=True))
    # What the graph knows, the body knows too.
    params = {i: graph.params[name] for i, name in outer.items() if name in graph.params}
    inputs = [i for i in body.inputs if i not in params]
    body = remove_empty(body.with_nodes(body.nodes, inputs=inputs, params=params))
    if options.optimize:
        body, _ = optimize(body, machine, options.without)
    # A state that stays as it is needs no copy.
    ends = dict(zip(node.inputs[: count + 1], body.outputs, strict=True))
    ends = {state: end for state, end in ends.items() if outer.get(end) != state}
    body = _with_own_outputs(body.with_nodes(body.nodes, outputs=tuple(ends.values())))
    base = node.inputs[0].rpartition(".")[0]
    names = {n: outer.get(n, f"{base}.body.{n}") for n in body.types}
    found = _grouped(_renamed(body, names), options, machine)
    copies = tuple(
        (end, state, _copy(found.graph, end))
        for state, end in zip(ends, found.graph.outputs, strict=True)
    )
    return replace(found, copies=copies)


def _renamed(graph: Graph, names: Mapping[str, str]) -> Graph:
    """The graph with other names for all values."""

    def of(values: Sequence[str]) -> tuple[str, ...]:
        return tuple(names.get(v, v) for v in values)

    return replace(
        graph,
        inputs=tuple(dict.fromkeys(of(graph.inputs))),
        outputs=of(graph.outputs),
        nodes=tuple(replace(n, inputs=of(n.inputs), outputs=of(n.outputs)) for n in graph.nodes),
        types={names[n]: t for n, t in graph.types.items()},
        params={names[n]: a for n, a in graph.params.items()},
    )


def _copy(graph: Graph, value: str) -> KernelRequest:
    """The kernel that copies a value."""
    made = f"{value}.copied"
    node = Node("identity", (value,), (made,), {}, made)
    alone = replace(graph, nodes=(node,), inputs=(value,), outputs=(made,), params={},
                    types={value: graph.types[value], made: graph.types[value]})  # fmt: skip
    return _request(make_group(alone, [node]), -1)
