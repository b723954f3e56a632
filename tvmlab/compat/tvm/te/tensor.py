"""Names of tensors and operations."""

from __future__ import annotations

from tvmlab.compat.tvm.missing import missing
from tvmlab.te import ComputeOp, ExternOp, Operation, PlaceholderOp, ScanOp, Tensor

__all__ = ["ComputeOp", "ExternOp", "Operation", "PlaceholderOp", "ScanOp", "Tensor"]

__getattr__ = missing("tvm.te.tensor")
