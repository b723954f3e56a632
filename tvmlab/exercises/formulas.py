"""The formulas that exercises are about, small enough for the interpreter."""

from __future__ import annotations

import tvmlab.te as te
from tvmlab.ir import Program, parse

MATMUL = 16
TRANSPOSE = 32
BLUR = 16


def matmul() -> te.Tensor:
    """A matrix product."""
    n = MATMUL
    a, b = te.placeholder((n, n), name="A"), te.placeholder((n, n), name="B")
    k = te.reduce_axis(n, "k")
    return te.compute((n, n), lambda i, j: te.sum(a[i, k] * b[k, j], axis=k), name="C")


def transpose() -> te.Tensor:
    """Rows become columns."""
    n = TRANSPOSE
    a = te.placeholder((n, n), name="A")
    return te.compute((n, n), lambda i, j: a[j, i], name="T")


def line(n: int) -> te.Tensor:
    """A straight line at each element."""
    a = te.placeholder((n,), name="A")
    return te.compute((n,), lambda i: a[i] * 2.0 + 1.0, name="B")


def total() -> te.Tensor:
    """One sum over all elements."""
    a = te.placeholder((256,), name="A")
    k = te.reduce_axis(256, "k")
    return te.compute((1,), lambda i: te.sum(a[k], axis=k), name="S")


def two_stages() -> te.Tensor:
    """A producer and its consumer, element by element."""
    a = te.placeholder((256,), name="A")
    stage = te.compute((256,), lambda i: a[i] * a[i], name="X")
    return te.compute((256,), lambda i: stage[i] + 1.0, name="Y")


def blur() -> te.Tensor:
    """The sum of 3 x 3 neighbors, first along rows, then along columns."""
    n = BLUR
    a = te.placeholder((n + 2, n + 2), name="A")
    stage = te.compute((n + 2, n), lambda y, x: a[y, x] + a[y, x + 1] + a[y, x + 2], name="X")
    return te.compute(
        (n, n), lambda y, x: stage[y, x] + stage[y + 1, x] + stage[y + 2, x], name="B"
    )


def wavefront() -> Program:
    """Each element needs its left and its upper neighbor."""
    return parse(
        "def wavefront(A: float32[9, 9]):\n"
        "    for i in range(8):\n"
        "        for j in range(8):\n"
        "            A[i + 1, j + 1] = A[i, j + 1] * 0.5 + A[i + 1, j] * 0.5\n"
    )
