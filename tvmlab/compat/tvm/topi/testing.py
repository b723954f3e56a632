"""Schedules and references for tests of operators."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tvmlab.compat.tvm.missing import missing
from tvmlab.topi.geometry import margins, per_dimension

from .generic import default_schedule

__getattr__ = missing("tvm.topi.testing")


def get_injective_schedule(target: Any) -> Callable[..., Any]:
    """The schedule of element-wise operators."""
    del target
    return default_schedule


get_elemwise_schedule = get_broadcast_schedule = get_reduce_schedule = get_injective_schedule


def get_conv2d_nchw_implement(target: Any) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """A convolution and its schedule."""
    from .nn import conv2d_nchw

    del target

    def schedule(outs: Any) -> Any:
        return default_schedule(outs, auto_inline=False)

    return conv2d_nchw, schedule


def conv2d_nchw_python(
    a_np: np.ndarray[Any, Any],
    w_np: np.ndarray[Any, Any],
    stride: Any,
    padding: Any,
    groups: int = 1,
) -> np.ndarray[Any, Any]:
    """A convolution in NumPy."""
    sh, sw = per_dimension(stride, 2, "stride")
    kernel = (w_np.shape[2], w_np.shape[3])
    (top, left), (bottom, right) = margins(padding, kernel)
    padded = np.pad(a_np, ((0, 0), (0, 0), (top, bottom), (left, right)))
    windows = np.lib.stride_tricks.sliding_window_view(padded, kernel, axis=(2, 3))
    places = windows[:, :, ::sh, ::sw]
    parts = zip(np.split(places, groups, axis=1), np.split(w_np, groups), strict=True)
    return np.concatenate([np.einsum("nchwij,ocij->nohw", x, w) for x, w in parts], axis=1)
