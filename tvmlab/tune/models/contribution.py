"""What a model answers when it is asked why."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Contribution:
    """What one feature adds to a schedule's score."""

    feature: str
    value: float
    effect: float
