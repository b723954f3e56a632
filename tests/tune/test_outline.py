"""Features of thousands of points at once equal those of each point's own schedule."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from helpers.outlines import assert_features_of_schedules
from helpers.tune_programs import convolution, matmul
from helpers.tune_templates import blocked, blocked_space

from tvmlab import te
from tvmlab.support import OptionError
from tvmlab.tune import Knobs, Space, extract_features, feature_names


def accumulated(sch: Any, knobs: Knobs) -> None:
    """A local tile, written back, both operands copied."""
    write = sch.cache_write("C")
    i, j, k = sch.loops("C")
    io, ii = sch.split(i, knobs.split("i", 48, 2, most=12))
    jo, ji = sch.split(j, knobs.split("j", 48, 2, most=24))
    ko, ki = sch.split(k, knobs.split("k", 48, 2))
    sch.reorder(io, jo, ko, ki, ii, ji)
    back = sch.reverse_compute_at(write, jo)
    if back:
        sch.vectorize(back[-1])
    depth = knobs.choose("depth", ("none", "ko", "jo"))
    if depth != "none":
        copies = [sch.cache_read("C", name) for name in ("A", "B")]
        for copy in copies:
            sch.compute_at(copy, ko if depth == "ko" else jo)
    sch.decompose_reduction("C", ko)
    sch.unroll(ii)
    sch.parallel(io)


def convolved(sch: Any, knobs: Knobs) -> None:
    """Padding computed for each strip, channels and pixels in a tile."""
    write = sch.cache_write("conv2d", "local")
    n, f, y, x, rc, ry, rx = sch.loops("conv2d")
    fo, fi = sch.split(f, knobs.split("f", 8, 2))
    yo, yi = sch.split(y, knobs.split("y", 14, 2))
    xo, xi = sch.split(x, knobs.split("x", 14, 2))
    sch.reorder(n, yo, fo, yi, xo, rc, ry, rx, fi, xi)
    sch.reverse_compute_at(write, xo)
    if knobs.flag("strips"):
        sch.compute_at("pad_temp", yo)
    sch.decompose_reduction("conv2d", rc)
    sch.vectorize(xi)
    sch.unroll(fi)


def with_tails(sch: Any, knobs: Knobs) -> None:
    i, j, k = sch.loops("C")
    io, ii = sch.split(i, knobs.split("i", 30, 2, tail="tail"))
    jo, ji = sch.split(j, [None, knobs.number("j", (4, 8, 16))])
    sch.reorder(io, jo, k, ii, ji)
    sch.parallel(sch.fuse(io, jo))


SPACES: dict[str, Callable[[], Space]] = {
    "blocked": lambda: blocked_space(32),
    "accumulated": lambda: Space(matmul(48), accumulated),
    "convolution": lambda: Space(convolution(4, 14, 8), convolved),
    "strided": lambda: Space(convolution(4, 28, 8, stride=2), convolved),
    "tails": lambda: Space(matmul(30), with_tails),
}


@pytest.mark.parametrize("name", SPACES)
def test_columns_equal_schedules(name: str) -> None:
    space = SPACES[name]()
    points = space.sample(24, np.random.default_rng(3))
    assert_features_of_schedules(space, points)


def test_a_template_that_decides_by_numbers_is_scheduled_point_by_point() -> None:
    def template(sch: Any, knobs: Knobs) -> None:
        i, _, _ = sch.loops("C")
        factors = knobs.split("i", 16, 2)
        if factors[1] > 4:
            sch.split(i, factors)

    space = Space(matmul(16), template)
    rows = space.features(space.numbered(range(5)))
    assert not space.outlined
    assert "decides by a number" in space.not_outlined
    assert len({row.tobytes() for row in rows}) == 2  # 2 x 8 and one loop of 16


def test_a_step_that_is_not_outlined_is_told() -> None:
    def template(sch: Any, knobs: Knobs) -> None:
        _, _, k = sch.loops("C")
        ko, _ = sch.split(k, knobs.split("k", 16, 2))
        sch.rfactor("C", ko)

    space = Space(matmul(16), template)
    assert space.features(space.numbered([1])).any()
    assert space.not_outlined == "rfactor is not outlined"


def test_many_points_are_quick() -> None:
    """At least a thousand a second on a busy machine; the quiet figure is above twenty thousand."""
    from time import process_time

    space = Space(matmul(64), blocked(64))
    points = space.sample(4096, np.random.default_rng(0))
    space.features(points[:64])
    start = process_time()
    rows = space.features(points)
    assert process_time() - start < 4.0
    assert rows.shape == (4096, len(feature_names()))


def test_steps_without_numbers_may_be_of_any_kind() -> None:
    a = te.placeholder((32, 32), name="A")
    b = te.compute((32, 32), lambda i, j: a[i, j] * 2.0, name="B")
    c = te.compute((32, 32), lambda i, j: b[i, j] + 1.0, name="C")

    def template(sch: Any, knobs: Knobs) -> None:
        sch.compute_inline("B")
        i, j = sch.loops("C")
        _, ji = sch.split(j, knobs.split("j", 32, 2))
        sch.vectorize(ji)
        sch.parallel(i)

    space = Space(c, template)
    points = space.numbered(range(space.size))
    rows = space.features(points)
    assert space.outlined
    for point, row in zip(points, rows, strict=True):
        own = extract_features(space.schedule(point).program, space.target.num_threads)
        assert np.allclose(row, own, rtol=1e-4, atol=1e-4)


def test_a_template_without_knobs_is_refused() -> None:
    with pytest.raises(OptionError, match="no knob"):
        Space(matmul(16), lambda _sch, _knobs: None)
