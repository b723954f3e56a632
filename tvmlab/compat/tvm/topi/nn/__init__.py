"""Layers by their old names."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tvmlab.topi as _topi
from tvmlab.compat.tvm.missing import missing
from tvmlab.compat.tvm.te.tensors import returns_old
from tvmlab.te import Tensor

from . import pooling
from .pooling import pool, pool2d

__all__ = [
    "batch_norm", "bias_add", "conv2d_hwcn", "conv2d_nchw", "conv2d_nhwc", "dense",
    "depthwise_conv2d_nchw", "flatten", "leaky_relu", "log_softmax", "pad", "pool", "pool2d",
    "pooling", "relu", "softmax",
]  # fmt: skip

__getattr__ = missing("tvm.topi.nn")

batch_norm, bias_add = returns_old(_topi.batch_norm), returns_old(_topi.bias_add)
flatten, relu, leaky_relu = map(returns_old, (_topi.flatten, _topi.relu, _topi.leaky_relu))
softmax, log_softmax = map(returns_old, (_topi.softmax, _topi.log_softmax))


def _conv2d(layout: str) -> Callable[..., Tensor]:
    """A convolution of data in this layout; filters are OIHW for NCHW, and HWIO otherwise."""

    def conv2d(
        Input: Tensor,
        Filter: Tensor,
        stride: Any,
        padding: Any,
        dilation: Any = 1,
        out_dtype: Any = None,
    ) -> Tensor:
        return _topi.conv2d(Input, Filter, stride, padding, dilation, layout, out_dtype)

    return returns_old(conv2d)


conv2d_nchw, conv2d_nhwc, conv2d_hwcn = map(_conv2d, ("NCHW", "NHWC", "HWCN"))


def _as_type(dtype: Any, *tensors: Tensor) -> list[Tensor]:
    """The tensors in the type to compute with; as they are for none."""
    return [t if dtype is None or t.dtype == dtype else _topi.cast(t, dtype) for t in tensors]


@returns_old
def dense(
    data: Tensor, weight: Tensor, bias: Tensor | None = None, out_dtype: Any = None
) -> Tensor:
    """The product with the transposed weights, and a bias."""
    left, right = _as_type(out_dtype, data, weight)
    return _topi.dense(left, right, bias)


@returns_old
def depthwise_conv2d_nchw(
    Input: Tensor,
    Filter: Tensor,
    stride: Any,
    padding: Any,
    dilation: Any = 1,
    out_dtype: Any = None,
) -> Tensor:
    """A convolution of each channel on its own."""
    data, weight = _as_type(out_dtype, Input, Filter)
    return _topi.depthwise_conv2d(data, weight, stride, padding, dilation)


@returns_old
def pad(
    data: Tensor,
    pad_before: Any,
    pad_after: Any = None,
    pad_value: Any = 0.0,
    name: str = "PadInput",
) -> Tensor:
    """A margin of one value around."""
    return _topi.pad(data, pad_before, pad_after, pad_value, name)
