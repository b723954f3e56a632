"""Lowering: from a scheduled program of blocks to plain loops, vectors and flat buffers.

`pipeline.PIPELINE` is the list of passes, read from top to bottom.
"""

from .options import LowerOptions, VectorUnit
from .pipeline import PIPELINE, Lowered, Pass, PassRecord, Setting, lower
from .storage_report import StorageReport, StorageUse, storage_report

__all__ = [
    "PIPELINE",
    "LowerOptions",
    "Lowered",
    "Pass",
    "PassRecord",
    "Setting",
    "StorageReport",
    "StorageUse",
    "VectorUnit",
    "lower",
    "storage_report",
]
