"""Loops that the compiled model goes through, because only it finds out when they end."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from tvmlab.graph.passes import simplify
from tvmlab.graph.text import to_text
from tvmlab.support import BOOL

from .counting import grows
from .frame import Frame
from .registry import Site
from .values import Value


def while_loop(site: Site) -> list[str]:
    """The results of a `Loop` node: its last states.

    Raises
    ------
    GraphError
        If it gathers rows: how many there are is not known. Or if a state changes its shape.
    """
    body = site.graph("body")
    count = len(site.inputs) - 2
    if len(body.output) > 1 + count:
        # Whoever knows the number of turns may hand it in.
        for number in range(2):
            if site.has(number):
                site.constant(number, "how many rows the loop gathers")
        raise site.error(
            "the loop gathers a row in each turn, and goes on for as many turns as it computes",
            hint="export the model with a fixed number of turns",
        )
    given = [site.param(np.array(0, np.int64)), *(site[n] for n in range(2, len(site.inputs)))]
    kept = _unchanged(_turn(site, given, {}), given)
    states = [value for number, value in enumerate(given) if number not in kept]
    turn = _turn(site, states, kept)
    _check(site, turn, states)
    graph, taken = turn.closed()
    alive = Value(site, site[1] if site.has(1) else site.param(np.array(True)))
    alive = alive.cast(BOOL).reshape()
    if site.has(0):
        alive = alive & _below(Value(site, states[0]), Value(site, site[0]))
    inputs = [alive.name, *states, *taken]
    made = site.add_several("while_loop", inputs, len(states),
                            {"body": to_text(graph), "states": len(states)})  # fmt: skip
    results = iter(made)
    return [kept.get(n) or next(results) for n in range(len(given))][1:]


def _turn(site: Site, states: Sequence[str], kept: Mapping[int, str]) -> Frame:
    """One turn as a graph of its own.

    Parameters
    ----------
    kept
        By number among all of them, states that are no states since no turn changes them.
    """
    body = site.graph("body")

    def make(inputs: Sequence[str], taken: Callable[[str], str]) -> list[str]:
        own = iter(inputs)
        count = len(states) + len(kept)
        counter, *rest = [taken(kept[n]) if n in kept else next(own) for n in range(count)]
        made = site.around.branch(site, body, [counter, site.param(np.array(True)), *rest])
        following = Value(site, counter) + 1
        alive = Value(site, made[0]).reshape()
        if site.has(0):
            alive = alive & _below(following, Value(site, taken(site[0])))
        changed = [v for n, v in enumerate([following.name, *made[1:]]) if n not in kept]
        return [alive.name, *changed]

    return site.around.apart([site.around.type_of(s) for s in states], make)


def _unchanged(turn: Frame, states: Sequence[str]) -> dict[int, str]:
    """By number, the states that a turn leaves as they are."""
    graph = simplify(turn.graph)
    found: dict[int, str] = {}
    for number, (inner, state) in enumerate(zip(turn.states, states, strict=True)):
        value = graph.outputs[1 + number]
        same = graph.types[value] == graph.types[inner]
        while value in graph.producers and graph.producers[value].op in ("identity", "reshape"):
            value = graph.producers[value].inputs[0]
        if same and value == inner:
            found[number] = state
    return found


def _check(site: Site, turn: Frame, states: Sequence[str]) -> None:
    """Refuse states that change their types, or are no places though the body takes them for such.

    Raises
    ------
    GraphError
        It names the state.
    """
    graph = turn.graph
    for output, inner, state in zip(graph.outputs[1:], turn.states, states, strict=True):
        before, after = turn.builder.types[inner], turn.builder.types[output]
        if before != after:
            raise site.error(f"the state {state} is {before} before a turn and {after} after it, "
                             "but a graph has fixed shapes")  # fmt: skip
        first = site.around.array_of(state)
        counts = first is not None and bool((first >= 0).all()) and grows(graph, inner, output)
        if inner in turn.counted and not counts:
            raise site.error(f"places are counted from the state {state}, which may be negative")


def _below(counter: Value, limit: Value) -> Value:
    """Whether a number of turns has not reached a limit."""
    return Value(counter.site, counter.site.add("less", counter.name, limit.reshape().name))
