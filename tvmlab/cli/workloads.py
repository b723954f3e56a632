"""Workloads by name: `matmul-512`, `matmul-64x256x1024`, `C1` to `C12`, `D1` to `D9`; groups."""

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
EXAMPLES = ("matmul-512", "matmul-64x256x1024", *RESNET, *MOBILENET)


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
    if name in RESNET:
        return _resnet(name, target)
    if name in MOBILENET:
        return _mobilenet(name, target)
    sizes = re.fullmatch(r"matmul-(\d+)(?:x(\d+)x(\d+))?", name)
    if sizes is None:
        raise UsageError(
            f"there is no workload {name!r}{close_match(name, EXAMPLES)}\n"
            f"hint: workloads are matmul-N, matmul-MxNxK, C1 to C12 and D1 to D9"
        )
    m = int(sizes[1])
    out = matmul(m, int(sizes[2] or m), int(sizes[3] or m))[2]
    return out, schedule_matmul(out, target)


def _resnet(name: str, target: Target) -> tuple[Tensor, Schedule]:
    """A convolution of ResNet-18 on images in blocks of channels, filters packed."""
    size, channels, outputs, kernel, stride = RESNET[name]
    block = channel_block(target)
    if channels % block:
        data = te.placeholder((1, channels, size, size), name="A")
        weight = te.placeholder((outputs // block, channels, kernel, kernel, block), name="W")
        image, kept = "NCHW", f"OIHW{block}o"
    else:
        data = te.placeholder((1, channels // block, size, size, block), name="A")
        shape = (outputs // block, channels // block, kernel, kernel, block, block)
        weight = te.placeholder(shape, name="W")
        image, kept = f"NCHW{block}c", f"OIHW{block}i{block}o"
    out = conv2d(
        data, weight, stride, kernel // 2, layout=image, kernel_layout=kept,
        out_layout=f"NCHW{block}c",
    )  # fmt: skip
    return out, schedule_conv(out, target)


def _mobilenet(name: str, target: Target) -> tuple[Tensor, Schedule]:
    """A depthwise convolution of MobileNet."""
    size, channels, stride = MOBILENET[name]
    block = channel_block(target)
    data = te.placeholder((1, channels // block, size, size, block), name="A")
    weight = te.placeholder((channels // block, 1, 3, 3, block), name="W")
    image = f"NCHW{block}c"
    out = conv2d(
        data, weight, stride, 1, layout=image, groups=channels, kernel_layout=f"OIHW{block}o",
        out_layout=image,
    )  # fmt: skip
    return out, schedule_conv(out, target)
