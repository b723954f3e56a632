"""Searching for fast schedules: spaces, features, models, searches, measurement, and the log."""

from tvmlab.target import machine_description, machine_id

from .explore import Record, explore_space, predicted_vs_measured
from .features import Features, extract_batch, extract_features, feature_names
from .log import RecordLog, Trial, TuningLog, Workload, best, default_log_path, lookup, workload_of
from .measure import (
    Measurer,
    MeasureRequest,
    MeasureResult,
    MeasureSettings,
    MeasureStatus,
    QuietLock,
    Runner,
    Usage,
    busy_workers,
)
from .models import (
    AnalyticModel,
    BoosterOptions,
    Calibration,
    Contribution,
    CostModel,
    Ensemble,
    HeldOut,
    Learner,
    RankReport,
    kendall,
    pretrain,
    pretrained_model,
    rank_report,
    spearman,
    transfer_reports,
)
from .pool import DaskRunner, worker_command
from .search import SEARCHES, Search, make_search
from .spaces import Knob, Knobs, Points, Space, generic_space, partial_space, random_schedule
from .starts import default_starts
from .tasks import TaskScheduler
from .tuner import TUNING_SETTINGS, Tuner

__all__ = [
    "SEARCHES",
    "TUNING_SETTINGS",
    "AnalyticModel",
    "BoosterOptions",
    "Calibration",
    "Contribution",
    "CostModel",
    "DaskRunner",
    "Ensemble",
    "Features",
    "HeldOut",
    "Knob",
    "Knobs",
    "Learner",
    "MeasureRequest",
    "MeasureResult",
    "MeasureSettings",
    "MeasureStatus",
    "Measurer",
    "Points",
    "QuietLock",
    "RankReport",
    "Record",
    "RecordLog",
    "Runner",
    "Search",
    "Space",
    "TaskScheduler",
    "Trial",
    "Tuner",
    "TuningLog",
    "Usage",
    "Workload",
    "best",
    "busy_workers",
    "default_log_path",
    "default_starts",
    "explore_space",
    "extract_batch",
    "extract_features",
    "feature_names",
    "generic_space",
    "kendall",
    "lookup",
    "machine_description",
    "machine_id",
    "make_search",
    "partial_space",
    "predicted_vs_measured",
    "pretrain",
    "pretrained_model",
    "random_schedule",
    "rank_report",
    "spearman",
    "transfer_reports",
    "worker_command",
    "workload_of",
]
