"""Loops that the compiled model goes through, because only it finds out when they end."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from tvmlab.graph.text import to_text
from tvmlab.support import BOOL

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
    states = [site.param(np.array(0, np.int64)), *(site[n] for n in range(2, len(site.inputs)))]
    types = [site.around.type_of(state) for state in states]

    def turn(inputs: Sequence[str], taken: Callable[[str], str]) -> list[str]:
        counter, *own = inputs
        made = site.around.branch(site, body, [counter, site.param(np.array(True)), *own])
        following = Value(site, counter) + 1
        alive = Value(site, made[0]).reshape()
        if site.has(0):
            alive = alive & _below(following, Value(site, taken(site[0])))
        return [alive.name, following.name, *made[1:]]

    graph, taken = site.around.apart(types, turn)
    for number, (output, type_) in enumerate(zip(graph.outputs[1:], types, strict=True)):
        if graph.types[output] != type_:
            raise site.error(
                f"state {number - 1} is {type_} before a turn and {graph.types[output]} after it, "
                "but a graph has fixed shapes"
            )
    alive = Value(site, site[1] if site.has(1) else site.param(np.array(True)))
    alive = alive.cast(BOOL).reshape()
    if site.has(0):
        alive = alive & _below(Value(site, states[0]), Value(site, site[0]))
    inputs = [alive.name, *states, *taken]
    made = site.add_several("while_loop", inputs, len(states),
                            {"body": to_text(graph), "states": len(states)})  # fmt: skip
    return made[1:]


def _below(counter: Value, limit: Value) -> Value:
    """Whether a number of turns has not reached a limit."""
    return Value(counter.site, counter.site.add("less", counter.name, limit.reshape().name))
