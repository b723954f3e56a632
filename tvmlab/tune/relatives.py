"""What was best for relatives of a workload: points of a space made from trials of others.

Two workloads are relatives if their spaces ask for the same knobs. Tiles that suit one suit the
other, whatever the sizes around them: the nearest options are taken, from the innermost factor out.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import log2
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .log import Trial, TuningLog, Workload
from .spaces import Knob, Points, Space

_RELATIVES = 4
_EACH = 2


def related_points(
    space: Space, own: Workload, log: TuningLog, target: str, machine: str
) -> Points:
    """The best points of the nearest relatives in a log, as points of this space."""
    found: list[Points] = []
    others = [w for key, w in log.workloads().items() if key != own.key]
    relatives = 0
    for other in sorted(others, key=lambda w: _distance(w, own)):
        points = _points(space, log.best_trials(other.key, target, machine, most=2 * _EACH))
        found += points[:_EACH]
        relatives += bool(points)
        if relatives == _RELATIVES:
            break
    rows = list(dict.fromkeys(tuple(int(n) for n in point) for point in found))
    return np.array(rows, np.int32).reshape(len(rows), len(space.knobs))


def _distance(one: Workload, other: Workload) -> float:
    return abs(log2(max(one.flops, 1.0) / max(other.flops, 1.0)))


def _points(space: Space, trials: Iterable[Trial]) -> list[Points]:
    points = [_point(space, trial.values) for trial in trials]
    return [point for point in points if point is not None]


def _point(space: Space, values: Mapping[str, Any]) -> Points | None:
    """The nearest point to the values of another space; None if that has other knobs."""
    if set(values) != set(space.knobs):
        return None
    places = [_nearest(knob, values[name]) for name, knob in space.knobs.items()]
    return None if None in places else np.array(places, np.int32)


def _nearest(knob: Knob, value: Any) -> int | None:
    """The place of the option that is most like a value."""
    plain: Any = tuple(value) if isinstance(value, list) else value  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]
    if plain in knob.options:
        return knob.place(plain)
    if not knob.numeric:
        return None
    wanted: NDArray[np.float64] = np.atleast_1d(np.asarray(plain, np.float64))
    if wanted.shape != knob.numbers.shape[1:]:
        return None
    # The outermost factor of a split is only what is left of the extent.
    first = 1 if len(wanted) > 1 else 0
    logs: NDArray[np.float64] = np.log2(knob.numbers[:, first:].astype(np.float64))
    gaps = np.abs(logs - np.log2(wanted[first:]))
    weights = np.exp2(np.arange(gaps.shape[1], dtype=np.float64))
    return int((gaps @ weights).argmin())
