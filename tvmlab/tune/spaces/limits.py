"""Limits of a space: points that no search needs to look at, such as tiles beyond the registers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .knobs import Knob
from .reader import Points

_TRIES = 64


@dataclass(frozen=True, slots=True)
class Limit:
    """A product of numbers that knobs choose is at most so much.

    Attributes
    ----------
    factors
        The knobs, and which of their numbers: `("vi", -1)` is the innermost factor of a split.
    """

    factors: tuple[tuple[str, int], ...]
    most: float


class Limits:
    """The limits of a space, asked about many points at once."""

    def __init__(self, knobs: Mapping[str, Knob], limits: Sequence[Limit]) -> None:
        places = {name: n for n, name in enumerate(knobs)}
        self._limits = [
            ([(places[name], knobs[name].numbers[:, part]) for name, part in limit.factors],
             limit.most)
            for limit in limits
        ]  # fmt: skip

    def allow(self, points: Points) -> NDArray[np.bool_]:
        """Which points are within all limits."""
        allowed = np.ones(len(points), dtype=bool)
        for factors, most in self._limits:
            product = np.ones(len(points))
            for place, numbers in factors:
                product *= numbers[points[:, place]]
            allowed &= product <= most
        return allowed

    def redrawn(self, points: Points, draw: Callable[[int], Points]) -> Points:
        """Points, with others drawn in the place of those beyond a limit.

        After many tries some may be left: limits are for what is hopeless, not for what is wrong.
        """
        for _ in range(_TRIES):
            beyond = np.flatnonzero(~self.allow(points))
            if not len(beyond):
                break
            points[beyond] = draw(len(beyond))
        return points

    def kept(self, points: Points, change: Callable[[NDArray[np.intp]], Points]) -> Points:
        """Each point changed, in a way that keeps to the limits if one is found.

        Parameters
        ----------
        change
            Makes a change of the points at some places, another one each time.
        """
        changed = points.copy()
        places = np.arange(len(points))
        for _ in range(_TRIES):
            proposed = change(places)
            fine = self.allow(proposed)
            changed[places[fine]] = proposed[fine]
            places = places[~fine]
            if not len(places):
                break
        return changed
