"""Whether the machine still runs as fast as at first: one schedule measured again now and then."""

from __future__ import annotations

from dataclasses import replace

from .candidate import Candidate
from .measure import MeasureResult


class Clock:
    """Remembers the first good candidate, and says when it is to be measured again.

    Parameters
    ----------
    every
        After so many results; 0 never.
    """

    def __init__(self, every: int) -> None:
        self.every = every
        self.drift: float | None = None
        """How much slower the candidate runs than at first; None until it was measured again."""
        self._watched: Candidate | None = None
        self._first_seconds = 0.0
        self._since = 0

    def due(self, candidate: Candidate, result: MeasureResult) -> Candidate | None:
        """What to measure again now that a candidate was measured, if it is time."""
        self._since += 1
        if self._watched is None:
            if result.ok and self.every:
                self._watched = replace(candidate, reference=True)
                self._first_seconds, self._since = result.median or 0.0, 0
            return None
        if self._since < self.every:
            return None
        self._since = 0
        return self._watched

    def note(self, result: MeasureResult) -> bool:
        """Take in a repeated measurement; whether it says anything."""
        if result.median is None or not self._first_seconds:
            return False
        self.drift = result.median / self._first_seconds - 1.0
        return True
