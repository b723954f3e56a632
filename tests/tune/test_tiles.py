"""The generic space has what the operators' own schedules do, and keeps to what registers hold."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from helpers.outlines import assert_features_of_schedules
from helpers.tune_programs import convolution, matmul

from tvmlab import te, topi
from tvmlab.driver import lower
from tvmlab.ir import structural_equal
from tvmlab.schedule import Schedule
from tvmlab.target import CacheLevel, Target
from tvmlab.te import Tensor
from tvmlab.tune import Space, generic_space

_MACHINE = replace(
    Target.of("llvm -mtriple=x86_64-unknown-linux-gnu -mcpu=znver4 -num-threads=2"),
    caches=(CacheLevel(1, 32 << 10, 64, 1), CacheLevel(2, 1 << 20, 64, 1)),
)


def blocked(size: int, channels: int, outputs: int, stride: int = 1) -> Tensor:
    """A convolution of images and filters in blocks of 16 channels."""
    data = te.placeholder((1, channels // 16, size, size, 16), name="A")
    weight = te.placeholder((outputs // 16, channels // 16, 3, 3, 16, 16), name="W")
    return topi.conv2d(
        data, weight, stride, 1, layout="NCHW16c", kernel_layout="OIHW16i16o",
        out_layout="NCHW16c",
    )  # fmt: skip


def depthwise(size: int, channels: int, stride: int = 1) -> Tensor:
    data = te.placeholder((1, channels // 16, size, size, 16), name="A")
    weight = te.placeholder((channels // 16, 1, 3, 3, 16), name="W")
    return topi.conv2d(
        data, weight, stride, 1, layout="NCHW16c", groups=channels, kernel_layout="OIHW16o",
        out_layout="NCHW16c",
    )  # fmt: skip


def activated() -> Tensor:
    """A product with a bias and a bound behind it."""
    a, b = te.placeholder((48, 64), name="A"), te.placeholder((64, 48), name="B")
    bias = te.placeholder((48,), name="bias")
    r = te.reduce_axis(64, "k")
    c = te.compute((48, 48), lambda i, j: te.sum(a[i, r] * b[r, j], axis=r), name="C")
    d = te.compute((48, 48), lambda i, j: c[i, j] + bias[j], name="D")
    return te.compute((48, 48), lambda i, j: te.maximum(d[i, j], 0.0), name="E")


def by_hand(out: Tensor, rows: int, pixels: int, blocks: int, *, rows_first: bool) -> Schedule:
    """What operators of convolutions do: a tile of pixels and channels in registers.

    Parameters
    ----------
    rows, pixels, blocks
        Rows that a thread takes at once; pixels and blocks of channels of the tile.
    rows_first
        Whether threads share rows and copy their part of the image, or share channels.
    """
    sch = Schedule(out)
    write = sch.cache_write("conv2d", "local")
    n, j, k, l, m, *sums = sch.loops("conv2d")
    k, row = sch.split(k, [None, rows])
    l, pixel = sch.split(l, [None, pixels])
    j, block = sch.split(j, [None, blocks])
    outer = [n, k, j] if rows_first else [n, j, k]
    sch.reorder(*outer, row, l, *sums, pixel, block, m)
    written = sch.reverse_compute_at(write, l)
    depthwise = len(sums) == 2
    for loop in (*(sums if depthwise else ()), pixel, block, *written[:-1]):
        sch.unroll(loop)
    for loop in (m, written[-1]):
        sch.vectorize(loop)
    sch.decompose_reduction("conv2d", sums[0])
    thread = sch.fuse(*outer) if depthwise else sch.fuse(*outer[:2])
    if depthwise:
        sch.compute_inline("pad_temp")
    elif rows_first:
        sch.vectorize(sch.compute_at("pad_temp", thread)[-1])
    else:
        i, c, *_, last = sch.loops("pad_temp")
        sch.vectorize(last)
        sch.parallel(sch.fuse(i, c))
    sch.parallel(thread)
    return sch


_COMMON: dict[str, Any] = {
    "accumulator": True,
    "order": "S0 S1 R0 R1 S2",
    "inner_backwards": True,
    "middle_backwards": False,
    "W.copy": "none",
}
TILES: dict[str, tuple[Tensor, Callable[[Tensor], Schedule], dict[str, Any]]] = {
    "depthwise": (
        depthwise(56, 32),
        lambda out: by_hand(out, 28, 14, 1, rows_first=False),
        {"pad_temp.at": "inline", "vj": [2, 1, 1], "vk": [2, 28, 1], "vl": [1, 4, 14],
         "parallel": 3, "unroll": "tile and sum"},
    ),
    "rows": (
        blocked(56, 64, 64),
        lambda out: by_hand(out, 14, 14, 2, rows_first=True),
        {"pad_temp.at": "tile", "vj": [1, 2, 2], "vk": [4, 14, 1], "vl": [1, 4, 14],
         "vrci": [1, 16], "parallel": 3, "unroll": "tile"},
    ),
    "channels": (
        blocked(14, 256, 256),
        lambda out: by_hand(out, 14, 14, 2, rows_first=False),
        {"pad_temp.at": "whole", "vj": [8, 1, 2], "vk": [1, 14, 1], "vl": [1, 1, 14],
         "vrc": [1, 16], "vrci": [1, 16], "parallel": 3, "unroll": "tile"},
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", TILES)
def test_what_operators_do_is_a_point(name: str) -> None:
    """The same lowered program: the space can express all that such a schedule does."""
    out, make, values = TILES[name]
    point = generic_space(out, _MACHINE).schedule(_COMMON | values)
    assert structural_equal(
        lower(point, target=_MACHINE).program, lower(make(out), target=_MACHINE).program
    )


SPACES = {
    "matmul": lambda: generic_space(matmul(64)),
    "activated": lambda: generic_space(activated()),
    "plain": lambda: generic_space(convolution(8, 14, 16)),
    "strided": lambda: generic_space(convolution(8, 14, 16, stride=2)),
    "blocked": lambda: generic_space(blocked(14, 32, 32)),
    "depthwise": lambda: generic_space(depthwise(14, 32, 2)),
}


@pytest.mark.parametrize("name", SPACES)
def test_features_at_once_equal_those_of_each_schedule(name: str) -> None:
    space = SPACES[name]()
    points = space.sample(16, np.random.default_rng(11))
    assert_features_of_schedules(space, points)


def tile_sizes(space: Space, points: np.ndarray) -> np.ndarray:
    """Elements of the tile of registers at each point."""
    size = np.ones(len(points))
    for n, (name, knob) in enumerate(space.knobs.items()):
        if knob.kind == "split" and name in ("vi", "vj"):
            size *= knob.numbers[points[:, n], -1]
    return size


def test_points_keep_to_the_registers() -> None:
    space = generic_space(matmul(256), _MACHINE)
    most = _MACHINE.num_registers * _MACHINE.lanes(32)
    rng = np.random.default_rng(0)
    anywhere = space.numbered(rng.integers(0, space.size, 500))
    assert (tile_sizes(space, anywhere) > most).any()
    assert (space.allowed(anywhere) == (tile_sizes(space, anywhere) <= most)).all()
    points = space.sample(300, rng)
    for drawn in (points, space.mutate(points, rng), space.cross(points, points[::-1], rng)):
        assert (tile_sizes(space, drawn) <= most).all()


def test_vectors_are_whole_where_the_size_allows() -> None:
    lanes = _MACHINE.lanes(32)
    inner = generic_space(matmul(256), _MACHINE).knobs["vj"].numbers[:, -1]
    assert (inner % lanes == 0).all()
    odd = generic_space(matmul(37), _MACHINE).knobs["vj"].numbers[:, -1]
    assert len(odd)


def test_sums_of_windows_are_tiled() -> None:
    """A strided depthwise convolution uses each element little, but its sums are short."""
    space = generic_space(depthwise(14, 32, 2))
    assert "vector_sums" not in space.knobs
    assert "accumulator" in space.knobs
