"""Tensor programs of many kinds with random sizes, each with what NumPy says it computes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tvmlab import te
from tvmlab.te import Tensor

Array = NDArray[Any]
Reference = (
    Callable[[Array], Sequence[Array]]
    | Callable[[Array, Array], Sequence[Array]]
    | Callable[[Array, Array, Array], Sequence[Array]]
)


@dataclass(frozen=True)
class Workload:
    """Inputs, outputs, and the same computation in NumPy."""

    name: str
    inputs: Sequence[Tensor]
    outputs: Sequence[Tensor]
    reference: Reference

    def arrays(self, seed: int) -> list[Array]:
        """Random inputs of the right shapes and types; small integers, so that sums are exact."""
        rng = np.random.default_rng(seed)
        made: list[Array] = []
        for tensor in self.inputs:
            shape = tensor.const_shape
            assert shape is not None
            made.append(rng.integers(-4, 5, shape).astype(tensor.dtype.numpy))
        return made


Make = Callable[[np.random.Generator], Workload]


def _size(rng: np.random.Generator, limit: int = 9) -> int:
    return int(rng.integers(1, limit + 1))


def _dtype(rng: np.random.Generator) -> str:
    return str(rng.choice(["float32", "float64", "int32", "int16"]))


def matmul(rng: np.random.Generator) -> Workload:
    m, n, k = (_size(rng, 12) for _ in range(3))
    dtype = _dtype(rng)
    a = te.placeholder((m, k), dtype, name="A")
    b = te.placeholder((k, n), dtype, name="B")
    r = te.reduce_axis(k, "k")
    c = te.compute((m, n), lambda i, j: te.sum(a[i, r] * b[r, j], axis=r), name="C")
    return Workload("matmul", [a, b], [c], lambda x, y: [x @ y])


def matmul_bias_relu(rng: np.random.Generator) -> Workload:
    m, n, k = (_size(rng) for _ in range(3))
    a = te.placeholder((m, k), name="A")
    b = te.placeholder((n, k), name="B")
    bias = te.placeholder((n,), name="bias")
    r = te.reduce_axis(k, "k")
    c = te.compute((m, n), lambda i, j: te.sum(a[i, r] * b[j, r], axis=r), name="C")
    d = te.compute((m, n), lambda i, j: c[i, j] + bias[j], name="D")
    e = te.compute((m, n), lambda i, j: te.maximum(d[i, j], 0.0), name="E")
    return Workload(
        "matmul_bias_relu", [a, b, bias], [e], lambda x, y, z: [np.maximum(x @ y.T + z, 0)]
    )


def elementwise_chain(rng: np.random.Generator) -> Workload:
    n, m = _size(rng, 20), _size(rng, 6)
    a = te.placeholder((n, m), name="A")
    b = te.compute((n, m), lambda i, j: a[i, j] * 2.0, name="B")
    c = te.compute((n, m), lambda i, j: b[i, j] + 1.0, name="C")
    d = te.compute((m, n), lambda i, j: c[j, i] * b[j, i], name="D")
    return Workload("chain", [a], [d], lambda x: [((x * 2 + 1) * (x * 2)).T])


def stencil(rng: np.random.Generator) -> Workload:
    n = _size(rng, 30)
    a = te.placeholder((n + 4,), name="A")
    b = te.compute((n + 2,), lambda i: a[i] + a[i + 1] + a[i + 2], name="B")
    c = te.compute((n,), lambda i: b[i] * 2.0 - b[i + 2], name="C")

    def reference(x: Array) -> list[Array]:
        y = x[:-2] + x[1:-1] + x[2:]
        return [y[:-2] * 2 - y[2:]]

    return Workload("stencil", [a], [c], reference)


def padded_conv(rng: np.random.Generator) -> Workload:
    h, w, ci, co = _size(rng, 6), _size(rng, 6), _size(rng, 3), _size(rng, 4)
    stride = int(rng.integers(1, 3))
    a = te.placeholder((ci, h, w), name="A")
    weight = te.placeholder((co, ci, 3, 3), name="W")
    p = te.compute(
        (ci, h + 2, w + 2),
        lambda c, y, x: te.if_then_else(
            te.all(y >= 1, y < h + 1, x >= 1, x < w + 1), a[c, y - 1, x - 1], 0.0
        ),
        name="P",
    )
    oh, ow = (h - 1) // stride + 1, (w - 1) // stride + 1
    rc, ry, rx = te.reduce_axis(ci, "rc"), te.reduce_axis(3, "ry"), te.reduce_axis(3, "rx")
    out = te.compute(
        (co, oh, ow),
        lambda f, y, x: te.sum(
            p[rc, y * stride + ry, x * stride + rx] * weight[f, rc, ry, rx], axis=[rc, ry, rx]
        ),
        name="C",
    )

    def reference(x: Array, y: Array) -> list[Array]:
        padded = np.pad(x, ((0, 0), (1, 1), (1, 1)))
        windows = np.lib.stride_tricks.sliding_window_view(padded, (3, 3), (1, 2))
        windows = windows[:, ::stride, ::stride]
        return [np.einsum("chwyx,fcyx->fhw", windows, y)]

    return Workload("padded_conv", [a, weight], [out], reference)


def row_maximum(rng: np.random.Generator) -> Workload:
    n, m = _size(rng), _size(rng, 14)
    dtype = _dtype(rng)
    a = te.placeholder((n, m), dtype, name="A")
    k = te.reduce_axis(m, "k")
    top = te.compute((n,), lambda i: te.max(a[i, k], axis=k), name="T")
    out = te.compute((n, m), lambda i, j: a[i, j] - top[i], name="C")
    return Workload("row_maximum", [a], [out], lambda x: [x - x.max(1, keepdims=True)])


def total(rng: np.random.Generator) -> Workload:
    n, m = _size(rng, 14), _size(rng, 5)
    a = te.placeholder((n, m), "int64", name="A")
    i, j = te.reduce_axis(n, "i"), te.reduce_axis(m, "j")
    s = te.compute((), lambda: te.sum(a[i, j], axis=[i, j]), name="S")
    return Workload("total", [a], [s], lambda x: [np.asarray(x.sum())])


def masked_sum(rng: np.random.Generator) -> Workload:
    n, m = _size(rng), _size(rng)
    a = te.placeholder((n, m), "int32", name="A")
    k = te.reduce_axis(m, "k")
    s = te.compute((n,), lambda i: te.sum(a[i, k], axis=k, where=k <= i), name="S")
    return Workload("masked_sum", [a], [s], lambda x: [np.tril(x).sum(1, dtype=np.int32)])


def two_outputs(rng: np.random.Generator) -> Workload:
    n = _size(rng, 16)
    a = te.placeholder((n,), name="A")
    b = te.compute((n,), lambda i: a[i] + 1.0, name="B")
    c = te.compute((n,), lambda i: b[i] * a[n - 1 - i], name="C")
    return Workload("two_outputs", [a], [b, c], lambda x: [x + 1, (x + 1) * x[::-1]])


def shared_producer(rng: np.random.Generator) -> Workload:
    n, m = _size(rng, 10), _size(rng, 6)
    a = te.placeholder((n, m), name="A")
    b = te.compute((n, m), lambda i, j: a[i, j] + 3.0, name="B")
    k = te.reduce_axis(m, "k")
    c = te.compute((n,), lambda i: te.sum(b[i, k], axis=k), name="C")
    d = te.compute((n, m), lambda i, j: b[i, j] * c[i], name="D")
    return Workload("shared", [a], [d], lambda x: [(x + 3) * (x + 3).sum(1, keepdims=True)])


def strided_gather(rng: np.random.Generator) -> Workload:
    n = _size(rng, 12)
    a = te.placeholder((3 * n,), name="A")
    b = te.compute((3 * n,), lambda i: a[i] * a[i], name="B")
    c = te.compute((n,), lambda i: b[3 * i + 2] + b[(i // 2) * 3], name="C")

    def reference(x: Array) -> list[Array]:
        i = np.arange(n)
        return [(x * x)[3 * i + 2] + (x * x)[(i // 2) * 3]]

    return Workload("strided", [a], [c], reference)


WORKLOADS: tuple[Make, ...] = (
    matmul,
    matmul_bias_relu,
    elementwise_chain,
    stencil,
    padded_conv,
    row_maximum,
    total,
    masked_sum,
    two_outputs,
    shared_producer,
    strided_gather,
)


def random_workload(rng: np.random.Generator) -> Workload:
    """One of the workloads, with random sizes and types."""
    return WORKLOADS[int(rng.integers(len(WORKLOADS)))](rng)
