"""Element-wise chains, transposes and reductions: bound by memory."""

from __future__ import annotations

from math import erf, prod
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
from tvmlab.support import DType
from tvmlab.target import Target
from tvmlab.te import Tensor

_SQRT_HALF = 0.7071067811865476


def _scheduled(make: Any) -> Any:
    """Tvmlab's contender for a formula of placeholders."""

    def ours(row: Row, inputs: Inputs, target: Target) -> Contender:
        given = [te.placeholder(s, row.dtype, name=f"x{n}") for n, s in enumerate(row.shapes)]
        made: Tensor = make(row, *given)
        sch = topi.schedule(made, target, args=[*given, made])
        return kernel_contender(sch, inputs, target)

    return ours


# ------------------------------------------------------------------------------------- chains
# Each is written once, with the functions of a library: topi, NumPy or torch.


def _chain(f: Any, x: Any, y: Any) -> Any:
    """relu(2 x + 1) * y"""
    return f.maximum(x * 2.0 + 1.0, 0.0) * y


def _chain_topi(row: Row, x: Tensor, y: Tensor) -> Tensor:
    return topi.multiply(topi.relu(topi.add(topi.multiply(x, 2.0), 1.0)), y)


def _gelu_topi(row: Row, x: Tensor) -> Tensor:
    inner = topi.add(topi.erf(topi.multiply(x, _SQRT_HALF)), 1.0)
    return topi.multiply(topi.multiply(x, 0.5), inner)


def _torch_chain(torch: Any, row: Row) -> Any:
    def compute(x: Any, y: Any) -> Any:
        return torch.relu(x * 2.0 + 1.0) * y

    return compute


def _torch_gelu(torch: Any, row: Row) -> Any:
    return torch.nn.functional.gelu


def _torch_named(torch: Any, row: Row) -> Any:
    return getattr(torch, row.option("function"))


def _named_topi(row: Row, x: Tensor) -> Tensor:
    return getattr(topi, row.option("function"))(x)


def _named_numpy(row: Row, inputs: Inputs) -> Any:
    out, function = np.empty_like(inputs[0]), getattr(np, row.option("function"))
    return lambda: function(inputs[0], out=out)


def _named_onnx(row: Row) -> list[OnnxNode]:
    return [OnnxNode(row.option("function").capitalize(), ("x0",))]


def _named_reference(row: Row, inputs: Inputs) -> Array:
    return getattr(np, row.option("function"))(inputs[0].astype(np.float64))


def _chain_numba(numba: Any) -> Any:
    def compute(x: Any, y: Any, out: Any) -> None:
        for i in numba.prange(x.shape[0]):
            for j in range(x.shape[1]):
                out[i, j] = max(x[i, j] * np.float32(2) + np.float32(1), np.float32(0)) * y[i, j]

    return compute


def _chain_onnx(row: Row) -> list[OnnxNode]:
    return [
        OnnxNode("Mul", ("x0", "two"), "a"),
        OnnxNode("Add", ("a", "one"), "b"),
        OnnxNode("Relu", ("b",), "c"),
        OnnxNode("Mul", ("c", "x1")),
    ]


def _constants(row: Row) -> dict[str, Array]:
    return {"one": np.ones(1, np.float32), "two": np.full(1, 2.0, np.float32)}


def _gelu_reference(row: Row, inputs: Inputs) -> Array:
    x = inputs[0].astype(np.float64)
    return 0.5 * x * (1.0 + np.vectorize(erf)(x * _SQRT_HALF))


def _like(row: Row, inputs: Inputs) -> Array:
    return np.empty_like(inputs[0])


# --------------------------------------------------------------------------------- transposes


def _transpose_topi(row: Row, x: Tensor) -> Tensor:
    return topi.transpose(x, row.option("axes"))


def _transpose_numpy(row: Row, inputs: Inputs) -> Any:
    view = inputs[0].transpose(row.option("axes"))
    out = np.empty(view.shape, view.dtype)

    def compute() -> Array:
        np.copyto(out, view)
        return out

    return compute


def _transpose_torch(torch: Any, row: Row) -> Any:
    axes = row.option("axes")

    def compute(x: Any) -> Any:
        return x.permute(axes).contiguous()

    return compute


def _transpose_onnx(row: Row) -> list[OnnxNode]:
    return [OnnxNode("Transpose", ("x0",), attributes={"perm": list(row.option("axes"))})]


# --------------------------------------------------------------------------------- reductions


def _reduce_topi(row: Row, x: Tensor) -> Tensor:
    return getattr(topi, row.option("function"))(x, row.option("axis"))


def _reduce_numpy(row: Row, inputs: Inputs) -> Any:
    function, axis = getattr(np, row.option("function")), row.option("axis")
    return lambda: np.asarray(function(inputs[0], axis=axis))


