"""Answers that a comparison of searches has already: no program is measured twice in one sitting.

Searches that begin from one seed try the same points at first, and several come by the same good
ones. What one of them measured is the answer to the others too, as in a benchmark by tables, and
counts as a trial. It must be as good as a measurement would be now: undisturbed, taken as carefully
as this search would, and the machine as fast then as now, which the repeated measurement of one
reference schedule tells.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from tvmlab.tune import MeasureResult, Trial

_STEADY = 0.04
"""How far readings of the reference may lie apart."""
_LEAST_REPEATS = 3
_FAR_BEHIND = 2.0
_LASTING = ("parse_error", "compile_error", "run_error", "wrong_result", "crash", "timeout")
"""Failures that come again each time."""


class Answers:
    """What was measured of one workload in this sitting, and how fast the machine was meanwhile."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[MeasureResult, str, int]] = {}
        self._readings: list[float] = []
        self.given = 0
        """How many trials were answered."""

    def read(self, reference_seconds: float) -> None:
        """Note a new measurement of the reference schedule."""
        self._readings.append(reference_seconds)

    @property
    def drift(self) -> float:
        """How far the slowest reading of the reference is above the fastest: 0.1 is 10 %."""
        return _apart(self._readings)

    def note(self, trial: Trial) -> None:
        """Keep what a trial measured, unless it was itself answered from here."""
        if trial.status == "refused" or not trial.program_hash:
            return
        result = trial.measurement()
        if not result.taken_from:
            self._known[trial.program_hash] = (result, trial.tuner, len(self._readings))

    def find(self, program_hash: str, rival_seconds: float) -> MeasureResult | None:
        """The result of a program, if it is as good as measuring it now would be."""
        known = self._known.get(program_hash)
        if known is None:
            return None
        result, tuner, reading = known
        steady = _apart(self._readings[max(0, reading - 1) :]) <= _STEADY
        if not steady or not _good_enough(result, rival_seconds):
            return None
        self.given += 1
        return replace(result, taken_from=tuner)


def _good_enough(result: MeasureResult, rival_seconds: float) -> bool:
    if not result.ok:
        return result.status in _LASTING
    if len(result.seconds) < _LEAST_REPEATS:  # a glance, which is enough for the hopeless
        return bool(rival_seconds) and (result.median or 0.0) > _FAR_BEHIND * rival_seconds
    return not result.disturbed


def _apart(readings: Sequence[float]) -> float:
    return max(readings) / min(readings) - 1.0 if readings and min(readings) > 0 else 0.0
