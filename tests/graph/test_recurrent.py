"""Recurrent layers of ONNX against ONNX Runtime, and how few kernels they need."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from onnx import helper, numpy_helper

import tvmlab as tl
from tvmlab.graph import evaluate
from tvmlab.graph.onnx import from_onnx

RNG = np.random.default_rng(3)
STEPS, BATCH, WIDTH, HIDDEN = 5, 1, 6, 8


@pytest.fixture(autouse=True)
def _no_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Kernels so small are compiled before another process has started."""
    monkeypatch.setattr("tvmlab.graph.kernels.WORTH_PROCESSES", 99)


def layer(op: str, weights: dict[str, Any], steps: int = STEPS, **attrs: Any) -> Any:
    """A model of one layer, whose lengths come in when it runs."""
    names = ["x", *weights]
    inputs = [*names[:4], "lengths", *(["", "", "", *names[4:]] if names[4:] else [])]
    node = helper.make_node(op, inputs, ["y"], hidden_size=HIDDEN, **attrs)
    graph = helper.make_graph(
        [node], "net",
        [helper.make_tensor_value_info("x", 1, [steps, BATCH, WIDTH]),
         helper.make_tensor_value_info("lengths", 6, [BATCH])],
        [helper.make_tensor_value_info("y", 1, None)],
        [numpy_helper.from_array(a, n) for n, a in weights.items()],
    )  # fmt: skip
    domains = [helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)]
    return helper.make_model(graph, opset_imports=domains, ir_version=8)


def noise(*shape: int) -> Any:
    return RNG.standard_normal(shape).astype("f4")


def peer_result(proto: Any, feed: dict[str, Any]) -> Any:
    runtime: Any = pytest.importorskip("onnxruntime")
    session = runtime.InferenceSession(proto.SerializeToString(),
                                       providers=["CPUExecutionProvider"])  # fmt: skip
    return session.run(None, feed)[0]


@pytest.mark.parametrize("linear", [0, 1])
def test_lengths_of_a_layer_in_two_directions(linear: int) -> None:
    weights = {"w": noise(2, 3 * HIDDEN, WIDTH), "r": noise(2, 3 * HIDDEN, HIDDEN),
               "b": noise(2, 6 * HIDDEN)}  # fmt: skip
    proto = layer("GRU", weights, direction="bidirectional", linear_before_reset=linear)
    feed = {"x": noise(STEPS, BATCH, WIDTH), "lengths": np.array([3], "i4")}
    graph = from_onnx(proto)
    made = evaluate(graph, feed)[graph.outputs[0]]
    np.testing.assert_allclose(made, peer_result(proto, feed), rtol=1e-4, atol=1e-5)


def test_longer_layers_need_no_more_kernels() -> None:
    weights = {"w": noise(1, 3 * HIDDEN, WIDTH), "r": noise(1, 3 * HIDDEN, HIDDEN),
               "b": noise(1, 6 * HIDDEN)}  # fmt: skip
    plans = [tl.compiler.build(layer("GRU", weights, steps)).graph for steps in (6, 12)]
    assert len(plans[1].steps) > len(plans[0].steps)
    assert len(plans[1].kernels) == len(plans[0].kernels)


@pytest.mark.parametrize("kind", ["u1", "i1"])
@pytest.mark.parametrize("columns", [False, True])
def test_weights_in_bytes(kind: str, columns: bool) -> None:
    """Rows become bytes as they come; scales are of a whole matrix or of each column."""
    low = np.iinfo(kind).min
    figures = (2, 4 * HIDDEN) if columns else (2,)
    weights: dict[str, Any] = {
        "w": RNG.integers(low, low + 256, (2, WIDTH, 4 * HIDDEN)).astype(kind),
        "r": RNG.integers(low, low + 256, (2, HIDDEN, 4 * HIDDEN)).astype(kind),
        "b": noise(2, 8 * HIDDEN),
        "ws": RNG.uniform(0.002, 0.01, figures).astype("f4"),
        "wz": np.full(figures, low + 128, kind),
        "rs": RNG.uniform(0.002, 0.01, figures).astype("f4"),
        "rz": np.full(figures, low + 128, kind),
    }
    proto = layer("DynamicQuantizeLSTM", weights, direction="bidirectional")
    proto.graph.node[0].domain = "com.microsoft"
    feed = {"x": noise(STEPS, BATCH, WIDTH), "lengths": np.array([STEPS], "i4")}
    built = tl.compiler.build(proto)
    module = tl.runtime.create(built.graph, built.lib)
    module.bind_params(built.params)
    module.run(**feed)
    # A value that lies between two bytes may become either.
    np.testing.assert_allclose(module.get_output(0), peer_result(proto, feed), atol=2e-2)
