"""Convolutions of ResNet-18 and depthwise ones of MobileNet (Table 2 of the TVM paper), batch 1;
grouped ones of ResNeXt and ShuffleNet; some of them in the layouts NCHW and NHWC, nothing packed,
and again with constant filters.

Images come in the layout that each library likes best, filters packed beforehand where it can. 3x3
filters with stride 1 are transformed for Winograd's algorithm; the rows `C2-direct` and so on have
the direct sums of the same convolutions.
"""

from __future__ import annotations

from dataclasses import replace
from importlib import import_module
from typing import Any

import numpy as np

import tvmlab.te as te
from tvmlab.bench.peers import OnnxNode, onnx_peers, torch_peer
from tvmlab.bench.row import Array, Contender, Inputs, Operator, Row, kernel_contender
from tvmlab.runtime import empty
from tvmlab.target import Target
from tvmlab.te import Tensor
from tvmlab.topi import (
    channel_block,
    conv2d,
    conv2d_winograd,
    layout_transform,
    pack_array,
    pack_winograd,
    schedule_conv,
    winograd_tile,
)

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

# Height and width, channels, stride; 3x3 filters.
MOBILENET = {
    "D1": (112, 32, 1),
    "D2": (112, 64, 2),
    "D3": (56, 128, 1),
    "D4": (56, 128, 2),
    "D5": (28, 256, 1),
    "D6": (28, 256, 2),
    "D7": (14, 512, 1),
    "D8": (14, 512, 2),
    "D9": (7, 1024, 1),
}

# Height and width, channels, groups, kernel, stride.
GROUPED = {
    "G1": (56, 128, 32, 3, 1),
    "G2": (56, 256, 32, 3, 2),
    "G3": (28, 256, 32, 3, 1),
    "G4": (14, 512, 32, 3, 1),
    "G5": (7, 1024, 32, 3, 1),
    "G6": (28, 256, 4, 3, 1),
    "G7": (28, 240, 3, 1, 1),
}


def _ours(row: Row, inputs: Inputs, target: Target) -> Contender:
    (_, channels, height, width), (outputs, of_group, kernel, _) = row.shapes
    stride, padding = row.option("stride"), row.option("padding")
    block = channel_block(target)
    plain = "NCHW" if 1 < of_group < channels and of_group % block else None
    if layout := row.option("layout", plain):
        if row.option("constant"):
            return _transformed(row, inputs, layout, target)
        return _unpacked(row, inputs, layout, target)
    image = "NCHW" if channels % block else f"NCHW{block}c"
    tile = 0
    if row.option("groups", 1) == 1 and kernel == 3 and stride == 1 and not row.option("direct"):
        tile = winograd_tile(height, width, channels, outputs, target)
    if tile:
        filters = pack_winograd(inputs[1], tile, block)
        data, weight = _placeholder(inputs[0], image), te.placeholder(filters.shape, name="W")
        out = conv2d_winograd(data, weight, padding, image)
        return _contender(out, (inputs[0], filters), image, target)
    single = of_group % block
    kept = f"OIHW{block}o" if single else f"OIHW{block}i{block}o"
    filters = pack_array(inputs[1], "OIHW", kept)
    data, weight = _placeholder(inputs[0], image), te.placeholder(filters.shape, name="W")
    out = conv2d(
        data, weight, stride, padding, layout=image, groups=row.option("groups", 1),
        kernel_layout=kept, out_layout=f"NCHW{block}c",
    )  # fmt: skip
    return _contender(out, (inputs[0], filters), image, target)


def _unpacked(row: Row, inputs: Inputs, layout: str, target: Target) -> Contender:
    """The convolution in a usual layout, filters as they come in it."""
    kept = "OIHW" if layout == "NCHW" else "HWIO"
    filters = pack_array(inputs[1], "OIHW", kept)
    data, weight = _placeholder(inputs[0], layout), te.placeholder(filters.shape, name="W")
    out = conv2d(
        data, weight, row.option("stride"), row.option("padding"), layout=layout,
        groups=row.option("groups", 1),
    )  # fmt: skip
    arrays = [_aligned(pack_array(inputs[0], "NCHW", layout)), _aligned(filters)]
    made = kernel_contender(schedule_conv(out, target, args=[data, weight, out]), arrays, target)
    return Contender(
        made.name,
        made.run,
        lambda: pack_array(made.result(), layout, "NCHW"),
        prepared=f"images in the layout {layout}",
    )


