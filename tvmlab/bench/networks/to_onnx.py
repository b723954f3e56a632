"""A recipe as an ONNX model, whose weights are constants."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any

import numpy as np

from .recipe import Array, Layer, Recipe

_OPSET, _IR_VERSION = 20, 9


def to_onnx(recipe: Recipe) -> bytes:
    """The model; its input is "x"."""
    onnx: Any = import_module("onnx")
    writer = _Writer(onnx.helper.make_node)
    for layer in recipe.layers:
        weights = [writer.constant(w, f"{layer.name}.w{n}") for n, w in enumerate(layer.weights)]
        _LAYERS[layer.kind](writer, layer, weights)
    number = onnx.TensorProto.INT64 if recipe.dtype == "int64" else onnx.TensorProto.FLOAT
    graph = onnx.helper.make_graph(
        writer.nodes,
        recipe.name,
        [onnx.helper.make_tensor_value_info("x", number, recipe.shape)],
        [onnx.helper.make_tensor_value_info(recipe.result, onnx.TensorProto.FLOAT, None)],
        [onnx.numpy_helper.from_array(a, n) for n, a in writer.constants.items()],
    )
    opset = [onnx.helper.make_opsetid("", _OPSET)]
    model = onnx.helper.make_model(graph, opset_imports=opset, ir_version=_IR_VERSION)
    return onnx.shape_inference.infer_shapes(model).SerializeToString()


class _Writer:
    def __init__(self, make_node: Callable[..., Any]) -> None:
        self._make_node = make_node
        self.nodes: list[Any] = []
        self.constants: dict[str, Array] = {}

    def constant(self, array: Any, name: str) -> str:
        self.constants[name] = np.asarray(array)
        return name

    def node(self, op: str, inputs: Sequence[str], output: str, **attributes: Any) -> str:
        self.nodes.append(self._make_node(op, list(inputs), [output], name=output, **attributes))
        return output


_Make = Callable[[_Writer, Layer, list[str]], object]


def _conv(writer: _Writer, layer: Layer, w: list[str]) -> None:
    stride, pad = layer.options["stride"], layer.options["pad"]
    attributes = {"strides": [stride] * 2, "pads": [pad] * 4,
                  "kernel_shape": list(layer.weights[0].shape[2:])}  # fmt: skip
    if layer.kind == "conv":
        attributes["group"] = layer.options["groups"]
    op = "Conv" if layer.kind == "conv" else "ConvTranspose"
    writer.node(op, [*layer.inputs, *w], layer.name, **attributes)


def _plain(op: str, **attributes: Any) -> _Make:
    return lambda writer, layer, w: writer.node(op, [*layer.inputs, *w], layer.name, **attributes)


def _relu6(writer: _Writer, layer: Layer, w: list[str]) -> None:
    bounds = [writer.constant(np.float32(v), f"{layer.name}.{v}") for v in (0, 6)]
    writer.node("Clip", [*layer.inputs, *bounds], layer.name)


def _max_pool(writer: _Writer, layer: Layer, w: list[str]) -> None:
    kernel, stride, pad = (layer.options[n] for n in ("kernel", "stride", "pad"))
    writer.node("MaxPool", layer.inputs, layer.name, kernel_shape=[kernel] * 2,
                strides=[stride] * 2, pads=[pad] * 4)  # fmt: skip


def _global_mean(writer: _Writer, layer: Layer, w: list[str]) -> None:
    mean = writer.node("GlobalAveragePool", layer.inputs, f"{layer.name}.mean")
    writer.node("Flatten", [mean], layer.name)


def _dense(writer: _Writer, layer: Layer, w: list[str]) -> None:
    weight = writer.constant(np.ascontiguousarray(layer.weights[0].T), f"{layer.name}.transposed")
    del writer.constants[w[0]]
    if len(w) == 1:
        writer.node("MatMul", [*layer.inputs, weight], layer.name)
        return
    product = writer.node("MatMul", [*layer.inputs, weight], f"{layer.name}.product")
    writer.node("Add", [product, w[1]], layer.name)


def _lstm(writer: _Writer, layer: Layer, w: list[str]) -> None:
    """PyTorch orders the gates i, f, g, o; ONNX i, o, f, g."""
    order = [0, 3, 1, 2]

    def sorted_gates(array: Array) -> Array:
        return np.concatenate([np.split(array, 4)[n] for n in order])[None]

    for name in w:
        del writer.constants[name]
    arrays = [sorted_gates(a) for a in layer.weights]
    names = [writer.constant(arrays[n], f"{layer.name}.{v}") for n, v in enumerate("WR")]
    bias = writer.constant(np.concatenate(arrays[2:], axis=1), f"{layer.name}.B")
    made = writer.node("LSTM", [*layer.inputs, *names, bias], f"{layer.name}.all",
                       hidden_size=layer.options["units"])  # fmt: skip
    axes = writer.constant(np.array([1]), f"{layer.name}.axes")
    writer.node("Squeeze", [made, axes], layer.name)


def _attention(writer: _Writer, layer: Layer, w: list[str]) -> None:
    queries, keys, values = layer.inputs
    turned = writer.node("Transpose", [keys], f"{layer.name}.keys", perm=[0, 1, 3, 2])
    scale = writer.constant(np.float32(layer.options["scale"]), f"{layer.name}.scale")
    scores = writer.node("MatMul", [queries, turned], f"{layer.name}.scores")
    scaled = writer.node("Mul", [scores, scale], f"{layer.name}.scaled")
    shares = writer.node("Softmax", [scaled], f"{layer.name}.shares", axis=-1)
    writer.node("MatMul", [shares, values], layer.name)


def _reshape(writer: _Writer, layer: Layer, w: list[str]) -> None:
    shape = writer.constant(np.array(layer.options["shape"]), f"{layer.name}.shape")
    writer.node("Reshape", [*layer.inputs, shape], layer.name)


def _embedding(writer: _Writer, layer: Layer, w: list[str]) -> None:
    writer.node("Gather", [*w, *layer.inputs], layer.name, axis=0)


_LAYERS: dict[str, _Make] = {
    "conv": _conv,
    "conv_transpose": _conv,
    "norm": _plain("BatchNormalization"),
    "relu": _plain("Relu"),
    "relu6": _relu6,
    "tanh": _plain("Tanh"),
    "gelu": _plain("Gelu"),
    "add": _plain("Add"),
    "max_pool": _max_pool,
    "global_mean": _global_mean,
    "flatten": _plain("Flatten"),
    "dense": _dense,
    "embedding": _embedding,
    "lstm": _lstm,
    "attention": _attention,
    "transpose": lambda writer, layer, w: writer.node(
        "Transpose", layer.inputs, layer.name, perm=layer.options["perm"]
    ),
    "reshape": _reshape,
    "layer_norm": _plain("LayerNormalization", epsilon=1e-5),
}
