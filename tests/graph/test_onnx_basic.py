"""A small network from ONNX to compiled code, against the reference of the onnx package."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import pytest
from onnx import helper, numpy_helper
from onnx.reference import ReferenceEvaluator

import tvmlab as tl
from tvmlab.graph import GraphError
from tvmlab.graph.onnx import from_onnx


def network() -> onnx.ModelProto:
    """Convolution, pooling, a chain that works out a shape, a dense layer and softmax."""
    rng = np.random.default_rng(0)
    arrays: dict[str, Any] = {
        "W": rng.standard_normal((4, 3, 3, 3)).astype("f4"),
        "B": rng.standard_normal(4).astype("f4"),
        "D": rng.standard_normal((10, 64)).astype("f4"),
        "zero": np.array(0),
        "first": np.array([0]),
        "rest": np.array([-1]),
    }
    nodes = [
        helper.make_node("Conv", ["x", "W", "B"], ["c"], pads=[1, 1, 1, 1]),
        helper.make_node("Relu", ["c"], ["r"]),
        helper.make_node("MaxPool", ["r"], ["p"], kernel_shape=[2, 2], strides=[2, 2]),
        helper.make_node("Shape", ["p"], ["s"]),
        helper.make_node("Gather", ["s", "zero"], ["s0"]),
        helper.make_node("Unsqueeze", ["s0", "first"], ["s1"]),
        helper.make_node("Concat", ["s1", "rest"], ["s2"], axis=0),
        helper.make_node("Reshape", ["p", "s2"], ["f"]),
        helper.make_node("Gemm", ["f", "D"], ["g"], transB=1),
        helper.make_node("Softmax", ["g"], ["y"], axis=1),
    ]
    graph = helper.make_graph(
        nodes,
        "net",
        [helper.make_tensor_value_info("x", 1, ["n", 3, 8, 8])],
        [helper.make_tensor_value_info("y", 1, ["n", 10])],
        [numpy_helper.from_array(a, name) for name, a in arrays.items()],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)


def test_shape_chains_leave_no_trace() -> None:
    graph = from_onnx(network())
    assert [n.op for n in graph.nodes] == ["conv", "relu", "max_pool", "reshape", "matmul",
                                           "softmax"]  # fmt: skip
    assert str(graph.types["f"]) == "float32[n, 64]"


def test_equals_the_reference() -> None:
    model = network()
    graph, lib, params = tl.compiler.build(model, "cpu", sizes={"n": 2})
    module = tl.runtime.create(graph, lib, "cpu")
    for name, array in params.items():
        module.set_input(name, array)
    x = np.random.default_rng(1).standard_normal((2, 3, 8, 8)).astype("f4")
    module.run(x=x)
    reference: Any = ReferenceEvaluator(model)
    wanted = reference.run(None, {"x": x})
    np.testing.assert_allclose(module.get_output(0), wanted[0], rtol=1e-5, atol=1e-6)


def test_sizes_must_be_known() -> None:
    with pytest.raises(GraphError, match="the graph net has inputs of unknown size: n") as error:
        tl.compiler.build(from_onnx(network()))
    assert error.value.hint == "give them: build(model, sizes={'n': 1}), or --size n=1"


def choosing(rows: int) -> onnx.ModelProto:
    """Twice x if its sum is positive, else `rows` rows of zeros."""
    shape = onnx.numpy_helper.from_array(np.array([rows, 3]), "shape")
    value = numpy_helper.from_array(np.zeros(1, "f4"), "value")
    inner = [
        helper.make_graph([helper.make_node("Add", ["x", "x"], ["t"])], "yes", [],
                          [helper.make_tensor_value_info("t", 1, [2, 3])]),
        helper.make_graph([helper.make_node("ConstantOfShape", ["shape"], ["e"], value=value)],
                          "no", [], [helper.make_tensor_value_info("e", 1, [rows, 3])], [shape]),
    ]  # fmt: skip
    nodes = [
        helper.make_node("ReduceSum", ["x"], ["sum"], keepdims=0),
        helper.make_node("Greater", ["sum", "zero"], ["c"]),
        helper.make_node("If", ["c"], ["y"], name="choice", then_branch=inner[0],
                         else_branch=inner[1]),
    ]  # fmt: skip
    graph = helper.make_graph(nodes, "g", [helper.make_tensor_value_info("x", 1, [2, 3])],
                              [helper.make_tensor_value_info("y", 1, None)],
                              [numpy_helper.from_array(np.array(0, "f4"), "zero")])  # fmt: skip
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)


def test_a_branch_is_chosen_while_the_model_runs() -> None:
    graph, lib, params = tl.compiler.build(choosing(2), "cpu")
    module = tl.runtime.create(graph, lib)
    for name, array in params.items():
        module.set_input(name, array)
    x = np.arange(6, dtype="f4").reshape(2, 3)
    for sign in (1, -1):
        module.run(x=sign * x)
        want = 2 * x if sign > 0 else np.zeros_like(x)
        np.testing.assert_array_equal(module.get_output(0), want)


def test_branches_of_different_shapes_must_be_chosen_before() -> None:
    with pytest.raises(GraphError, match="which branch is taken is computed when the model runs"):
        from_onnx(choosing(4))
