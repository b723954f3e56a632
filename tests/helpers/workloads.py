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


def pair_of_outputs(rng: np.random.Generator) -> Workload:
    n, m = _size(rng), _size(rng)
    a = te.placeholder((n, m), name="A")
    b, c = te.compute((n, m), lambda i, j: (a[i, j] + 1.0, a[n - 1 - i, j] * 2.0), name="B")
    d = te.compute((n, m), lambda i, j: b[i, j] * c[i, j], name="D")
    return Workload("pair", [a], [d, b], lambda x: [(x + 1) * x[::-1] * 2, x + 1])


def first_largest(rng: np.random.Generator) -> Workload:
    n, m = _size(rng), _size(rng, 14)
    dtype = _dtype(rng)
    a = te.placeholder((n, m), dtype, name="A")
    k = te.reduce_axis(m, "k")
    best = te.argmax if rng.integers(2) else te.argmin
    index, value = te.compute((n,), lambda i: best((k, a[i, k]), axis=k), name="T")

    def reference(x: Array) -> list[Array]:
        found = x.argmax(1) if best is te.argmax else x.argmin(1)
        return [found, x[np.arange(n), found]]

    return Workload("first_largest", [a], [index, value], reference)


def sum_and_largest(rng: np.random.Generator) -> Workload:
    n, m = _size(rng), _size(rng, 14)
    a = te.placeholder((n, m), "int32", name="A")
    k = te.reduce_axis(m, "k")
    total, top = te.compute(
        (n,), lambda i: (te.sum(a[i, k], axis=k), te.max(a[i, k], axis=k)), name="T"
    )
    c = te.compute((n, m), lambda i, j: a[i, j] * total[i] - top[i], name="C")

    def reference(x: Array) -> list[Array]:
        total = x.sum(1, dtype="int32")[:, None]
        return [x * total - x.max(1, keepdims=True)]

    return Workload("sum_and_largest", [a], [c], reference)


def own_reduction(rng: np.random.Generator) -> Workload:
    """A lawful operation of one's own, and subtraction, whose order must stay."""
    n, m = _size(rng), _size(rng, 14)
    lawful = bool(rng.integers(2))
    a = te.placeholder((n, m), "int32", name="A")
    k = te.reduce_axis(m, "k")
    join = te.comm_reducer(
        (lambda x, y: x + y + x * y) if lawful else (lambda x, y: x - y),
        lambda t: te.const(0, t),
        name="own",
    )
    c = te.compute((n,), lambda i: join(a[i, k], axis=k, where=k <= i), name="C")

    def reference(x: Array) -> list[Array]:
        part = np.tril(x)
        if lawful:
            return [(part + 1).prod(1, dtype="int32") - 1]
        return [-part.sum(1, dtype="int32")]

    return Workload("own_reduction", [a], [c], reference)


def running_sum(rng: np.random.Generator) -> Workload:
    """A scan with two stages in its cell."""
    m, n = _size(rng), _size(rng)
    a = te.placeholder((m, n), name="A")
    state = te.placeholder((m, n), name="S")
    first = te.compute((1, n), lambda _, i: a[0, i], name="first")
    half = te.compute((m, n), lambda t, i: state[t - 1, n - 1 - i] * 0.5, name="half")
    step = te.compute((m, n), lambda t, i: half[t, i] + a[t, i], name="step")
    total = te.scan(first, step, state, inputs=[a], name="total")
    c = te.compute((n, m), lambda i, t: total[t, i] * 2.0, name="C")

    def reference(x: Array) -> list[Array]:
        want = x.copy()
        for t in range(1, m):
            want[t] += want[t - 1, ::-1] * 0.5
        return [want.T * 2]

    return Workload("running_sum", [a], [c], reference)


def two_states(rng: np.random.Generator) -> Workload:
    """A scan of two states, one of which is a reduction over the other."""
    m, n = _size(rng, 5), _size(rng, 5)
    a = te.placeholder((1, n), "int32", name="A")
    x, y = te.placeholder((m, n), "int32", name="X"), te.placeholder((m, n), "int32", name="Y")
    zero = te.compute((1, n), lambda _, i: te.const(0, "int32"), name="zero")
    k = te.reduce_axis(n, "k")
    up = te.compute((m, n), lambda t, i: te.sum(y[t - 1, k] + x[t - 1, i], axis=k), name="up")
    down = te.compute((m, n), lambda t, i: x[t - 1, i] - y[t - 1, i], name="down")
    p, q = te.scan([a, zero], [up, down], [x, y], inputs=[a], name="pair")

    def reference(start: Array) -> list[Array]:
        p, q = [start[0]], [np.zeros(n, "int32")]
        for _ in range(m - 1):
            p, q = (
                [*p, (q[-1].sum() + p[-1] * n).astype("int32")],
                [*q, p[-1] - q[-1]],
            )
        return [np.stack(p), np.stack(q)]

    return Workload("two_states", [a], [p, q], reference)


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
    pair_of_outputs,
    first_largest,
    sum_and_largest,
    own_reduction,
    running_sum,
    two_states,
)


def random_workload(rng: np.random.Generator) -> Workload:
    """One of the workloads, with random sizes and types."""
    return WORKLOADS[int(rng.integers(len(WORKLOADS)))](rng)
