"""Graphs as text: what is printed is read back, and mistakes are named."""

from __future__ import annotations

import re

import numpy as np
import pytest

from tvmlab.graph import GraphBuilder, GraphError, TensorType, bind, evaluate, parse, to_text
from tvmlab.support import ParseError


def sample() -> GraphBuilder:
    g = GraphBuilder("net")
    x = g.input("data", TensorType.of("float32", ("n", 3, 8, 8)))
    w = g.param(np.ones((4, 3, 3, 3), np.float32), "w/0")
    c = g.add("conv", x, w, strides=(1, 1), pads=(1, 1, 1, 1), dilations=(1, 1), name="conv/1")
    r = g.add("leaky_relu", c, alpha=0.25)
    p = g.add("max_pool", r, kernel=(2, 2), strides=(2, 2), pads=(0,) * 4, dilations=(1, 1))
    g.output(g.add("reshape", p, shape=(-1, 64)))
    return g


def test_round_trip() -> None:
    graph = sample().graph()
    text = to_text(graph)
    again = parse(text, graph.params)
    assert to_text(again) == text
    assert again.types == graph.types
    assert 'graph net(data: float32[n, 3, 8, 8]) -> (reshape):\n    param "w/0"' in text
    assert "leaky_relu: float32[n, 4, 8, 8] = leaky_relu(" in text


def test_sizes_are_bound() -> None:
    graph = bind(sample().graph(), {"n": 2})
    assert str(graph.types["reshape"]) == "float32[2, 64]"
    data = np.ones((2, 3, 8, 8), np.float32)
    assert evaluate(graph, {"data": data})["reshape"].shape == (2, 64)
    with pytest.raises(GraphError, match="the graph net has no size 'm'"):
        bind(sample().graph(), {"m": 2})


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("y: float32[2] = relu x", "line 2: '\\(' was expected, not 'x'"),
        ("y: float32[2] = relu(x", r"line 2: '\)' was expected, not the end"),
        ("y: float32[n n] = relu(x)", "'n n' is no size"),
        ("y: float32[2] = clip(x, low=what)", "a number, a text or a truth value was expected"),
        ("y: float32[2] = relu(x) z", "the end of the line was expected, not 'z'"),
    ],
)
def test_text_that_cannot_be_read(line: str, message: str) -> None:
    with pytest.raises(Exception, match=message):
        parse(f"graph g(x: float32[2]) -> (y):\n    {line}\n")


def test_empty_text() -> None:
    with pytest.raises(ParseError, match="the text of a graph is empty"):
        parse("")


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("y: float32[2] = relu(z)", "node y (relu) reads z, which is neither an input"),
        ("x: float32[2] = relu(x)", "node x (relu) makes x, which exists already"),
        ("a: float32[2] = relu(y)\n    y: float32[2] = relu(a)", "reads y, which is made only lat"),
        ("z: float32[2] = relu(x)", "the output y of graph g is made by no node"),
    ],
)
def test_graphs_that_do_not_hold_together(body: str, message: str) -> None:
    with pytest.raises(GraphError, match=re.escape(message)):
        parse(f"graph g(x: float32[2]) -> (y):\n    {body}\n")
