"""Measuring schedules in worker processes, loop-nest features, cost models, exploring a space."""

from tvmlab.target import machine_description, machine_id

from .booster import BoosterOptions
from .calibration import Calibration
from .cost_model import Contribution, CostModel, HeldOut
from .decisions import Decisions
from .explore import Record, explore_space, predicted_vs_measured
from .features import Features, extract_batch, extract_features, feature_names
from .learner import Learner
from .log import RecordLog
from .measurer import Measurer, Runner
from .quiet import QuietLock, Usage
from .ranking import RankReport, kendall, rank_report, spearman
from .request import MeasureRequest, MeasureSettings
from .result import MeasureResult, MeasureStatus
from .space import ScheduleSpace, random_schedule

__all__ = [
    "BoosterOptions",
    "Calibration",
    "Contribution",
    "CostModel",
    "Decisions",
    "Features",
    "HeldOut",
    "Learner",
    "MeasureRequest",
    "MeasureResult",
    "MeasureSettings",
    "MeasureStatus",
    "Measurer",
    "QuietLock",
    "RankReport",
    "Record",
    "RecordLog",
    "Runner",
    "ScheduleSpace",
    "Usage",
    "explore_space",
    "extract_batch",
    "extract_features",
    "feature_names",
    "kendall",
    "machine_description",
    "machine_id",
    "predicted_vs_measured",
    "random_schedule",
    "rank_report",
    "spearman",
]
