"""A point on its way from a search to the log."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tvmlab.schedule import Schedule

from .log import Trial, throughput
from .spaces import Points


@dataclass(slots=True)
class Candidate:
    """A point of a space, or a schedule that is none.

    Attributes
    ----------
    error
        Why its steps were refused.
    predicted
        What the model expected of it, in GFLOP/s.
    reference
        Whether it was measured before, and is only to tell whether the machine has changed.
    """

    point: Points | None
    schedule: Schedule | None
    program_hash: str = ""
    error: str = ""
    predicted: float | None = None
    features: NDArray[np.float32] | None = None
    reference: bool = False


def throughput_of(trial: Trial) -> float:
    """More is better; see `throughput`."""
    return throughput(trial.status, trial.gflops, trial.seconds)


def out_of_patience(trials: Sequence[Trial], patience: int | None) -> bool:
    """Whether so many trials in a row brought no gain."""
    if patience is None:
        return False
    since, top = 0, 0.0
    for trial in trials:
        value = throughput_of(trial)
        since = 0 if value > top else since + (trial.status != "refused")
        top = max(top, value)
    return since >= patience
