"""A loop that goes on as long as what it computes says so.

The body is a graph of its own, kept as text. Its inputs are the states and what else it reads; its
outputs are whether there is another turn, and the next states, each of the type that it has before.
"""

from __future__ import annotations

from functools import lru_cache

from tvmlab.graph.ir import Graph
from tvmlab.graph.text import parse
from tvmlab.graph.types import GraphError, TensorType
from tvmlab.support import BOOL, ShapeError

from .registry import Array, Attr, Attrs, Call, evaluate_node, operator

MOST_REFERENCE_TURNS = 1 << 16
"""Turns after which the reference gives up: compiled code goes on."""


@lru_cache(maxsize=64)
def body_of_loop(text: str) -> Graph:
    """The graph of a body's text."""
    return parse(text)


def _types(call: Call) -> list[TensorType]:
    count, body = call.attrs.int("states"), body_of_loop(call.attrs.text("body"))
    truth = TensorType.of(BOOL, ())
    condition, *given = call.given
    if condition != truth or [body.types[i] for i in body.inputs] != given:
        raise ShapeError("what a loop is given does not fit its body")
    if [body.types[o] for o in body.outputs] != [truth, *given[:count]]:
        raise ShapeError("the states of a loop change their types from turn to turn")
    return given[:count]


def _evaluate(attrs: Attrs, condition: Array, *arrays: Array) -> tuple[Array, ...]:
    count, body = attrs.int("states"), body_of_loop(attrs.text("body"))
    states, rest = arrays[:count], arrays[count:]
    turns = 0
    while condition:
        if turns == MOST_REFERENCE_TURNS:
            raise GraphError(f"a loop has not ended after {turns} turns")
        values: dict[str, Array] = dict(zip(body.inputs, (*states, *rest), strict=True))
        for node in body.nodes:
            made = evaluate_node(node, [values[i] if i else None for i in node.inputs])
            values.update(zip(node.outputs, made, strict=False))
        condition, turns = values[body.outputs[0]], turns + 1
        states = tuple(values[o] for o in body.outputs[1:])
    return states


operator(
    "while_loop",
    _types,
    _evaluate,
    "opaque",
    inputs=(2, None),
    outputs=0,
    body=Attr("text"),
    states=Attr("int"),
)
