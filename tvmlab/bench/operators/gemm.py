"""Matrix products in float32, float64, and of float16 with sums in float32."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

import tvmlab.te as te
from tvmlab.bench.peers import numpy_peer, torch_peer
from tvmlab.bench.row import Array, Contender, Inputs, Operator, Row, kernel_contender
from tvmlab.ir import Expr, Var
from tvmlab.target import Target
from tvmlab.topi import cast, matmul, schedule_matmul

RECTANGLES = (
    (1, 1024, 1024), (1024, 1, 1024), (1, 4096, 1024), (4, 1024, 1024), (8, 512, 512),
    (1024, 8, 1024), (1024, 16, 256), (31, 31, 31), (17, 33, 65), (97, 101, 103), (127, 127, 127),
    (333, 517, 211), (1021, 1019, 1013), (2048, 64, 64), (64, 2048, 64), (64, 64, 4096),
    (32, 1024, 1024), (1024, 1024, 8), (512, 512, 1), (128, 3072, 768), (3000, 100, 50),
    (1000, 10, 1000),
)  # fmt: skip
"""Rows and columns of the output, terms of the sum: vectors, skinny, flat, odd and prime ones."""

SQUARES = (16, 32, 64, 96, 128, 192, 256, 384, 512, 768, 1000, 1024, 1536, 2048, 4096)


def _ours(row: Row, inputs: Inputs, target: Target) -> Contender:
    (m, k), (_, n) = row.shapes
    _, _, c = matmul(m, n, k, row.dtype)
    return kernel_contender(schedule_matmul(c, target), inputs, target)


def _ours_f16(row: Row, inputs: Inputs, target: Target) -> Contender:
    """Sums in float32, rounded once at the end."""
    (m, k), (_, n) = row.shapes
    a, b = te.placeholder((m, k), row.dtype, "A"), te.placeholder((k, n), row.dtype, "B")
    r = te.reduce_axis(k, "k")

    def element(i: Var, j: Var) -> Expr:
        return te.sum(te.cast(a[i, r], "float32") * te.cast(b[r, j], "float32"), axis=r)

    rounded = cast(te.compute((m, n), element, name="C"), row.dtype)
    return kernel_contender(schedule_matmul(rounded, target), inputs, target)


def _numpy(row: Row, inputs: Inputs) -> Callable[[], Array]:
    a, b = inputs
    out = np.empty((a.shape[0], b.shape[1]), a.dtype)
    return lambda: np.matmul(a, b, out=out)


def matmul_reference(row: Row, inputs: Inputs) -> Array:
    """The product in float64."""
    a, b = inputs
    return a.astype(np.float64) @ b.astype(np.float64)


def matmul_flops(row: Row) -> int:
    """Multiplications and additions."""
    (m, k), (_, n) = row.shapes
    return 2 * m * n * k


def matmul_moved(row: Row) -> tuple[int, int]:
    """Both operands once, and the product."""
    (m, k), (_, n) = row.shapes
    size = np.dtype(row.dtype).itemsize
    return (m * k + k * n) * size, m * n * size


OPERATORS = {
    "matmul": Operator(
        _ours,
        matmul_reference,
        (numpy_peer(_numpy), torch_peer(lambda torch, row: torch.matmul)),
        flops=matmul_flops,
        moved=matmul_moved,
        measure="flops",
    ),
    "matmul_f16": Operator(
        _ours_f16,
        matmul_reference,
        (torch_peer(lambda torch, row: torch.matmul),),
        flops=matmul_flops,
        moved=matmul_moved,
        measure="flops",
    ),
}

ROWS = (
    *(Row("gemm", f"sgemm-{n}", "matmul", ((n, n), (n, n))) for n in SQUARES),
    *(Row("gemm", f"sgemm-{m}x{n}x{k}", "matmul", ((m, k), (k, n))) for m, n, k in RECTANGLES),
    *(Row("gemm", f"dgemm-{n}", "matmul", ((n, n), (n, n)), "float64") for n in (512, 1024)),
    *(Row("gemm", f"hgemm-{n}", "matmul_f16", ((n, n), (n, n)), "float16") for n in (256, 512)),
)
