"""Operators: each a tensor expression with a default schedule of public primitives."""

from .conv2d import conv2d_nchw, schedule_conv2d_nchw
from .matmul import matmul, schedule_matmul

__all__ = ["conv2d_nchw", "matmul", "schedule_conv2d_nchw", "schedule_matmul"]
