"""What works on rows: softmax, and normalizations. Bound by memory where the rows are many."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np

import tvmlab.te as te
import tvmlab.topi as topi
from tvmlab.bench.peers import (
    OnnxNode,
    compiled_torch,
    numba_peer,
    numpy_peer,
    onnx_peers,
    torch_peer,
)
from tvmlab.bench.row import Array, Contender, Inputs, Operator, Row, kernel_contender
from tvmlab.target import Target

_EPSILON = 1e-5


def _functional() -> Any:
    return import_module("torch.nn.functional")


# ------------------------------------------------------------------------------------- softmax


def _softmax(row: Row, inputs: Inputs, target: Target) -> Contender:
    x = te.placeholder(row.shapes[0], row.dtype, name="x")
    axis = row.option("axis", -1)
    made = topi.log_softmax(x, axis) if row.option("log") else topi.softmax(x, axis)
    return kernel_contender(topi.schedule(made, target), inputs, target)


def _softmax_reference(row: Row, inputs: Inputs) -> Array:
    x, axis = inputs[0].astype(np.float64), row.option("axis", -1)
    shifted = x - x.max(axis, keepdims=True)
    spread = np.exp(shifted)
    whole = spread.sum(axis, keepdims=True)
    return shifted - np.log(whole) if row.option("log") else spread / whole


def _softmax_torch(torch: Any, row: Row) -> Any:
    function = torch.log_softmax if row.option("log") else torch.softmax
    axis = row.option("axis", -1)

    def compute(x: Any) -> Any:
        return function(x, axis)

    return compute


def _softmax_onnx(row: Row) -> list[OnnxNode]:
    name = "LogSoftmax" if row.option("log") else "Softmax"
    return [OnnxNode(name, ("x0",), attributes={"axis": row.option("axis", -1)})]


# ---------------------------------------------------------------------------------- layer norm


def _layer_norm(row: Row, inputs: Inputs, target: Target) -> Contender:
    x, gamma, beta = (te.placeholder(s, name=n) for s, n in zip(row.shapes, "xgb", strict=True))
    made = topi.layer_norm(x, gamma, beta, epsilon=_EPSILON)
    return kernel_contender(
        topi.schedule(made, target, args=[x, gamma, beta, made]), inputs, target
    )


def _layer_norm_reference(row: Row, inputs: Inputs) -> Array:
    x, gamma, beta = (array.astype(np.float64) for array in inputs)
    centered = x - x.mean(-1, keepdims=True)
    return centered / np.sqrt((centered**2).mean(-1, keepdims=True) + _EPSILON) * gamma + beta


def _layer_norm_torch(torch: Any, row: Row) -> Any:
    functional, size = _functional(), row.shapes[0][-1:]

    def compute(x: Any, gamma: Any, beta: Any) -> Any:
        return functional.layer_norm(x, size, gamma, beta, _EPSILON)

    return compute


def _layer_norm_onnx(row: Row) -> list[OnnxNode]:
    attributes = {"axis": -1, "epsilon": _EPSILON}
    return [OnnxNode("LayerNormalization", ("x0", "x1", "x2"), attributes=attributes)]


def _layer_norm_numba(numba: Any) -> Any:
    def compute(x: Any, gamma: Any, beta: Any, out: Any) -> None:
        for i in numba.prange(x.shape[0]):
            row = x[i]
            middle = row.mean()
            spread = 0.0
            for j in range(row.shape[0]):
                spread += (row[j] - middle) ** 2
            scale = 1.0 / np.sqrt(spread / row.shape[0] + _EPSILON)
            for j in range(row.shape[0]):
                out[i, j] = (row[j] - middle) * scale * gamma[j] + beta[j]

    return compute


def _like(row: Row, inputs: Inputs) -> Array:
    return np.empty_like(inputs[0])


def _numpy_softmax(row: Row, inputs: Inputs) -> Any:
    (x,), axis = inputs, row.option("axis", -1)
    out = np.empty_like(x)

    def compute() -> Array:
        np.subtract(x, x.max(axis, keepdims=True), out=out)
        if row.option("log"):
            return np.subtract(out, np.log(np.exp(out).sum(axis, keepdims=True)), out=out)
        np.exp(out, out=out)
        return np.divide(out, out.sum(axis, keepdims=True), out=out)

    return compute


OPERATORS = {
    "softmax": Operator(
        _softmax,
        _softmax_reference,
        (
            torch_peer(_softmax_torch),
            compiled_torch(_softmax_torch),
            *onnx_peers(_softmax_onnx),
            numpy_peer(_numpy_softmax),
        ),
    ),
    "layer_norm": Operator(
        _layer_norm,
        _layer_norm_reference,
        (
            torch_peer(_layer_norm_torch),
            compiled_torch(_layer_norm_torch),
            *onnx_peers(_layer_norm_onnx, constants=(1, 2)),
            numba_peer(_layer_norm_numba, _like),
        ),
    ),
}

_SOFTMAX = ((16, 64), (64, 1000), (512, 512), (4096, 128), (1024, 4096), (4096, 4096), (8, 100_000),
            (1000, 1001), (3, 100_003))  # fmt: skip
_NORM = ((16, 64), (128, 768), (512, 1024), (4096, 256), (2048, 4096), (37, 4099), (1, 500_000))


def _shape(shape: tuple[int, ...]) -> str:
    return "x".join(map(str, shape))


ROWS = (
    *(Row("softmax", f"softmax-{_shape(s)}", "softmax", (s,)) for s in _SOFTMAX),
    Row("softmax", "softmax-1000x4096-axis0", "softmax", ((1000, 4096),), options=(("axis", 0),)),
    Row("softmax", "log-softmax-512x512", "softmax", ((512, 512),), options=(("log", True),)),
    *(Row("layernorm", f"layernorm-{_shape(s)}", "layer_norm", (s, s[-1:], s[-1:])) for s in _NORM),
)
