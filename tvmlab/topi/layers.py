"""Layers of neural networks that are not windows: dense, softmax, batch normalization, bias."""

from __future__ import annotations

from typing import Any

import tvmlab.te as te
from tvmlab.ir import Expr
from tvmlab.te import Axis, Tensor

from .broadcast import add, divide, multiply, subtract
from .elementwise import exp, log, narrowed, sqrt, widened
from .reduction import max as largest
from .reduction import sum as total
from .tag import BROADCAST


def dense(data: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """`data @ weight.T`, plus a bias."""
    k = te.reduce_axis(data.shape[1], "k")
    made = te.compute(
        (data.shape[0], weight.shape[0]),
        lambda i, j: te.sum(data[i, k] * weight[j, k], axis=k),
        name="dense",
        tag="dense",
    )
    return made if bias is None else bias_add(made, bias)


def bias_add(data: Tensor, bias: Tensor, axis: int = -1) -> Tensor:
    """A vector added along a dimension."""
    at = axis + len(data.shape) if axis < 0 else axis

    def formula(*indices: Axis) -> Expr:
        return data[indices] + bias[indices[at]]

    return te.compute(data.shape, formula, name="bias_add", tag=BROADCAST)


def softmax(data: Tensor, axis: int = -1) -> Tensor:
    """Exponentials along a dimension, divided by their sum; the largest is taken off first.

    Of the sum the reciprocal is taken once for all: a division takes as long as ten products.
    Floats shorter than float32 are computed in float32.
    """
    wide = widened(data)
    spread = exp(subtract(wide, largest(wide, axis, keepdims=True)))
    made = multiply(spread, divide(1.0, total(spread, axis, keepdims=True)))
    return narrowed(made, data.dtype)


def log_softmax(data: Tensor, axis: int = -1) -> Tensor:
    """The logarithm of `softmax`."""
    wide = widened(data)
    shifted = subtract(wide, largest(wide, axis, keepdims=True))
    made = subtract(shifted, log(total(exp(shifted), axis, keepdims=True)))
    return narrowed(made, data.dtype)


def batch_norm(
    data: Tensor,
    gamma: Tensor,
    beta: Tensor,
    mean: Tensor,
    variance: Tensor,
    axis: int = 1,
    epsilon: float = 1e-5,
) -> Tensor:
    """`(data - mean) / sqrt(variance + epsilon) * gamma + beta` along a dimension of channels."""
    scale = multiply(gamma, _reciprocal(sqrt(add(variance, epsilon))))
    at = axis + len(data.shape) if axis < 0 else axis

    def value(*indices: Any) -> Expr:
        c = indices[at]
        return (data[indices] - mean[c]) * scale[c] + beta[c]

    return te.compute(data.shape, value, name="batch_norm", tag=BROADCAST)


def _reciprocal(a: Tensor) -> Tensor:
    return divide(1.0, a)
