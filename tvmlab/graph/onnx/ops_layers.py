"""Converters of layers: convolutions, pooling, matrix products, normalizations."""

from __future__ import annotations

import math
from math import prod
from typing import Any

import numpy as np

from tvmlab.graph.dims import Dim, Sym

from .registry import Site, onnx_op


def window(site: Site, kernel: tuple[int, ...], *, transposed: bool = False) -> dict[str, Any]:
    """Strides, dilations and pads of a window, with `auto_pad` worked out."""
    rank = len(kernel)
    strides = site.attr("strides", (1,) * rank)
    dilations = site.attr("dilations", (1,) * rank)
    pads = site.attr("pads", (0,) * 2 * rank)
    auto = site.attr("auto_pad", "NOTSET")
    if auto not in ("NOTSET", "VALID", "SAME_UPPER", "SAME_LOWER"):
        raise site.error(f"auto_pad is {auto!r}")
    if auto == "VALID":
        pads = (0,) * 2 * rank
    elif auto != "NOTSET" and not transposed:
        pads = _same(site, kernel, strides, dilations, auto)
    return {"strides": strides, "dilations": dilations, "pads": pads}


def _same(site: Site, kernel: Any, strides: Any, dilations: Any, auto: str) -> tuple[int, ...]:
    before: list[int] = []
    after: list[int] = []
    for d, size in enumerate(site.type().shape[2:]):
        if isinstance(size, Sym):
            raise site.error(f"auto_pad needs the size of dimension {d + 2}, which is {size}",
                             hint="give the model's inputs a size")  # fmt: skip
        reach = (kernel[d] - 1) * dilations[d] + 1
        total = max(0, (-(-size // strides[d]) - 1) * strides[d] + reach - size)
        small, large = total // 2, total - total // 2
        before.append(large if auto == "SAME_LOWER" else small)
        after.append(small if auto == "SAME_LOWER" else large)
    return (*before, *after)


def kernel_of(site: Site, weight: int = 1) -> tuple[int, ...]:
    """The size of filters, which `kernel_shape` may only repeat."""
    kernel = site.type(weight).with_shape(site.type(weight).shape[2:]).sizes
    claimed = site.attr("kernel_shape", kernel)
    if tuple(claimed) != kernel:
        raise site.error(f"kernel_shape is {list(claimed)}, but the filters are {list(kernel)}")
    return kernel


@onnx_op("Conv")
def _conv(site: Site) -> str:
    inputs = [site[0], site[1], *([site[2]] if site.has(2) else [])]
    return site.add("conv", *inputs, groups=site.attr("group", 1), **window(site, kernel_of(site)))


@onnx_op("ConvTranspose")
def _conv_transpose(site: Site) -> str:
    kernel, sizes = kernel_of(site), site.type().with_shape(site.type().shape[2:]).sizes
    attrs = window(site, kernel, transposed=True)
    rank, auto = len(kernel), site.attr("auto_pad", "NOTSET")
    strides, dilations = attrs["strides"], attrs["dilations"]
    extra = site.attr("output_padding", (0,) * rank)
    wanted = site.attrs.get("output_shape")
    if wanted is None and auto in ("SAME_UPPER", "SAME_LOWER"):
        wanted = [s * strides[d] for d, s in enumerate(sizes)]
    if wanted is not None:
        attrs["pads"], extra = _fitted(sizes, wanted[-rank:], kernel, strides, dilations,
                                       extra, auto)  # fmt: skip
    inputs = [site[0], site[1], *([site[2]] if site.has(2) else [])]
    return site.add("conv_transpose", *inputs, groups=site.attr("group", 1), output_padding=extra,
                    **attrs)  # fmt: skip


def _fitted(
    sizes: Any, wanted: Any, kernel: Any, strides: Any, dilations: Any, extra: Any, auto: str
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Pads, and elements behind, that make a transposed convolution give a wanted size."""
    before, after, behind = list[int](), list[int](), list[int]()
    for d, size in enumerate(sizes):
        whole = (size - 1) * strides[d] + (kernel[d] - 1) * dilations[d] + 1 + extra[d]
        total = whole - wanted[d]
        behind.append(extra[d] + max(0, -total))
        total = max(0, total)
        small, large = total // 2, total - total // 2
        before.append(small if auto == "SAME_UPPER" else large)
        after.append(large if auto == "SAME_UPPER" else small)
    return (*before, *after), tuple(behind)


@onnx_op("Col2Im")
def _col_to_image(site: Site) -> str:
    """Windows added up where they overlap: a transposed convolution with one-hot filters."""
    image, kernel = site.ints(1, "the size of the image"), site.ints(2, "the size of a window")
    batch, columns, _ = site.type().shape
    rank, window_size = len(kernel), prod(kernel)
    strides, dilations = site.attr("strides", (1,) * rank), site.attr("dilations", (1,) * rank)
    pads = site.attr("pads", (0,) * (2 * rank))
    span = [(k - 1) * d + 1 for k, d in zip(kernel, dilations, strict=True)]
    padded = [size + pads[d] + pads[rank + d] for d, size in enumerate(image)]
    places = [(padded[d] - span[d]) // strides[d] + 1 for d in range(rank)]
    channels = int(columns) // window_size  # type: ignore[arg-type]
    # What a stride does not reach stays zero.
    rest = [padded[d] - span[d] - (places[d] - 1) * strides[d] for d in range(rank)]
    one_hot = np.eye(window_size, dtype=site.type().dtype.numpy)
    filters = np.tile(one_hot.reshape(window_size, 1, *kernel), (channels, *[1] * (rank + 1)))
    value = site.reshape(site[0], [batch, channels * window_size, *places])
    return site.add("conv_transpose", value, site.param(filters), groups=channels,
                    strides=strides, pads=pads, dilations=dilations,
                    output_padding=tuple(rest))  # fmt: skip


@onnx_op("MaxPool")
def _max_pool(site: Site) -> list[str]:
    kernel = site.attr("kernel_shape")
    attrs = {**window(site, kernel), "kernel": kernel, "ceil": bool(site.attr("ceil_mode", 0))}
    made = [site.add("max_pool", site[0], **attrs)]
    if len(site.node.output) > 1:
        order = bool(site.attr("storage_order", 0))
        made.append(site.add("max_pool_indices", site[0], column_major=order, **attrs))
    return made


@onnx_op("AveragePool")
def _average_pool(site: Site) -> str:
    kernel = site.attr("kernel_shape")
    return site.add("avg_pool", site[0], kernel=kernel, ceil=bool(site.attr("ceil_mode", 0)),
                    count_include_pad=bool(site.attr("count_include_pad", 0)),
                    **window(site, kernel))  # fmt: skip


@onnx_op("GlobalAveragePool", "GlobalMaxPool")
def _global_pool(site: Site) -> str:
    op = "mean" if site.node.op_type == "GlobalAveragePool" else "max"
    return site.add(op, site[0], axes=tuple(range(2, site.rank)), keepdims=True)


@onnx_op("LpPool", "GlobalLpPool")
def _lp_pool(site: Site) -> str:
    """The mean of powers, times the size of the window, to the reciprocal power."""
    p = site.attr("p", 2)
    power = site.add("power", site.add("abs", site[0]), site.scalar(p, site[0]))
    if site.node.op_type == "GlobalLpPool":
        total = site.add("sum", power, axes=tuple(range(2, site.rank)), keepdims=True)
    else:
        kernel = site.attr("kernel_shape")
        mean = site.add("avg_pool", power, kernel=kernel, ceil=bool(site.attr("ceil_mode", 0)),
                        count_include_pad=True, **window(site, kernel))  # fmt: skip
        total = site.add("multiply", mean, site.scalar(math.prod(kernel), mean))
    return site.add("power", total, site.scalar(1 / p, total))


@onnx_op("MatMul")
def _matmul(site: Site) -> str:
    return site.add("matmul", site[0], site[1])


@onnx_op("Gemm")
def _gemm(site: Site) -> str:
    """`alpha * A @ B + beta * C`; a constant right operand is kept as (columns, inner)."""
    a, b = site[0], site[1]
    if site.attr("transA", 0):
        a = site.add("transpose", a, perm=(1, 0))
    made = site.add("matmul", a, b, transpose_b=bool(site.attr("transB", 0)))
    alpha, beta = site.attr("alpha", 1.0), site.attr("beta", 1.0)
    if alpha != 1:
        made = site.add("multiply", made, site.scalar(alpha, made))
    if not site.has(2) or beta == 0:
        return made
    c = site[2]
    if beta != 1:
        c = site.add("multiply", c, site.scalar(beta, c))
    return site.add("add", made, c)


@onnx_op("BatchNormalization")
def _batch_norm(site: Site) -> list[str]:
    if site.attr("training_mode", 0) or (site.opset < 14 and len(site.node.output) > 1):
        return _batch_norm_training(site)
    if site.opset < 9 and site.attr("spatial", 1) == 0:
        raise site.error("batch normalization for each element (spatial = 0) is not supported")
    inputs = [site[n] for n in range(5)]
    return [site.add("batch_norm", *inputs, epsilon=site.attr("epsilon", 1e-5))]


def _batch_norm_training(site: Site) -> list[str]:
    """Figures of the batch itself, and running ones that move towards them."""
    x, axes = site[0], tuple(d for d in range(site.rank) if d != 1)
    momentum = site.attr("momentum", 0.9)
    mean = site.add("mean", x, axes=axes, keepdims=True)
    centered = site.add("subtract", x, mean)
    variance = site.add("mean", site.add("multiply", centered, centered), axes=axes, keepdims=True)
    channels: list[Dim] = [site.type().shape[1]]
    flat_mean, flat_variance = site.reshape(mean, channels), site.reshape(variance, channels)
    made = site.add("batch_norm", x, site[1], site[2], flat_mean, flat_variance,
                    epsilon=site.attr("epsilon", 1e-5))  # fmt: skip

    def moved(old: str, new: str) -> str:
        kept = site.add("multiply", old, site.scalar(momentum, old))
        return site.add("add", kept, site.add("multiply", new, site.scalar(1 - momentum, new)))

    return [made, moved(site[3], flat_mean), moved(site[4], flat_variance)]


@onnx_op("InstanceNormalization")
def _instance_norm(site: Site) -> str:
    return site.add("instance_norm", site[0], site[1], site[2],
                    epsilon=site.attr("epsilon", 1e-5))  # fmt: skip


@onnx_op("GroupNormalization")
def _group_norm(site: Site) -> str:
    return site.add("group_norm", site[0], site[1], site[2], groups=site.attr("num_groups"),
                    epsilon=site.attr("epsilon", 1e-5))  # fmt: skip


@onnx_op("LayerNormalization")
def _layer_norm(site: Site) -> list[str]:
    inputs = [site[0], site[1], *([site[2]] if site.has(2) else [])]
    axis, epsilon = site.attr("axis", -1), site.attr("epsilon", 1e-5)
    made = [site.add("layer_norm", *inputs, axis=axis, epsilon=epsilon)]
    if len(site.node.output) > 1:
        axes = tuple(range(axis + site.rank if axis < 0 else axis, site.rank))
        mean = site.add("mean", site[0], axes=axes, keepdims=True)
        centered = site.add("subtract", site[0], mean)
        square = site.add("multiply", centered, centered)
        variance = site.add("mean", square, axes=axes, keepdims=True)
        share = site.add("add", variance, site.scalar(epsilon, variance))
        made += [mean, site.add("rsqrt", share)]
    return made[: len(site.node.output)]


@onnx_op("RMSNormalization")
def _rms_norm(site: Site) -> str:
    return site.add("rms_norm", site[0], site[1], axis=site.attr("axis", -1),
                    epsilon=site.attr("epsilon", 1e-5))  # fmt: skip


@onnx_op("LRN")
def _lrn(site: Site) -> str:
    return site.add("lrn", site[0], size=site.attr("size"), alpha=site.attr("alpha", 1e-4),
                    beta=site.attr("beta", 0.75), bias=site.attr("bias", 1.0))  # fmt: skip


@onnx_op("LpNormalization")
def _lp_norm(site: Site) -> str:
    axis, p = site.attr("axis", -1), site.attr("p", 2)
    size = site.add("abs", site[0]) if p == 1 else site.add("multiply", site[0], site[0])
    total = site.add("sum", size, axes=(axis,), keepdims=True)
    total = total if p == 1 else site.add("sqrt", total)
    zero = site.add("equal", total, site.scalar(0, total))
    safe = site.add("where", zero, site.scalar(1, total), total)
    return site.add("divide", site[0], safe)
