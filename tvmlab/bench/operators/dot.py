"""Matrix products by dot instructions: int8 with int32 sums, bfloat16 with float32 sums."""

from __future__ import annotations

from typing import Any

import numpy as np

from tvmlab.bench.peers import OnnxNode, onnx_peers, torch_peer
from tvmlab.bench.row import Array, Contender, Inputs, Operator, Row, kernel_contender
from tvmlab.support import DType
from tvmlab.target import Target
from tvmlab.topi import matmul_bf16, matmul_int8, schedule_dot_matmul

from .gemm import matmul_flops, matmul_reference


def _ours_int8(row: Row, inputs: Inputs, target: Target) -> Contender:
    (m, k), (_, n) = row.shapes
    *_, c = matmul_int8(m, n, k, row.option("left"))
    return kernel_contender(schedule_dot_matmul(c, target), inputs, target)


def _ours_bf16(row: Row, inputs: Inputs, target: Target) -> Contender:
    (m, k), (_, n) = row.shapes
    *_, c = matmul_bf16(m, n, k)
    return kernel_contender(schedule_dot_matmul(c, target), inputs, target)


def _moved(row: Row) -> tuple[int, int]:
    (m, k), (_, n) = row.shapes
    return (m * k + k * n) * DType.of(row.dtype).itemsize, m * n * 4


def _bf16_inputs(row: Row) -> list[Array]:
    random = np.random.default_rng(0)
    kind = DType.of("bfloat16").numpy
    return [random.random(shape, dtype=np.float32).astype(kind) for shape in row.shapes]


def _int8_inputs(row: Row) -> list[Array]:
    random = np.random.default_rng(0)
    limits = np.iinfo(row.option("left"))
    first, second = row.shapes
    return [
        random.integers(limits.min, limits.max, first, dtype=row.option("left")),
        random.integers(-127, 127, second, dtype=np.int8),
    ]


def _to_bf16(torch: Any, row: Row, tensors: list[Any]) -> list[Any]:
    return [tensor.to(torch.bfloat16) for tensor in tensors]


def _onnx(row: Row) -> list[OnnxNode]:
    return [OnnxNode("MatMulInteger", ("x0", "x1"))]


# torch multiplies int8 by int8, the runtimes of ONNX models uint8 by int8.
_SIGNED = (torch_peer(lambda torch, row: getattr(torch, "_int_mm")),)  # noqa: B009
_UNSIGNED = onnx_peers(_onnx, constants=(1,), output="int32")

OPERATORS = {
    **{
        name: Operator(
            _ours_int8,
            matmul_reference,
            peers,
            flops=matmul_flops,
            moved=_moved,
            measure="flops",
            inputs=_int8_inputs,
        )
        for name, peers in (("matmul_s8s8", _SIGNED), ("matmul_u8s8", _UNSIGNED))
    },
    "matmul_bf16": Operator(
        _ours_bf16,
        matmul_reference,
        (torch_peer(lambda torch, row: torch.matmul, convert=_to_bf16),),
        flops=matmul_flops,
        moved=_moved,
        measure="flops",
        inputs=_bf16_inputs,
    ),
}

_SIZES = (512, 1024, 2048)
ROWS = (
    *(
        Row("int8", f"{kind}-{n}", f"matmul_{kind}", ((n, n), (n, n)), "int8", (("left", left),))
        for kind, left in (("s8s8", "int8"), ("u8s8", "uint8"))
        for n in _SIZES
    ),
    *(Row("bf16", f"bf16-{n}", "matmul_bf16", ((n, n), (n, n)), "bfloat16") for n in _SIZES),
)
