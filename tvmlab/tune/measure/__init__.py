"""Measuring programs in worker processes: requests, results, and who runs them."""

from .measurer import Measurer, Runner, busy_workers, while_nobody_times
from .quiet import QuietLock, Usage
from .request import MeasureRequest, MeasureSettings
from .result import MeasureResult, MeasureStatus

__all__ = [
    "MeasureRequest",
    "MeasureResult",
    "MeasureSettings",
    "MeasureStatus",
    "Measurer",
    "QuietLock",
    "Runner",
    "Usage",
    "busy_workers",
    "while_nobody_times",
]
