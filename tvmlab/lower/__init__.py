"""Lowering: from a scheduled program of blocks to plain loops, vectors and flat buffers.

`pipeline.PIPELINE` is the list of passes, read from top to bottom; it loads at its first use.
"""

from typing import TYPE_CHECKING

from tvmlab.support import on_demand

from .options import LowerOptions, VectorUnit

if TYPE_CHECKING:
    from .device_use import DeviceUse, device_uses
    from .pipeline import PIPELINE, Lowered, Pass, PassRecord, Setting, lower
    from .storage_use import StorageReport, StorageUse, storage_report

__all__ = [
    "PIPELINE",
    "DeviceUse",
    "LowerOptions",
    "Lowered",
    "Pass",
    "PassRecord",
    "Setting",
    "StorageReport",
    "StorageUse",
    "VectorUnit",
    "device_uses",
    "lower",
    "storage_report",
]

__getattr__ = on_demand(
    __name__,
    {
        "device_use": ["DeviceUse", "device_uses"],
        "pipeline": ["PIPELINE", "Lowered", "Pass", "PassRecord", "Setting", "lower"],
        "storage_use": ["StorageReport", "StorageUse", "storage_report"],
    },
)
