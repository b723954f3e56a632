"""Converters of functions of single elements and of elements at the same place."""

from __future__ import annotations

import math
from functools import reduce
from typing import Any

import numpy as np

from .registry import Site, onnx_op, same_name

same_name({
    "Abs": "abs", "Acos": "acos", "Acosh": "acosh", "Asin": "asin", "Asinh": "asinh",
    "Atan": "atan", "Atanh": "atanh", "Ceil": "ceil", "Cos": "cos", "Cosh": "cosh", "Erf": "erf",
    "Exp": "exp", "Floor": "floor", "Identity": "identity", "IsNaN": "is_nan", "Log": "log",
    "Neg": "negative", "Not": "logical_not", "Reciprocal": "reciprocal", "Relu": "relu",
    "Round": "round", "Sigmoid": "sigmoid", "Sign": "sign", "Sin": "sin", "Sinh": "sinh",
    "Softplus": "softplus", "Softsign": "softsign", "Sqrt": "sqrt", "Tan": "tan", "Tanh": "tanh",
    "HardSwish": "hard_swish", "Mish": "mish", "BitwiseNot": "bitwise_not",
    "And": "logical_and", "Or": "logical_or", "Xor": "logical_xor", "BitwiseAnd": "bitwise_and",
    "BitwiseOr": "bitwise_or", "BitwiseXor": "bitwise_xor", "Greater": "greater",
    "GreaterOrEqual": "greater_equal", "Less": "less", "LessOrEqual": "less_equal",
    "Equal": "equal", "Where": "where", "Pow": "power",
})  # fmt: skip


def _with_old_axis(site: Site) -> str:
    """The second input of opsets before 7, placed by `axis` under `broadcast`."""
    if not site.attrs.get("broadcast") or "axis" not in site.attrs:
        return site[1]
    axis, shape = int(site.attr("axis")), site.type(1).shape
    axis = axis + site.rank if axis < 0 else axis
    return site.reshape(site[1], [*shape, *[1] * (site.rank - axis - len(shape))])


@onnx_op("Add", "Sub", "Mul", "Div")
def _arithmetic(site: Site) -> str:
    op = {"Add": "add", "Sub": "subtract", "Mul": "multiply", "Div": "divide"}[site.node.op_type]
    return site.add(op, site[0], _with_old_axis(site))


@onnx_op("PRelu")
def _prelu(site: Site) -> str:
    return site.add("prelu", site[0], _slope(site))


def _slope(site: Site) -> str:
    """Slopes by channel, in models of before stretching was required to be from the right."""
    shape, image = site.type(1).shape, site.type().shape
    if len(shape) == 1 and len(image) > 2 and shape[0] == image[1] and image[-1] != shape[0]:
        return site.reshape(site[1], [*shape, *[1] * (len(image) - 2)])
    return site[1]


@onnx_op("Max", "Min", "Sum")
def _several(site: Site) -> str:
    op = {"Max": "maximum", "Min": "minimum", "Sum": "add"}[site.node.op_type]
    if len(site.inputs) == 1:
        return site.add("identity", site[0])
    return reduce(lambda a, b: site.add(op, a, b), [site[n] for n in range(len(site.inputs))])


@onnx_op("Mean")
def _mean(site: Site) -> str:
    total = reduce(lambda a, b: site.add("add", a, b), [site[n] for n in range(len(site.inputs))])
    return site.add("multiply", total, site.scalar(1 / len(site.inputs), total))


@onnx_op("Mod")
def _mod(site: Site) -> str:
    return site.add("mod", site[0], site[1], truncated=bool(site.attr("fmod", 0)))


@onnx_op("BitShift")
def _shift(site: Site) -> str:
    return site.add("shift", site[0], site[1], direction=site.attr("direction", "").lower())


@onnx_op("Elu", "Celu", "LeakyRelu", "ThresholdedRelu")
def _one_alpha(site: Site) -> str:
    op, default = {"Elu": ("elu", 1.0), "Celu": ("celu", 1.0), "LeakyRelu": ("leaky_relu", 0.01),
                   "ThresholdedRelu": ("thresholded_relu", 1.0)}[site.node.op_type]  # fmt: skip
    return site.add(op, site[0], alpha=site.attr("alpha", default))


