"""The computations that the shipped cost model has learned from: none of `tvmlab searches`.

Convolutions, products and reductions of many sizes, so that it knows what counts for a schedule
whatever it computes.
"""

from __future__ import annotations

from collections.abc import Callable

import tvmlab.te as te
from tvmlab import topi
from tvmlab.target import Target
from tvmlab.te import Tensor

from .workloads import workload_output

_CONVOLUTIONS = (
    "conv-160x3x32x3s2", "conv-96x3x64x7s2", "conv-64x3x48x5s2",
    "conv-40x48x96x3s1", "conv-20x96x192x3s1", "conv-10x192x384x3s1", "conv-24x128x64x3s1",
    "conv-72x32x64x3s2", "conv-36x64x160x3s2", "conv-18x160x320x3s2",
    "conv-48x64x128x1s1", "conv-24x128x384x1s1", "conv-12x384x96x1s1", "conv-80x32x64x1s1",
    "conv-60x64x96x1s2", "conv-30x96x256x1s2", "conv-15x512x128x1s2", "conv-6x640x320x1s1",
    "conv-32x48x64x5s1", "conv-16x96x96x5s2",
)  # fmt: skip
_DEPTHWISE = (
    "depthwise-96x48s1", "depthwise-48x96s2", "depthwise-40x160s1", "depthwise-20x320s1",
    "depthwise-20x320s2", "depthwise-10x640s1", "depthwise-80x64s2", "depthwise-12x960s2",
)  # fmt: skip
_PRODUCTS = (
    "matmul-192", "matmul-384", "matmul-640", "matmul-96x768x768", "matmul-768x96x768",
    "matmul-320x320x1280", "matmul-32x512x2048", "matmul-900x100x300", "matmul-448x896x224",
)  # fmt: skip


def _of_rows(make: Callable[[Tensor], Tensor], *shape: int) -> Tensor:
    return make(te.placeholder(shape, name="A"))


_OTHERS: dict[str, Callable[[], Tensor]] = {
    "softmax-768x640": lambda: _of_rows(topi.softmax, 768, 640),
    "rows-1200x900": lambda: _of_rows(lambda a: topi.sum(a, axis=1), 1200, 900),
    "columns-900x1200": lambda: _of_rows(lambda a: topi.sum(a, axis=0), 900, 1200),
    "relu-1100x1000": lambda: _of_rows(topi.relu, 1100, 1000),
    "transpose-900x700": lambda: _of_rows(topi.transpose, 900, 700),
    "dense-192x640x448": lambda: topi.dense(
        te.placeholder((192, 448), name="A"), te.placeholder((640, 448), name="W")
    ),
}
TRAINING_SET = (*_CONVOLUTIONS, *_DEPTHWISE, *_PRODUCTS, *_OTHERS)


def training_workload(name: str, target: Target) -> Tensor:
    """The output of one of the training set."""
    if name in _OTHERS:
        return _OTHERS[name]()
    return workload_output(name, target)
