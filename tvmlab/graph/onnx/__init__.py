"""Importing ONNX models. Needs the package onnx (`pip install "tvmlab[onnx]"`)."""

from . import (
    ops_control,
    ops_elementwise,
    ops_gather,
    ops_image,
    ops_layers,
    ops_quantize,
    ops_recurrent,
    ops_recurrent_bytes,
    ops_reduce,
    ops_sample,
    ops_sequence,
    ops_signal,
    ops_tensor,
    ops_training,
)
from .importer import from_onnx
from .registry import CONVERTERS, NeedsValue, Site, onnx_op

# Importing these modules filled the table; each is named so that none is missed.
FAMILIES = (ops_control, ops_elementwise, ops_gather, ops_image, ops_layers, ops_quantize,
            ops_recurrent, ops_recurrent_bytes, ops_reduce, ops_sample, ops_sequence, ops_signal,
            ops_tensor, ops_training)  # fmt: skip

__all__ = ["CONVERTERS", "FAMILIES", "NeedsValue", "Site", "from_onnx", "onnx_op"]
