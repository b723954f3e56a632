"""Cost models: which of two schedules is faster, and about how fast."""

from .booster import BoosterOptions
from .calibration import Calibration
from .cost_model import Contribution, CostModel, HeldOut
from .learner import Learner
from .ranking import RankReport, kendall, rank_report, spearman

__all__ = [
    "BoosterOptions",
    "Calibration",
    "Contribution",
    "CostModel",
    "HeldOut",
    "Learner",
    "RankReport",
    "kendall",
    "rank_report",
    "spearman",
]
