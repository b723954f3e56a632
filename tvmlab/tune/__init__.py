"""Measuring schedules in worker processes, loop-nest features, cost models, exploring a space."""

from .features import Features, extract_batch, extract_features, feature_names
from .log import RecordLog
from .machine import machine_description, machine_id
from .measurer import Measurer, Runner
from .request import MeasureRequest, MeasureSettings
from .result import MeasureResult, MeasureStatus

__all__ = [
    "Features",
    "MeasureRequest",
    "MeasureResult",
    "MeasureSettings",
    "MeasureStatus",
    "Measurer",
    "RecordLog",
    "Runner",
    "extract_batch",
    "extract_features",
    "feature_names",
    "machine_description",
    "machine_id",
]
