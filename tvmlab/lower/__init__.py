"""Lowering: from a scheduled program of blocks to plain loops, vectors and flat buffers.

`pipeline.PIPELINE` is the list of passes, read from top to bottom; it loads at its first use.
"""

from typing import TYPE_CHECKING

from tvmlab.support import on_demand

from .options import LowerOptions, VectorUnit

if TYPE_CHECKING:
    from .pipeline import PIPELINE, Lowered, Pass, PassRecord, Setting, lower
    from .storage_use import StorageReport, StorageUse, storage_report

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

__getattr__ = on_demand(
    __name__,
    {
        "pipeline": ["PIPELINE", "Lowered", "Pass", "PassRecord", "Setting", "lower"],
        "storage_use": ["StorageReport", "StorageUse", "storage_report"],
    },
)
