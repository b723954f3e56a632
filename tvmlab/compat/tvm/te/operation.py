"""Names of operations."""

from __future__ import annotations

from tvmlab.compat.tvm.missing import missing
from tvmlab.te import ComputeOp, ExternOp, Operation, PlaceholderOp, ScanOp

__all__ = ["ComputeOp", "ExternOp", "Operation", "PlaceholderOp", "ScanOp"]

__getattr__ = missing("tvm.te.operation")
