"""Operators with their default schedules against NumPy, over convenient and awkward shapes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import tvmlab as tl
from tvmlab.ir import verify
from tvmlab.topi import matmul, schedule_matmul

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