def _reduce_torch(torch: Any, row: Row) -> Any:
    name, axis = row.option("function"), row.option("axis")

    def compute(x: Any) -> Any:
        if axis is None:
            return getattr(torch, name)(x)
        return torch.sum(x, axis) if name == "sum" else getattr(torch, f"a{name}")(x, axis)

    return compute


def _reduce_onnx(row: Row) -> list[OnnxNode]:
    name = f"Reduce{row.option('function').capitalize()}"
    inputs = ("x0",) if row.option("axis") is None else ("x0", "axes")
    return [OnnxNode(name, inputs, attributes={"keepdims": 0})]


def _reduce_values(row: Row) -> dict[str, Array]:
    axis = row.option("axis")
    return {} if axis is None else {"axes": np.array([axis], np.int64)}


def _reduce_reference(row: Row, inputs: Inputs) -> Array:
    function: Any = getattr(np, row.option("function"))
    return np.asarray(function(inputs[0].astype(np.float64), axis=row.option("axis")))


def _reduce_moved(row: Row) -> tuple[int, int]:
    shape = row.shapes[0]
    axis: int | None = row.option("axis")
    size = DType.of(row.dtype).itemsize
    whole = prod(shape)
    kept = 1 if axis is None else whole // int(shape[axis])
    return whole * size, kept * size


OPERATORS = {
    "chain": Operator(
        _scheduled(_chain_topi),
        lambda row, inputs: _chain(np, *(a.astype(np.float64) for a in inputs)),
        (
            torch_peer(_torch_chain),
            compiled_torch(_torch_chain),
            *onnx_peers(_chain_onnx, values=_constants),
            numba_peer(_chain_numba, _like),
        ),
    ),
    "gelu": Operator(
        _scheduled(_gelu_topi),
        _gelu_reference,
        (
            torch_peer(_torch_gelu),
            compiled_torch(_torch_gelu),
        ),
    ),
    "function": Operator(
        _scheduled(_named_topi),
        _named_reference,
        (
            torch_peer(_torch_named),
            numpy_peer(_named_numpy),
            *onnx_peers(_named_onnx),
        ),
    ),
    "transpose": Operator(
        _scheduled(_transpose_topi),
        lambda row, inputs: inputs[0].transpose(row.option("axes")).astype(np.float64),
        (
            torch_peer(_transpose_torch),
            compiled_torch(_transpose_torch),
            numpy_peer(_transpose_numpy),
            *onnx_peers(_transpose_onnx),
        ),
    ),
    "reduce": Operator(
        _scheduled(_reduce_topi),
        _reduce_reference,
        (
            torch_peer(_reduce_torch),
            compiled_torch(_reduce_torch),
            numpy_peer(_reduce_numpy),
            *onnx_peers(_reduce_onnx, values=_reduce_values),
        ),
        moved=_reduce_moved,
    ),
}

_FUNCTIONS = ("exp", "log", "tanh", "sin", "sqrt")


def _transposed(name: str, shape: tuple[int, ...], axes: tuple[int, ...]) -> Row:
    return Row("transpose", name, "transpose", (shape,), options=(("axes", axes),))


def _reduced(name: str, shape: tuple[int, ...], function: str, axis: int | None) -> Row:
    options = (("function", function), ("axis", axis))
    return Row("reduction", name, "reduce", (shape,), options=options)


ROWS = (
    *(
        Row("elementwise", f"chain-{n}x{n}", "chain", ((n, n), (n, n)))
        for n in (32, 256, 1024, 4096)
    ),
    Row("elementwise", "chain-1000x1001", "chain", ((1000, 1001), (1000, 1001))),
    Row("elementwise", "gelu-1024x1024", "gelu", ((1024, 1024),)),
    Row("elementwise", "gelu-1000x1001", "gelu", ((1000, 1001),)),
    *(
        Row(
            "elementwise", f"{f}-1024x1024", "function", ((1024, 1024),), options=(("function", f),)
        )
        for f in _FUNCTIONS
    ),
    *(_transposed(f"transpose-{n}", (n, n), (1, 0)) for n in (64, 512, 1000, 1024, 4096)),
    _transposed("transpose-1000x1001", (1000, 1001), (1, 0)),
    _transposed("nchw-to-nhwc", (8, 64, 56, 56), (0, 2, 3, 1)),
    _transposed("nhwc-to-nchw", (8, 56, 56, 64), (0, 3, 1, 2)),
    _transposed("heads-0213", (8, 512, 16, 64), (0, 2, 1, 3)),
    _reduced("sum-16M", (4096, 4096), "sum", None),
    _reduced("max-1M", (1024, 1024), "max", None),
    _reduced("sum-rows-4096", (4096, 4096), "sum", 1),
    _reduced("sum-columns-4096", (4096, 4096), "sum", 0),
    _reduced("sum-rows-64", (16384, 64), "sum", 1),
    _reduced("sum-columns-64", (262144, 64), "sum", 0),
    _reduced("max-middle", (64, 256, 256), "max", 1),
    _reduced("sum-1000", (1000,), "sum", None),
)
