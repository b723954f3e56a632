"""Importing ONNX models. Needs the package onnx (`pip install "tvmlab[onnx]"`)."""

from . import ops_elementwise, ops_gather, ops_layers, ops_reduce, ops_tensor
from .importer import from_onnx
from .registry import CONVERTERS, NeedsValue, Site, onnx_op

# Importing these modules filled the table; each is named so that none is missed.
FAMILIES = (ops_elementwise, ops_gather, ops_layers, ops_reduce, ops_tensor)

__all__ = ["CONVERTERS", "FAMILIES", "NeedsValue", "Site", "from_onnx", "onnx_op"]
