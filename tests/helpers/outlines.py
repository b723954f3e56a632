"""Features of many points at once against those of each point's schedule."""

from __future__ import annotations

import numpy as np

from tvmlab.support import ScheduleError
from tvmlab.tune import Points, Space, extract_features, feature_names


def assert_features_of_schedules(space: Space, points: Points) -> None:
    """What a space says of points is what their schedules say, for twelve of them or more."""
    rows = space.features(points)
    assert space.outlined, space.not_outlined
    checked = 0
    for point, row in zip(points, rows, strict=True):
        try:
            schedule = space.schedule(point)
        except ScheduleError:
            continue
        checked += 1
        own = extract_features(schedule.program, space.target.num_threads)
        differing = np.flatnonzero(~np.isclose(row, own, rtol=1e-4, atol=1e-4))
        told = {feature_names()[int(n)]: (row[n], own[n]) for n in list(differing)[:6]}
        assert not told, (space.values(point), told)
    assert checked >= 12
