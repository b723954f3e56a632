"""What was measured, kept: an SQLite file that tuners share, and JSON lines to exchange."""

from .best import best, lookup
from .database import TuningLog, default_log_path
from .lines import RecordLog
from .trial import Trial, Workload, target_key, throughput, workload_of

__all__ = [
    "RecordLog",
    "Trial",
    "TuningLog",
    "Workload",
    "best",
    "default_log_path",
    "lookup",
    "target_key",
    "throughput",
    "workload_of",
]
