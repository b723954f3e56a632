"""Networks in bytes: close to those in floats, exact in their sums, and samples are checked."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tvmlab.topi as topi
from tvmlab.graph import Graph, GraphBuilder, GraphError, TensorType, build, evaluate, quantize
from tvmlab.runtime import GraphModule, create

RNG = np.random.default_rng(0)


def module(graph: Graph) -> GraphModule:
    made = build(graph)
    result = create(made.graph, made.lib)
    result.bind_params(made.params)
    return result


def noise(*shape: int) -> Any:
    return RNG.standard_normal(shape).astype("f4")


def mlp() -> Graph:
    g = GraphBuilder("mlp")
    value = g.input("x", TensorType.of("float32", (1, 30)))
    for rows, columns in ((30, 64), (64, 24), (24, 10)):
        weight = g.param(noise(rows, columns) / np.float32(rows**0.5))
        value = g.add("add", g.add("matmul", value, weight), g.param(noise(columns) / 4))
        value = g.add("relu", value) if columns != 10 else value
    g.output(value)
    return g.graph()


def residual() -> Graph:
    """Convolutions with a shortcut, one of them with strides, a pool and a dense layer."""
    g = GraphBuilder("residual")
    x = g.input("x", TensorType.of("float32", (1, 3, 16, 16)))

    def conv(value: str, inner: int, out: int, size: int, stride: int = 1) -> str:
        weight = g.param(noise(out, inner, size, size) / np.float32((inner * size * size) ** 0.5))
        pad = size // 2
        return g.add("conv", value, weight, g.param(noise(out) / 8), strides=(stride, stride),
                     pads=(pad,) * 4, dilations=(1, 1))  # fmt: skip

    first = g.add("relu", conv(x, 3, 16, 3))
    second = g.add("relu", conv(first, 16, 16, 3))
    both = g.add("relu", g.add("add", conv(second, 16, 16, 3), first))
    last = g.add("relu", conv(both, 16, 20, 1, stride=2))
    mean = g.add("mean", last, axes=(2, 3), keepdims=False)
    g.output(g.add("matmul", mean, g.param(noise(20, 10))))
    return g.graph()


@pytest.mark.parametrize("make", [mlp, pytest.param(residual, marks=pytest.mark.slow)])
def test_bytes_come_close_to_floats(make: Any) -> None:
    graph = make()
    shape = graph.types["x"].sizes
    small = quantize(graph, {"x": noise(12, *shape)})
    ops = [node.op for node in small.nodes]
    assert (ops.count("packed_dot"), ops.count("conv")) == ((3, 0) if make is mlp else (4, 1))
    floats, whole = module(graph), module(small)
    errors: list[float] = []
    for x in noise(8, *shape):
        floats.run(x=x)
        whole.run(x=x)
        wanted, found = (m.get_output(0) for m in (floats, whole))
        errors.append(float(np.linalg.norm(found - wanted) / np.linalg.norm(wanted)))
        # Compiled code and references differ by rounding at halves alone.
        (reference,) = evaluate(small, {"x": x}).values()
        assert np.abs(found - reference).max() < 0.05 * np.abs(reference).max()
    assert float(np.mean(errors)) < 0.04


@settings(max_examples=8, deadline=None)
@given(
    rows=st.integers(1, 30), depth=st.integers(1, 70), columns=st.integers(1, 70),
    seed=st.integers(0, 99),
)  # fmt: skip
def test_sums_are_exact(rows: int, depth: int, columns: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    weights = rng.integers(-128, 128, (depth, columns)).astype("i1")
    data = rng.integers(0, 256, (rows, depth)).astype("u1")
    filled = np.pad(data, [(0, 0), (0, -depth % 4)])
    g = GraphBuilder("dot")
    x = g.input("x", TensorType.of("uint8", filled.shape))
    g.output(g.add("packed_dot", x, g.param(topi.pack_dot(weights, topi.dot_panel(columns)))))
    made = module(g.graph())
    made.run(x=filled)
    wanted = data.astype("i4") @ weights.astype("i4")
    np.testing.assert_array_equal(made.get_output(0)[:, :columns], wanted)


@pytest.mark.parametrize(
    ("channels", "kernel", "strides", "pads", "dilations"),
    [(8, (3, 3), (1, 1), (1, 1, 1, 1), (1, 1)), (3, (2, 3), (2, 1), (0, 1, 2, 0), (1, 2)),
     (20, (1, 1), (2, 2), (0, 0, 0, 0), (1, 1))],
)  # fmt: skip
def test_patches_of_an_image(
    channels: int, kernel: Any, strides: Any, pads: Any, dilations: Any
) -> None:
    image = RNG.integers(0, 256, (2, 9, 11, channels)).astype("u1")
    g = GraphBuilder("patches")
    x = g.input("x", TensorType.of("uint8", image.shape))
    g.output(g.add("patches", x, kernel=kernel, strides=strides, pads=pads, dilations=dilations,
                   fill=7))  # fmt: skip
    made = module(g.graph())
    made.run(x=image)
    (wanted,) = evaluate(g.graph(), {"x": image}).values()
    np.testing.assert_array_equal(made.get_output(0), wanted)


BAD: list[tuple[dict[str, Any], str]] = [
    ({}, "samples for the input x are missing"),
    ({"y": noise(2, 1, 30)}, "samples are given for 'y', which is no input"),
    ({"x": noise(2, 1, 31)}, r"have the shape \[2, 1, 31\], the input is float32\[1, 30\]"),
    ({"x": noise(30)}, r"have the shape \[30\]"),
    ({"x": noise(0, 1, 30)}, "there are no samples for x"),
    ({"x": np.full((2, 1, 30), np.nan, "f4")}, "infinite or not a number"),
    ({"x": np.ones((2, 1, 30), "i4")}, r"are of int32, the input is float32\[1, 30\]"),
    ({"x": np.full((2, 1, 30), 3e38, "f4")}, "make the value .* infinite or not a number"),
]


@pytest.mark.parametrize(("samples", "told"), BAD)
def test_bad_samples_are_refused(samples: dict[str, Any], told: str) -> None:
    with np.errstate(all="ignore"), pytest.raises(GraphError, match=told):
        quantize(mlp(), samples)


def test_what_cannot_be_quantized_is_told() -> None:
    g = GraphBuilder("plain")
    g.output(g.add("relu", g.input("x", TensorType.of("float32", ("n", 4)))))
    with pytest.raises(GraphError, match="sizes that are not known"):
        quantize(g.graph(), {"x": noise(2, 1, 4)})
    g = GraphBuilder("plain")
    g.output(g.add("relu", g.input("x", TensorType.of("float32", (1, 4)))))
    with pytest.raises(GraphError, match="nothing to quantize"):
        quantize(g.graph(), {"x": noise(2, 1, 4)})
