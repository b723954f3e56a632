"""Where predictions were off: a region of predicted against measured, and what its schedules share.

A trait is a feature of the cost model that tells the schedules inside from all others: of a random
pair, one of either side, it is the larger (or the smaller) one in most cases. Ties count half.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tvmlab.tune import Features, feature_names

from .wording import plural

MOST_LISTED = 40
_MOST_TRAITS = 6
_TELLING = 0.75
_LEAST = 2

Region = tuple[float, float, float, float]
"""Least and most measured, then least and most predicted throughput."""


@dataclass(frozen=True, slots=True)
class Residual:
    """A schedule of the plot; `ratio` is measured over predicted throughput."""

    point: str
    label: str
    measured: float
    predicted: float
    ratio: float
    opens: bool


@dataclass(frozen=True, slots=True)
class Trait:
    """What schedules inside have in common.

    Attributes
    ----------
    inside, outside
        The median of the feature on either side.
    share
        Of all pairs of one inside and one outside, how many the feature tells apart.
    """

    feature: str
    inside: float
    outside: float
    share: float


@dataclass(frozen=True, slots=True)
class ResidualsReport:
    """The schedules of a region, farthest off first, and what they share."""

    chosen: str
    inside: int
    outside: int
    listed: tuple[Residual, ...]
    traits: tuple[Trait, ...]
    message: str


def residuals_report(
    points: Sequence[Residual],
    chosen: str,
    region: Region | None,
    features: Callable[[str], Features | None],
) -> ResidualsReport:
    """Look at some of the points.

    Parameters
    ----------
    chosen
        "region"; or "off", "fast", "slow": the tenth that is farthest off, faster or slower than
        predicted.
    features
        The features of the schedule behind a point; None if its steps were not kept.
    """
    inside = _inside(points, chosen, region)
    names = {p.point for p in inside}
    outside = [p for p in points if p.point not in names]
    listed = sorted(inside, key=lambda p: -abs(math.log(p.ratio)))[:MOST_LISTED]
    if not points:
        message = "No schedule has been both predicted and measured yet: train the model first."
    elif not inside:
        message = "No schedule lies there."
    elif min(len(inside), len(outside)) < _LEAST:
        message = f"With {plural(_LEAST, 'schedule')} or more on either side they can be compared."
    else:
        message = ""
    traits = () if message else tuple(_traits(inside, outside, features))
    if not message and not traits:
        message = "No feature tells these schedules from the others."
    return ResidualsReport(chosen, len(inside), len(outside), tuple(listed), traits, message)


def _inside(points: Sequence[Residual], chosen: str, region: Region | None) -> list[Residual]:
    if chosen == "region" and region is not None:
        left, right, low, high = region
        return [p for p in points if left <= p.measured <= right and low <= p.predicted <= high]
    off = _OFF.get(chosen, _OFF["off"])
    ordered = sorted(points, key=off, reverse=True)
    return [p for p in ordered[: max(_LEAST, len(points) // 10)] if off(p) > 0]


def _faster(point: Residual) -> float:
    return math.log(point.ratio)


_OFF: dict[str, Callable[[Residual], float]] = {
    "off": lambda point: abs(_faster(point)),
    "fast": _faster,
    "slow": lambda point: -_faster(point),
}


def _traits(
    inside: Sequence[Residual],
    outside: Sequence[Residual],
    features: Callable[[str], Features | None],
) -> list[Trait]:
    a, b = _matrix(inside, features), _matrix(outside, features)
    if len(a) < _LEAST or len(b) < _LEAST:
        return []
    more = (a[:, None, :] > b[None, :, :]).mean(axis=(0, 1))
    less = (a[:, None, :] < b[None, :, :]).mean(axis=(0, 1))
    share = np.maximum(more, less) + (1 - more - less) / 2
    found: list[Trait] = []
    seen: set[bytes] = set()
    order: list[int] = np.argsort(-share, kind="stable").tolist()
    for n in order:
        column = np.concatenate([a[:, n], b[:, n]])
        ranks = np.unique(column, return_inverse=True)[1].tobytes()
        if share[n] < _TELLING or len(found) == _MOST_TRAITS:
            break
        if ranks in seen:  # another feature that says the same of these schedules
            continue
        seen.add(ranks)
        here, there = float(np.median(a[:, n])), float(np.median(b[:, n]))
        words = feature_words(feature_names()[n])
        found.append(Trait(words, here, there, float(share[n])))
    return found


def _matrix(
    points: Sequence[Residual], features: Callable[[str], Features | None]
) -> NDArray[np.float32]:
    rows = [row for p in points[:_MOST_ROWS] if (row := features(p.point)) is not None]
    return np.array(rows, np.float32).reshape(len(rows), -1)


_MOST_ROWS = 200
"""More are not looked at: each has to be scheduled again."""


def feature_words(feature: str) -> str:
    """A feature's name as it is read."""
    return feature.replace("_", " ").replace(".", ": ")
