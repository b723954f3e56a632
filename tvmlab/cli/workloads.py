"""Workloads by name: `matmul-512`, `matmul-64x256x1024`, `C1` to `C12`, `D1` to `D9`; groups.

Convolutions of other sizes are `conv-28x64x96x3s1` (rows and columns, channels, filters, rows and
columns of a filter, stride) and `depthwise-28x64s1`, on images in blocks of channels.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import tvmlab.te as te
from tvmlab.bench.operators.conv import MOBILENET, RESNET
from tvmlab.schedule import Schedule
from tvmlab.target import Target
from tvmlab.te import Tensor
from tvmlab.topi import channel_block, conv2d, matmul, schedule_conv, schedule_matmul

from .parser import UsageError, close_match

MATMULS = ("matmul-128", "matmul-256", "matmul-512", "matmul-1024", "matmul-64x1024x1024",
           "matmul-1024x64x1024")  # fmt: skip
GROUPS = {
    "resnet": tuple(RESNET),
    "mobilenet": tuple(MOBILENET),
    "matmuls": MATMULS,
    "all": (*RESNET, *MOBILENET, *MATMULS),
}
CONVOLUTIONS = ("conv-28x64x96x3s1", "depthwise-28x64s1")
EXAMPLES = ("matmul-512", "matmul-64x256x1024", *CONVOLUTIONS, *RESNET, *MOBILENET)


def workload_names(words: Sequence[str]) -> list[str]:
    """Names of workloads, with groups such as "resnet" or "all" written out."""
    found = [name for word in words for name in GROUPS.get(word, (word,))]
    return list(dict.fromkeys(found))


def named_workload(name: str, target: Target) -> tuple[Tensor, Schedule]:
    """The output of a workload, and the schedule that tvmlab gives it by default.

    Raises
    ------
    UsageError
        If nothing is called so.
    """
    out = workload_output(name, target)
    make = schedule_matmul if name.startswith("matmul") else schedule_conv
    return out, make(out, target)


def workload_output(name: str, target: Target) -> Tensor:
    """The output of a workload.

    Raises
    ------
    UsageError
        If nothing is called so.
    """
    if name in RESNET:
        return _convolution(*RESNET[name], target)
    if name in MOBILENET:
        return _depthwise(*MOBILENET[name], target)
    if sizes := _sizes(r"matmul-(\d+)", name):
        return matmul(sizes[0], sizes[0], sizes[0])[2]
    if sizes := _sizes(r"matmul-(\d+)x(\d+)x(\d+)", name):
        m, n, k = sizes
        return matmul(m, n, k)[2]
    if sizes := _sizes(r"conv-(\d+)x(\d+)x(\d+)x(\d+)s(\d+)", name):
        size, channels, filters, kernel, stride = sizes
        return _convolution(size, channels, filters, kernel, stride, target)
    if sizes := _sizes(r"depthwise-(\d+)x(\d+)s(\d+)", name):
        size, channels, stride = sizes
        return _depthwise(size, channels, stride, target)
    raise UsageError(
        f"there is no workload {name!r}{close_match(name, EXAMPLES)}\n"
        f"hint: workloads are matmul-N, matmul-MxNxK, C1 to C12, D1 to D9, conv-28x64x96x3s1 "
        f"(size, channels, filters, window, stride) and depthwise-28x64s1 (size, channels, stride)"
    )


def _sizes(pattern: str, name: str) -> tuple[int, ...]:
    """The numbers in a name of this pattern; none if it has another."""
    found = re.fullmatch(pattern, name)
    sizes = tuple(map(int, found.groups())) if found else ()
    if 0 in sizes:
        raise UsageError(f"the workload {name!r} has a size or stride of 0\nhint: take 1 or more")
    return sizes


def _convolution(
    size: int, channels: int, outputs: int, kernel: int, stride: int, target: Target
) -> Tensor:
    """A convolution on images in blocks of channels, filters packed."""
    block = _block_of(outputs, "filters", target)
    if channels % block:
        data = te.placeholder((1, channels, size, size), name="A")
        weight = te.placeholder((outputs // block, channels, kernel, kernel, block), name="W")
        image, kept = "NCHW", f"OIHW{block}o"
    else:
        data = te.placeholder((1, channels // block, size, size, block), name="A")
        shape = (outputs // block, channels // block, kernel, kernel, block, block)
        weight = te.placeholder(shape, name="W")
        image, kept = f"NCHW{block}c", f"OIHW{block}i{block}o"
    return conv2d(
        data, weight, stride, kernel // 2, layout=image, kernel_layout=kept,
        out_layout=f"NCHW{block}c",
    )  # fmt: skip


def _depthwise(size: int, channels: int, stride: int, target: Target) -> Tensor:
    """A filter of 3 rows and 3 columns for each channel."""
    block = _block_of(channels, "channels", target)
    data = te.placeholder((1, channels // block, size, size, block), name="A")
    weight = te.placeholder((channels // block, 1, 3, 3, block), name="W")
    image = f"NCHW{block}c"
    return conv2d(
        data, weight, stride, 1, layout=image, groups=channels, kernel_layout=f"OIHW{block}o",
        out_layout=image,
    )  # fmt: skip


def _block_of(count: int, what: str, target: Target) -> int:
    """The size of blocks of channels, of which there must be whole ones."""
    block = channel_block(target)
    if count % block:
        raise UsageError(
            f"{count} {what} cannot be cut into blocks of {block}, as many as a vector of this "
            f"machine holds\nhint: take {-(-count // block) * block} {what}"
        )
    return block
