"""Outliers of a model: which are chosen, and what tells them from the others."""

from __future__ import annotations

import numpy as np
import pytest

from tvmlab.inspect import Residual, residuals_report
from tvmlab.tune import Features, feature_names


def points(count: int = 30) -> list[Residual]:
    """Every fifth schedule is half as fast as predicted, all others as predicted."""
    return [
        Residual(f"P{n}", f"schedule {n}", 10.0 + n, (10.0 + n) * (2.0 if n % 5 == 0 else 1.0),
                 0.5 if n % 5 == 0 else 1.0, True)
        for n in range(count)
    ]  # fmt: skip


def features(point: str) -> Features:
    """Feature 3 is what the outliers share; feature 4 says the same, feature 5 nothing."""
    n = int(point[1:])
    row = np.zeros(len(feature_names()), np.float32)
    row[3], row[4], row[5] = n % 5 == 0, 7 * (n % 5 == 0), n % 3
    return row


def test_the_slow_ones_share_what_was_planted() -> None:
    report = residuals_report(points(), "slow", None, features)
    assert (report.inside, report.outside) == (3, 27)
    assert all(p.ratio == 0.5 for p in report.listed)
    names = [t.feature for t in report.traits]
    words = feature_names()[3].replace("_", " ").replace(".", ": ")
    assert names[0] == words
    assert len(names) == len(set(names))
    assert (report.traits[0].inside, report.traits[0].outside) == (1.0, 0.0)
    assert report.traits[0].share > 0.9
    assert report.message == ""


def test_a_region_is_what_lies_in_it() -> None:
    report = residuals_report(points(), "region", (0.0, 25.0, 15.0, 24.0), features)
    inside = [p for p in points() if p.measured <= 25 and 15 <= p.predicted <= 24]
    assert {p.point for p in report.listed} == {p.point for p in inside}


@pytest.mark.parametrize(
    ("region", "message"),
    [((90.0, 99.0, 0.0, 1.0), "No schedule lies there"), ((10.0, 10.5, 0.0, 99.0), "either side")],
)
def test_too_few_say_so(region: tuple[float, float, float, float], message: str) -> None:
    assert message in residuals_report(points(), "region", region, features).message


def test_without_points_the_way_on_is_told() -> None:
    assert "train the model" in residuals_report([], "off", None, features).message


def test_schedules_alike_have_nothing_to_tell() -> None:
    alike = np.zeros(len(feature_names()), np.float32)
    report = residuals_report(points(), "slow", None, lambda _: alike)
    assert report.traits == ()
    assert "No feature tells" in report.message
