"""Cost models: which of two schedules is faster, and about how fast."""

from .booster import BoosterOptions, has_xgboost, require_xgboost
from .calibration import Calibration
from .contribution import Contribution
from .cost_model import CostModel
from .ensemble import Ensemble
from .learner import Learner
from .pretrained import corrected, pretrain, pretrained_model, transfer_reports
from .prior import AnalyticModel
from .ranking import RankReport, kendall, rank_report, spearman
from .training import LEAST_ROWS, HeldOut

__all__ = [
    "LEAST_ROWS",
    "AnalyticModel",
    "BoosterOptions",
    "Calibration",
    "Contribution",
    "CostModel",
    "Ensemble",
    "HeldOut",
    "Learner",
    "RankReport",
    "corrected",
    "has_xgboost",
    "kendall",
    "pretrain",
    "pretrained_model",
    "rank_report",
    "require_xgboost",
    "spearman",
    "transfer_reports",
]
