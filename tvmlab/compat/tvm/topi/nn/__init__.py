"""Layers by their old names."""

from __future__ import annotations

from typing import Any

from tvmlab import topi as _topi
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

batch_norm, bias_add, dense = map(returns_old, (_topi.batch_norm, _topi.bias_add, _topi.dense))
flatten, relu, leaky_relu = map(returns_old, (_topi.flatten, _topi.relu, _topi.leaky_relu))
softmax, log_softmax = map(returns_old, (_topi.softmax, _topi.log_softmax))


@returns_old
def conv2d_nchw(
    Input: Tensor,
    Filter: Tensor,
    stride: Any,
    padding: Any,
    dilation: Any = 1,
    out_dtype: Any = None,
) -> Tensor:
    """A convolution of NCHW data with OIHW filters."""
    return _topi.conv2d(Input, Filter, stride, padding, dilation, "NCHW", out_dtype)


@returns_old
def conv2d_nhwc(
    Input: Tensor,
    Filter: Tensor,
    stride: Any,
    padding: Any,
    dilation: Any = 1,
    out_dtype: Any = None,
) -> Tensor:
    """A convolution of NHWC data with HWIO filters."""
    return _topi.conv2d(Input, Filter, stride, padding, dilation, "NHWC", out_dtype)


@returns_old
def conv2d_hwcn(
    Input: Tensor,
    Filter: Tensor,
    stride: Any,
    padding: Any,
    dilation: Any = 1,
    out_dtype: Any = None,
) -> Tensor:
    """A convolution of HWCN data with HWIO filters."""
    return _topi.conv2d(Input, Filter, stride, padding, dilation, "HWCN", out_dtype)


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
    del out_dtype
    return _topi.depthwise_conv2d(Input, Filter, stride, padding, dilation)


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