@onnx_op("Selu")
def _selu(site: Site) -> str:
    return site.add("selu", site[0], alpha=site.attr("alpha", 1.6732632423543772),
                    gamma=site.attr("gamma", 1.0507009873554805))  # fmt: skip


@onnx_op("HardSigmoid")
def _hard_sigmoid(site: Site) -> str:
    return site.add("hard_sigmoid", site[0], alpha=site.attr("alpha", 0.2),
                    beta=site.attr("beta", 0.5))  # fmt: skip


@onnx_op("Shrink")
def _shrink(site: Site) -> str:
    return site.add("shrink", site[0], lambd=site.attr("lambd", 0.5), bias=site.attr("bias", 0.0))


@onnx_op("Gelu")
def _gelu(site: Site) -> str:
    return site.add("gelu", site[0], approximate=site.attr("approximate", "none"))


@onnx_op("Swish")
def _swish(site: Site) -> str:
    alpha = site.attr("alpha", 1.0)
    if alpha == 1.0:
        return site.add("silu", site[0])
    scaled = site.add("multiply", site[0], site.scalar(alpha, site[0]))
    return site.add("multiply", site[0], site.add("sigmoid", scaled))


@onnx_op("IsInf")
def _is_inf(site: Site) -> str:
    return site.add("is_inf", site[0], detect_negative=bool(site.attr("detect_negative", 1)),
                    detect_positive=bool(site.attr("detect_positive", 1)))  # fmt: skip


@onnx_op("Clip")
def _clip(site: Site) -> str:
    """Limits are attributes before opset 11, and inputs since; one not known is a minimum."""
    if site.opset < 11:
        return site.add("clip", site[0], low=site.attr("min", -math.inf),
                        high=site.attr("max", math.inf))  # fmt: skip
    limits: dict[str, Any] = {}
    value = site[0]
    for number, key, op in ((1, "low", "maximum"), (2, "high", "minimum")):
        if not site.has(number):
            continue
        known = site.known(number)
        if known is not None and known.size == 1:
            limits[key] = float(known.reshape(()))
        else:
            value = site.add(op, value, site[number])
    return site.add("clip", value, **limits) if limits or value == site[0] else value


@onnx_op("Cast", "CastLike")
def _cast(site: Site) -> str:
    like = site.node.op_type == "CastLike"
    to = site.type(1).dtype if like else site.element_type("to")
    return site.add("cast", site[0], dtype=to.name)


@onnx_op("Dropout")
def _dropout(site: Site) -> list[str]:
    training = site.known(2)
    if site.has(2) and training is None:
        site.constant(2, "whether it is in training")
    ratio = site.known(1)
    if training is not None and bool(training) and not (ratio is not None and float(ratio) == 0):
        raise site.error("dropout in training needs random numbers, which is not supported",
                         hint="export the model for inference")  # fmt: skip
    value = site.add("identity", site[0])
    if len(site.node.output) < 2:
        return [value]
    mask = np.ones(site.type().sizes, bool)
    return [value, site.param(mask)]


@onnx_op("Softmax", "LogSoftmax", "Hardmax")
def _softmax(site: Site) -> str:
    """Before opset 13, over all dimensions from `axis` on, taken as one."""
    op = {"Softmax": "softmax", "LogSoftmax": "log_softmax",
          "Hardmax": "hardmax"}[site.node.op_type]  # fmt: skip
    if site.opset >= 13:
        return site.add(op, site[0], axis=site.attr("axis", -1))
    axis, shape = site.attr("axis", 1), site.type().shape
    axis = axis + len(shape) if axis < 0 else axis
    if axis == len(shape) - 1:
        return site.add(op, site[0], axis=axis)
    inner = math.prod(site.type().with_shape(shape[axis:]).sizes)
    flat = site.reshape(site[0], [*shape[:axis], inner])
    return site.reshape(site.add(op, flat, axis=axis), shape)
