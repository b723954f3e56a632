"""Attention in graphs: found in what models write, joined, and the same as before."""

from __future__ import annotations

import numpy as np
import pytest

import tvmlab as tl
from tvmlab.graph import Graph, GraphBuilder, GraphError, TensorType, evaluate
from tvmlab.graph.passes import optimize
from tvmlab.graph.passes.join_attention import join_attention
from tvmlab.target import Target

_RANDOM = np.random.default_rng(0)
_HOST = Target.host().with_threads(2)
_ROWS, _HEADS, _WIDTH = 24, 2, 32


def _noise(*shape: int) -> np.ndarray:
    return _RANDOM.standard_normal(shape).astype("f4") / np.float32(shape[0] ** 0.5)


def _head(g: GraphBuilder, x: str, perm: tuple[int, ...] = (0, 2, 1, 3), bias: bool = True) -> str:
    y = g.add("matmul", x, g.param(_noise(64, 64), "w"))
    y = g.add("add", y, g.param(_noise(64), "b")) if bias else y
    y = g.add("reshape", y, shape=(1, _ROWS, _HEADS, _WIDTH))
    return g.add("transpose", y, perm=perm)


def _net(mask: tuple[int, ...] = (), turned_keys: bool = False, scale_first: bool = False) -> Graph:
    g = GraphBuilder("net")
    x = g.input("x", TensorType.of("float32", (1, _ROWS, 64)))
    factor = g.param(np.float32(0.4), "scale")
    q, v = _head(g, x), _head(g, x)
    k = _head(g, x, (0, 2, 3, 1) if turned_keys else (0, 2, 1, 3))
    q = g.add("multiply", q, factor) if scale_first else q
    scores = g.add("matmul", q, k, transpose_b=not turned_keys)
    scores = scores if scale_first else g.add("divide", scores, factor)
    if mask:
        scores = g.add("add", g.input("m", TensorType.of("float32", mask)), scores)
    y = g.add("matmul", g.add("softmax", scores, axis=-1), v)
    g.output(g.add("reshape", g.add("transpose", y, perm=(0, 2, 1, 3)), shape=(1, _ROWS, 64)))
    return g.graph()


def _equal(before: Graph, after: Graph) -> None:
    data = {i: _RANDOM.standard_normal(before.types[i].sizes).astype("f4") for i in before.inputs}
    (name,) = before.outputs
    wanted, found = evaluate(before, data)[name], evaluate(after, data)[name]
    np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(("mask", "turned", "first"), [
    ((), False, False), ((_ROWS, _ROWS), True, False), ((1, 1, 1, _ROWS), False, True),
])  # fmt: skip
def test_products_and_a_softmax_become_attention(
    mask: tuple[int, ...], turned: bool, first: bool
) -> None:
    before = _net(mask, turned, first)
    after = join_attention(before, _HOST)
    ops = [node.op for node in after.nodes]
    assert ops.count("attention") == 1
    assert not {"softmax", "transpose"} & set(ops)
    # Queries, keys and values are one product.
    assert ops.count("matmul") == (1 if not (turned or first) else ops.count("matmul"))
    _equal(before, after)


def test_what_is_compiled_computes_the_same() -> None:
    before = _net((1, _HEADS, _ROWS, _ROWS))
    data = {i: _RANDOM.standard_normal(before.types[i].sizes).astype("f4") for i in before.inputs}
    plan, lib, params = tl.compiler.build(before, _HOST)
    assert sum("attention" in step.kernel for step in plan.steps) == 1
    module = tl.runtime.create(plan, lib)
    module.bind_params(params)
    module.run(**data)
    wanted = evaluate(before, data)[before.outputs[0]]
    np.testing.assert_allclose(module.get_output(0), wanted, rtol=1e-4, atol=1e-5)


def test_scores_that_someone_else_reads_stay() -> None:
    g = GraphBuilder("net")
    q, k, v = (g.input(n, TensorType.of("float32", (2, 32, 32))) for n in "qkv")
    shares = g.add("softmax", g.add("matmul", q, k, transpose_b=True), axis=-1)
    g.output(g.add("matmul", shares, v))
    whole = g.graph()
    assert [n.op for n in join_attention(whole, _HOST).nodes] == ["attention"]
    _equal(whole, join_attention(whole, _HOST))
    g.output(shares)
    assert join_attention(g.graph(), _HOST).nodes == g.graph().nodes


def test_few_rows_are_left_as_they_are() -> None:
    g = GraphBuilder("net")
    q, k, v = (g.input(n, TensorType.of("float32", (2, 1, 32))) for n in "qkv")
    shares = g.add("softmax", g.add("matmul", q, k, transpose_b=True), axis=-1)
    g.output(g.add("matmul", shares, v))
    assert "attention" not in {n.op for n in optimize(g.graph(), _HOST)[0].nodes}


def _attention(shapes: list[tuple[int, ...]], **attrs: object) -> None:
    g = GraphBuilder("net")
    names = [g.input(f"x{n}", TensorType.of("float32", s)) for n, s in enumerate(shapes)]
    g.add("attention", *names, **attrs)  # type: ignore[arg-type]


def test_errors_name_what_does_not_fit() -> None:
    image = (1, 2, 8, 16)
    with pytest.raises(GraphError, match="layouts is 'BHTD'"):
        _attention([image] * 3, layouts="BHTD")
    with pytest.raises(GraphError, match="which is not BTD"):
        _attention([image] * 3, layouts="BTD,BTD,BTD,BTD")
    with pytest.raises(GraphError, match="do not fit"):
        _attention([image, (1, 2, 8, 15), image])
    with pytest.raises(GraphError, match="without 2 heads from"):
        _attention([image] * 3, heads=2, first=(0, 1, 0))
    with pytest.raises(GraphError, match=r"the mask is .* does not stretch"):
        _attention([image, image, image, (3, 1, 8, 8)])
