"""ONNX Runtime and OpenVINO, which both take a model; it is made here from a few nodes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

import numpy as np

from tvmlab.bench.row import Array, Contender, Inputs, Peer, Row

_OPSET = 18
_IR_VERSION = 9


@dataclass(frozen=True, slots=True)
class OnnxNode:
    """A node: inputs are "x0", "x1" ... and results of other nodes; the last one makes "y"."""

    operator: str
    inputs: tuple[str, ...]
    output: str = "y"
    attributes: dict[str, Any] = field(default_factory=dict[str, Any])


def onnx_peers(
    nodes: Callable[[Row], Sequence[OnnxNode]],
    constants: Sequence[int] = (),
    values: Callable[[Row], dict[str, Array]] | None = None,
    output: str = "float32",
) -> tuple[Peer, Peer]:
    """ONNX Runtime and OpenVINO as peers.

    Parameters
    ----------
    nodes
        The model of a row.
    constants
        The inputs that are weights: the libraries may pack them before they are measured.
    values
        Other constants of the model by name, such as axes.
    output
        The type of the result.
    """

    def model(row: Row, inputs: Inputs) -> tuple[bytes, dict[str, Array]]:
        named = {f"x{n}": array for n, array in enumerate(inputs)}
        fixed = {f"x{n}": inputs[n] for n in constants} | (values(row) if values else {})
        fed = {name: array for name, array in named.items() if name not in fixed}
        return _model(nodes(row), fed, fixed, output), fed

    prepared = "weights are constants of the model" if constants else ""

    def onnxruntime(row: Row, inputs: Inputs, threads: int) -> Sequence[Contender]:
        runtime: Any = import_module("onnxruntime")
        return [_onnxruntime(runtime, *model(row, inputs), threads, prepared)]

    def openvino(row: Row, inputs: Inputs, threads: int) -> Sequence[Contender]:
        library: Any = import_module("openvino")
        return [_openvino(library, *model(row, inputs), threads, prepared)]

    return Peer("onnxruntime", onnxruntime), Peer("openvino", openvino)


def model_peers(model: Callable[[Row], bytes]) -> tuple[Peer, Peer]:
    """ONNX Runtime and OpenVINO as peers on a whole model, whose one input is "x"."""
    prepared = "the model is compiled, its weights packed"

    def onnxruntime(row: Row, inputs: Inputs, threads: int) -> Sequence[Contender]:
        runtime: Any = import_module("onnxruntime")
        return [_onnxruntime(runtime, model(row), {"x": inputs[0]}, threads, prepared)]

    def openvino(row: Row, inputs: Inputs, threads: int) -> Sequence[Contender]:
        library: Any = import_module("openvino")
        return [_openvino(library, model(row), {"x": inputs[0]}, threads, prepared)]

    return Peer("onnxruntime", onnxruntime), Peer("openvino", openvino)


def _model(
    nodes: Sequence[OnnxNode], fed: dict[str, Array], fixed: dict[str, Array], output: str
) -> bytes:
    onnx: Any = import_module("onnx")
    helper, number = onnx.helper, onnx.helper.np_dtype_to_tensor_dtype
    made = [
        helper.make_node(node.operator, list(node.inputs), [node.output], **node.attributes)
        for node in nodes
    ]
    inputs = [
        helper.make_tensor_value_info(name, number(array.dtype), array.shape)
        for name, array in fed.items()
    ]
    made_output = helper.make_tensor_value_info("y", number(np.dtype(output)), None)
    weights = [onnx.numpy_helper.from_array(array, name) for name, array in fixed.items()]
    graph = helper.make_graph(made, "row", inputs, [made_output], weights)
    opset = [helper.make_opsetid("", _OPSET)]
    whole = helper.make_model(graph, opset_imports=opset, ir_version=_IR_VERSION)
    return whole.SerializeToString()


def _onnxruntime(
    runtime: Any, model: bytes, fed: dict[str, Array], threads: int, prepared: str
) -> Contender:
    options = runtime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    session = runtime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    latest: list[Any] = [None]

    def run() -> None:
        latest[0] = session.run(None, fed)

    return Contender("ONNX Runtime", run, lambda: latest[0][0], prepared=prepared)


def _openvino(
    library: Any, model: bytes, fed: dict[str, Array], threads: int, prepared: str
) -> Contender:
    core = library.Core()
    settings = {
        "INFERENCE_NUM_THREADS": threads,
        "PERFORMANCE_HINT": "LATENCY",
        # It would otherwise compute in bfloat16 where the machine can.
        "INFERENCE_PRECISION_HINT": "f32",
    }
    request = core.compile_model(core.read_model(model), "CPU", settings).create_infer_request()
    tensors = {name: library.Tensor(array, shared_memory=True) for name, array in fed.items()}
    for name, tensor in tensors.items():
        request.set_tensor(name, tensor)

    def result() -> Array:
        return request.get_output_tensor(0).data

    return Contender("OpenVINO", request.infer, result, prepared=prepared)
