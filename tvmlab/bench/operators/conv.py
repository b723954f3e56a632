"""Convolutions of ResNet-18 in float32, batch 1 (Table 2 of the TVM paper)."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np

from tvmlab.bench.peers import OnnxNode, onnx_peers, torch_peer
from tvmlab.bench.row import Array, Contender, Inputs, Operator, Row, kernel_contender
from tvmlab.target import Target
from tvmlab.topi import conv2d_nchw, schedule_conv2d_nchw

# Height and width, input and output channels, kernel, stride.
RESNET = {
    "C1": (224, 3, 64, 7, 2),
    "C2": (56, 64, 64, 3, 1),
    "C3": (56, 64, 64, 1, 1),
    "C4": (56, 64, 128, 3, 2),
    "C5": (56, 64, 128, 1, 2),
    "C6": (28, 128, 128, 3, 1),
    "C7": (28, 128, 256, 3, 2),
    "C8": (28, 128, 256, 1, 2),
    "C9": (14, 256, 256, 3, 1),
    "C10": (14, 256, 512, 3, 2),
    "C11": (14, 256, 512, 1, 2),
    "C12": (7, 512, 512, 3, 1),
}


def _ours(row: Row, inputs: Inputs, target: Target) -> Contender:
    (n, ci, h, w), (co, _, k, _) = row.shapes
    stride, padding = row.option("stride"), row.option("padding")
    _, _, c = conv2d_nchw(n, ci, h, w, co, k, stride=stride, padding=padding)
    return kernel_contender(schedule_conv2d_nchw(c, target), inputs, target)


def conv2d_reference(row: Row, inputs: Inputs) -> Array:
    """The convolution in float64, as a product with all windows."""
    data, filters = (np.asarray(array, np.float64) for array in inputs)
    stride, padding, groups = row.option("stride"), row.option("padding"), row.option("groups", 1)
    padded = np.pad(data, ((0, 0), (0, 0), (padding, padding), (padding, padding)))
    windows = np.lib.stride_tricks.sliding_window_view(padded, filters.shape[2:], axis=(2, 3))
    windows = windows[:, :, ::stride, ::stride]
    channels, per_group = data.shape[1] // groups, filters.shape[0] // groups
    parts = [
        np.einsum(
            "nchwij,ocij->nohw",
            windows[:, g * channels : (g + 1) * channels],
            filters[g * per_group : (g + 1) * per_group],
            optimize=True,
        )
        for g in range(groups)
    ]
    return np.concatenate(parts, axis=1)


def out_pixels(row: Row) -> int:
    """Places of the filter."""
    (_, _, h, w), (_, _, k, _) = row.shapes
    stride, padding = row.option("stride"), row.option("padding")
    return ((h + 2 * padding - k) // stride + 1) * ((w + 2 * padding - k) // stride + 1)


def conv2d_flops(row: Row) -> int:
    """Multiplications and additions of the direct way."""
    (n, *_), (co, ci, k, _) = row.shapes
    return 2 * n * co * out_pixels(row) * ci * k * k


def conv2d_moved(row: Row) -> tuple[int, int]:
    """Image and filters once, and the output."""
    data, filters = row.shapes
    read = int(np.prod(data)) + int(np.prod(filters))
    return read * 4, data[0] * filters[0] * out_pixels(row) * 4


def _torch(torch: Any, row: Row) -> Any:
    functional: Any = import_module("torch.nn.functional")
    stride, padding, groups = row.option("stride"), row.option("padding"), row.option("groups", 1)

    def convolve(x: Any, w: Any) -> Any:
        return functional.conv2d(x, w, stride=stride, padding=padding, groups=groups)

    return convolve


def _onnx(row: Row) -> list[OnnxNode]:
    stride, padding = row.option("stride"), row.option("padding")
    attributes = {
        "strides": [stride] * 2,
        "pads": [padding] * 4,
        "group": row.option("groups", 1),
        "kernel_shape": list(row.shapes[1][2:]),
    }
    return [OnnxNode("Conv", ("x0", "x1"), attributes=attributes)]


CONV_PEERS = (
    torch_peer(_torch, ("eager", "channels_last")),
    *onnx_peers(_onnx, constants=(1,)),
)

OPERATORS = {
    "conv2d": Operator(
        _ours,
        conv2d_reference,
        CONV_PEERS,
        flops=conv2d_flops,
        moved=conv2d_moved,
        measure="flops",
    )
}

ROWS = tuple(
    Row(
        "conv",
        name,
        "conv2d",
        ((1, ci, size, size), (co, ci, k, k)),
        options=(("stride", stride), ("padding", k // 2)),
    )
    for name, (size, ci, co, k, stride) in RESNET.items()
)
