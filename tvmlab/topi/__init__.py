"""Operators: tensor expressions over tensors, and some with a default schedule.

>>> y = topi.relu(topi.add(topi.conv2d(data, weight, padding="SAME"), bias))
"""

from . import tag
from .broadcast import (
    add,
    broadcast_to,
    divide,
    equal,
    floor_divide,
    greater,
    greater_equal,
    less,
    less_equal,
    maximum,
    minimum,
    mod,
    multiply,
    not_equal,
    power,
    subtract,
)  # fmt: skip
from .conv2d import conv2d_nchw, schedule_conv2d_nchw
from .conv_schedule import schedule_conv
from .convolution import conv1d, conv2d, conv3d, depthwise_conv2d
from .dot_matmul import matmul_bf16, matmul_int8, schedule_dot_matmul
from .elementwise import (
    abs,
    cast,
    ceil,
    clip,
    cos,
    erf,
    exp,
    floor,
    full,
    full_like,
    identity,
    leaky_relu,
    log,
    negative,
    relu,
    round,
    rsqrt,
    sigmoid,
    sin,
    sqrt,
    tan,
    tanh,
    trunc,
)  # fmt: skip
from .layers import batch_norm, bias_add, dense, log_softmax, softmax
from .layout import Layout, channel_block, layout_transform, pack_array
from .matmul import matmul, schedule_matmul
from .pooling import global_pool, pool2d
from .reduction import max, min, prod, sum
from .shape import expand_dims, flatten, pad, reshape, transpose

__all__ = [
    "Layout", "abs", "add", "batch_norm", "bias_add", "broadcast_to", "cast", "ceil",
    "channel_block", "clip", "conv1d", "conv2d", "conv2d_nchw", "conv3d", "cos", "dense",
    "depthwise_conv2d", "divide", "equal", "erf", "exp", "expand_dims", "flatten", "floor",
    "floor_divide", "full", "full_like", "global_pool", "greater", "greater_equal", "identity",
    "layout_transform", "leaky_relu", "less", "less_equal", "log", "log_softmax", "matmul",
    "matmul_bf16", "matmul_int8", "max", "maximum", "min", "minimum", "mod", "multiply", "negative",
    "not_equal", "pack_array", "pad", "pool2d", "power", "prod", "relu", "reshape", "round",
    "rsqrt", "schedule_conv", "schedule_conv2d_nchw", "schedule_dot_matmul", "schedule_matmul",
    "sigmoid", "sin", "softmax", "sqrt", "subtract", "sum", "tag", "tan", "tanh", "transpose",
    "trunc",
]  # fmt: skip
