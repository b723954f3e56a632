"""Pooling with the arguments of old programs."""

from __future__ import annotations

from typing import Any

import tvmlab.topi as _topi
from tvmlab.compat.tvm.missing import missing
from tvmlab.compat.tvm.te.tensors import returns_old
from tvmlab.te import Tensor

__getattr__ = missing("tvm.topi.nn.pooling")


@returns_old
def pool(
    data: Tensor,
    kernel: Any,
    stride: Any,
    padding: Any,
    pool_type: str,
    ceil_mode: bool = False,
    layout: str = "NCHW",
    count_include_pad: bool = True,
) -> Tensor:
    """The largest element or the mean of each window."""
    return _topi.pool2d(
        data, kernel, stride, padding, pool_type, layout, count_include_pad, ceil_mode=ceil_mode
    )


@returns_old
def pool2d(
    data: Tensor,
    kernel: Any,
    stride: Any,
    dilation: Any,
    padding: Any,
    pool_type: str,
    ceil_mode: bool = False,
    layout: str = "NCHW",
    count_include_pad: bool = True,
) -> Tensor:
    """The largest element or the mean of each window."""
    return _topi.pool2d(
        data, kernel, stride, padding, pool_type, layout, count_include_pad,
        ceil_mode=ceil_mode, dilation=dilation,
    )  # fmt: skip