def _transformed(row: Row, inputs: Inputs, layout: str, target: Target) -> Contender:
    """Winograd's algorithm on images in a usual layout, from filters transformed beforehand."""
    (_, channels, height, width), (outputs, *_) = row.shapes
    block = channel_block(target)
    filters = pack_winograd(inputs[1], winograd_tile(height, width, channels, outputs), block)
    data, weight = _placeholder(inputs[0], layout), te.placeholder(filters.shape, name="W")
    if layout == "NCHW":
        inside = f"NCHW{block}c"
        moved = layout_transform(data, layout, inside)
        out = layout_transform(conv2d_winograd(moved, weight, 1, inside), inside, layout)
    else:
        out = conv2d_winograd(data, weight, 1, layout)
    arrays = [_aligned(pack_array(inputs[0], "NCHW", layout)), _aligned(filters)]
    made = kernel_contender(schedule_conv(out, target, args=[data, weight, out]), arrays, target)
    return Contender(
        made.name,
        made.run,
        lambda: pack_array(made.result(), layout, "NCHW"),
        prepared=f"images in the layout {layout}, filters transformed",
    )


def _aligned(array: Array) -> Array:
    """A copy that begins where a line of the cache does."""
    copy = empty(array.shape, array.dtype.name)
    copy[...] = array
    return copy


def _placeholder(array: Array, layout: str) -> Tensor:
    return te.placeholder(pack_array(array, "NCHW", layout).shape, str(array.dtype), "A")


def _contender(out: Tensor, inputs: Inputs, layout: str, target: Target) -> Contender:
    """The kernel of a convolution on packed images, its result in NCHW."""
    arrays = [_aligned(pack_array(inputs[0], "NCHW", layout)), _aligned(inputs[1])]
    made = kernel_contender(schedule_conv(out, target), arrays, target)
    block = channel_block(target)
    return Contender(
        made.name,
        made.run,
        lambda: pack_array(made.result(), f"NCHW{block}c", "NCHW"),
        prepared=f"images in the layout NCHW{block}c, filters packed (3x3 ones transformed)",
    )


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


def _resnet(name: str, *extra: tuple[str, Any]) -> Row:
    size, inputs, outputs, kernel, stride = RESNET[name]
    shapes = (1, inputs, size, size), (outputs, inputs, kernel, kernel)
    options = (("stride", stride), ("padding", kernel // 2), *extra)
    return Row("conv", f"{name}-direct" if extra else name, "conv2d", shapes, options=options)


def _mobilenet(name: str) -> Row:
    size, channels, stride = MOBILENET[name]
    shapes = (1, channels, size, size), (channels, 1, 3, 3)
    options = (("stride", stride), ("padding", 1), ("groups", channels))
    return Row("depthwise", name, "conv2d", shapes, options=options)


def _grouped(name: str) -> Row:
    size, channels, groups, kernel, stride = GROUPED[name]
    shapes = (1, channels, size, size), (channels, channels // groups, kernel, kernel)
    options = (("stride", stride), ("padding", kernel // 2), ("groups", groups))
    return Row("grouped", name, "conv2d", shapes, options=options)


def _in_layout(row: Row, layout: str, *extra: tuple[str, Any]) -> Row:
    options = (*row.options, ("layout", layout), *extra)
    name = "-".join([row.name, layout.lower(), *(what for what, _ in extra)])
    return replace(row, group="layouts", name=name, options=options)


ROWS = (
    *map(_resnet, RESNET),
    *(_resnet(name, ("direct", True)) for name in ("C2", "C6", "C9", "C12")),
    *map(_mobilenet, MOBILENET),
    *map(_grouped, GROUPED),
    *(
        _in_layout(row, layout)
        for row in (*map(_resnet, ("C1", "C2", "C4", "C9", "C12")), _mobilenet("D1"))
        for layout in ("NCHW", "NHWC")
    ),
    *(
        _in_layout(_resnet(name), layout, ("constant", True))
        for name in ("C2", "C9", "C12")
        for layout in ("NCHW", "NHWC")
    ),
)
