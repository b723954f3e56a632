"""Operators with their default schedules against NumPy, over convenient and awkward shapes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import tvmlab as tl
from tvmlab.ir import verify
from tvmlab.support import ShapeError
from tvmlab.topi import conv2d_nchw, matmul, schedule_conv2d_nchw, schedule_matmul

Array = NDArray[Any]


def random(shape: tuple[int, ...], seed: int, dtype: str = "float32") -> Array:
    return np.random.default_rng(seed).standard_normal(shape).astype(dtype)


@pytest.mark.parametrize(
    ("m", "n", "k"),
    [(1, 1, 1), (12, 32, 256), (13, 33, 257), (64, 64, 64), (5, 100, 3), (100, 5, 300), (1, 64, 7)],
)
def test_matmul(m: int, n: int, k: int) -> None:
    _, _, c = matmul(m, n, k)
    sch = schedule_matmul(c)
    verify(sch.program)
    a, b, out = random((m, k), 0), random((k, n), 1), np.empty((m, n), np.float32)
    tl.build(sch)(a, b, out)
    np.testing.assert_allclose(out, a @ b, rtol=1e-4, atol=1e-4)


def test_matmul_float64() -> None:
    _, _, c = matmul(30, 20, 40, "float64")
    a, b, out = random((30, 40), 0, "float64"), random((40, 20), 1, "float64"), np.empty((30, 20))
    tl.build(schedule_matmul(c))(a, b, out)
    np.testing.assert_allclose(out, a @ b, rtol=1e-12)


def reference_conv(a: Array, w: Array, stride: int, padding: int) -> Array:
    padded = np.pad(a, ((0, 0), (0, 0), (padding, padding), (padding, padding)))
    windows = np.lib.stride_tricks.sliding_window_view(padded, w.shape[2:], (2, 3))
    return np.einsum("nchwyx,fcyx->nfhw", windows[:, :, ::stride, ::stride], w, optimize=True)


@pytest.mark.parametrize(
    ("shape", "filters", "kernel", "stride", "padding"),
    [
        ((1, 4, 14, 14), 8, 3, 1, 1),
        ((2, 3, 9, 11), 5, 3, 2, 1),
        ((1, 1, 3, 3), 1, 3, 1, 0),
        ((1, 7, 5, 70), 6, 1, 1, 0),
        ((1, 3, 16, 16), 4, 7, 2, 3),
        ((3, 2, 6, 5), 9, 1, 2, 0),
    ],
)
def test_conv2d(
    shape: tuple[int, int, int, int], filters: int, kernel: int, stride: int, padding: int
) -> None:
    batch, channels, height, width = shape
    _, _, c = conv2d_nchw(
        batch, channels, height, width, filters, kernel, stride=stride, padding=padding
    )
    sch = schedule_conv2d_nchw(c)
    verify(sch.program)
    a, w = random(shape, 0), random((filters, channels, kernel, kernel), 1)
    want = reference_conv(a, w, stride, padding)
    out = np.empty(want.shape, np.float32)
    tl.build(sch)(a, w, out)
    np.testing.assert_allclose(out, want, rtol=1e-4, atol=1e-4)


def test_filter_larger_than_the_image() -> None:
    with pytest.raises(ShapeError, match="a 5x5 filter does not fit into a 3x3 image"):
        conv2d_nchw(1, 1, 3, 3, 1, 5)
