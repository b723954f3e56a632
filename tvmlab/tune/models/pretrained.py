"""The model that tvmlab comes with: from other computations it knows what makes a schedule fast.

As in TenSet (Zheng et al., 2021) a model is fitted beforehand to schedules of many computations; a
search corrects it by what it measures itself. `tvmlab pretrain` makes the file that is shipped.

>>> model = corrected(pretrained_model("cpu"))
>>> model.predict(features)
array([...])
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from importlib import resources

import numpy as np
from numpy.typing import NDArray

from tvmlab.support import InternalError, ParseError
from tvmlab.target import TargetLike

from .booster import BoosterOptions
from .cost_model import CostModel
from .prior import AnalyticModel
from .ranking import RankReport, rank_report

_FILE = "pretrained.json.gz"
_OPTIONS = BoosterOptions(rounds=300, depth=6)
_CORRECTED = BoosterOptions(rounds=40)
"""A model that knows much is corrected by fewer trees than one that knows nothing needs."""
_FOLDS = 6


def pretrained_model(target: TargetLike = "cpu") -> CostModel:
    """The shipped model, over the analytic model of a machine.

    Raises
    ------
    OptionError
        If XGBoost is not installed.
    """
    return _shipped().on(AnalyticModel(target))


def corrected(prior: CostModel | AnalyticModel) -> CostModel:
    """A model that is to learn, from measurements, what another has wrong."""
    options = _CORRECTED if isinstance(prior, CostModel) else None
    return CostModel(options, hold_out=False, prior=prior)


def pretrain(
    features: NDArray[np.float32],
    gflops: NDArray[np.float64],
    groups: Sequence[str],
    target: TargetLike = "cpu",
) -> CostModel:
    """A model of measured schedules of many computations, for others to begin with.

    Parameters
    ----------
    features, gflops, groups
        As `CostModel.fit` takes them.
    target
        The machine that they were measured on.
    """
    model = CostModel(_OPTIONS, hold_out=False, prior=AnalyticModel(target))
    model.fit(features, gflops, groups)
    return model


def transfer_reports(
    features: NDArray[np.float32],
    gflops: NDArray[np.float64],
    groups: Sequence[str],
    target: TargetLike = "cpu",
) -> dict[str, RankReport]:
    """How well schedules of each computation are ordered by a model that has not seen any of it.

    Empty for a single computation: then there is nothing to learn from.
    """
    of_row = np.array(groups)
    names = np.unique(of_row)
    folds = min(_FOLDS, len(names))
    found: dict[str, RankReport] = {}
    for fold in range(folds if folds > 1 else 0):
        held = names[fold::folds]
        learned = ~np.isin(of_row, held)
        model = pretrain(
            features[learned], gflops[learned], [str(g) for g in of_row[learned]], target
        )
        for name in held:
            scores = model.predict(features[of_row == name])
            if scores is not None:
                found[str(name)] = rank_report(scores, gflops[of_row == name])
    return found


@cache
def _shipped() -> CostModel:
    with resources.as_file(resources.files("tvmlab.tune.models").joinpath(_FILE)) as path:
        try:
            return CostModel.load(path)
        except ParseError as error:
            raise InternalError(
                f"the cost model that tvmlab comes with does not fit it: {error.message}",
                hint="`tvmlab pretrain FILE` makes another, for `tvmlab tune --model FILE`",
            ) from error
