"""Cost models: which of two schedules is faster, and about how fast."""

from .booster import BoosterOptions
from .calibration import Calibration
from .contribution import Contribution
from .cost_model import CostModel, HeldOut
from .ensemble import Ensemble
from .learner import Learner
from .prior import AnalyticModel
from .ranking import RankReport, kendall, rank_report, spearman

__all__ = [
    "AnalyticModel",
    "BoosterOptions",
    "Calibration",
    "Contribution",
    "CostModel",
    "Ensemble",
    "HeldOut",
    "Learner",
    "RankReport",
    "kendall",
    "rank_report",
    "spearman",
]
