"""Normalizations against NumPy in float64, over random shapes, with the default schedule."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from tvmlab import te, topi
from tvmlab.driver import build
from tvmlab.support import ShapeError
from tvmlab.te import Tensor

Array = NDArray[Any]
EPSILON = 1e-5
sizes = st.integers(1, 40)


def run(inputs: list[Tensor], output: Tensor, arrays: list[Array]) -> Array:
    made = np.full(output.const_shape or (), 113, np.float32)
    build(topi.schedule(output, args=[*inputs, output]))(*arrays, made)
    return made


def data(*shape: int, seed: int = 0) -> Array:
    return (np.random.default_rng(seed).random(shape, dtype=np.float32) - 0.3) * 4


def normal(x: Array, axes: tuple[int, ...]) -> Array:
    wide = x.astype(np.float64)
    centered = wide - wide.mean(axes, keepdims=True)
    return centered / np.sqrt((centered**2).mean(axes, keepdims=True) + EPSILON)


@settings(max_examples=8, deadline=None)
@given(shape=st.tuples(sizes, sizes, st.integers(2, 130)), last=st.integers(1, 2))
def test_layer_norm(shape: tuple[int, int, int], last: int) -> None:
    axes = list(range(3 - last, 3))
    x = te.placeholder(shape, name="x")
    g, b = (te.placeholder(shape[3 - last :], name=n) for n in "gb")
    arrays = [data(*shape), data(*shape[3 - last :], seed=1), data(*shape[3 - last :], seed=2)]
    got = run([x, g, b], topi.layer_norm(x, g, b, axes), arrays)
    want = normal(arrays[0], tuple(axes)) * arrays[1] + arrays[2]
    np.testing.assert_allclose(got, want, rtol=2e-4, atol=2e-4)


@settings(max_examples=5, deadline=None)
@given(shape=st.tuples(sizes, st.integers(1, 130)))
def test_rms_norm(shape: tuple[int, int]) -> None:
    x, g = te.placeholder(shape, name="x"), te.placeholder(shape[1:], name="g")
    arrays = [data(*shape), data(*shape[1:], seed=1)]
    wide = arrays[0].astype(np.float64)
    want = wide / np.sqrt((wide**2).mean(1, keepdims=True) + EPSILON) * arrays[1]
    np.testing.assert_allclose(run([x, g], topi.rms_norm(x, g), arrays), want, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("shape", [(2, 6, 5, 7), (1, 12, 33), (3, 4, 8, 8, 2)])
def test_instance_and_group_norm(shape: tuple[int, ...]) -> None:
    x = te.placeholder(shape, name="x")
    g, b = (te.placeholder(shape[1:2], name=n) for n in "gb")
    arrays = [data(*shape), data(shape[1], seed=1), data(shape[1], seed=2)]
    stretched = [a.reshape(-1, *[1] * (len(shape) - 2)) for a in arrays[1:]]
    axes = tuple(range(2, len(shape)))
    got = run([x, g, b], topi.instance_norm(x, g, b), arrays)
    want = normal(arrays[0], axes) * stretched[0] + stretched[1]
    np.testing.assert_allclose(got, want, rtol=2e-4, atol=2e-4)
    got = run([x, g, b], topi.group_norm(x, 2, g, b), arrays)
    parts = arrays[0].reshape(shape[0], 2, -1)
    want = normal(parts, (2,)).reshape(shape) * stretched[0] + stretched[1]
    np.testing.assert_allclose(got, want, rtol=2e-4, atol=2e-4)


def test_mean_and_variance() -> None:
    x = te.placeholder((9, 31), name="x")
    array = data(9, 31) + 1000
    wide = array.astype(np.float64)
    np.testing.assert_allclose(run([x], topi.mean(x, 0), [array]), wide.mean(0), rtol=1e-6)
    np.testing.assert_allclose(run([x], topi.variance(x, 1), [array]), wide.var(1), rtol=1e-3)


def test_channels_that_cannot_be_divided() -> None:
    x = te.placeholder((2, 7, 3), name="x")
    with pytest.raises(ShapeError, match="7 channels cannot be divided into 2 groups"):
        topi.group_norm(x, 2)


def test_a_mean_over_an_unknown_size() -> None:
    x = te.placeholder((te.var("n"), 3), name="x")
    with pytest.raises(ShapeError, match="the size of dimension 0 must be known"):
        topi.mean(x, 0)


@pytest.mark.parametrize("name", ["softmax", "log_softmax", "layer_norm", "rms_norm"])
@pytest.mark.parametrize("dtype", ["float16", "float32"])
def test_short_floats_are_computed_in_float32(name: str, dtype: str) -> None:
    x = te.placeholder((7, 3000), dtype, name="x")
    a = data(7, 3000).astype(dtype)
    wide = a.astype(np.float64)
    shifted = wide - wide.max(1, keepdims=True)
    total = np.exp(shifted).sum(1, keepdims=True)
    want = {
        "softmax": np.exp(shifted) / total,
        "log_softmax": shifted - np.log(total),
        "layer_norm": normal(a, (1,)),
        "rms_norm": wide / np.sqrt((wide**2).mean(1, keepdims=True) + EPSILON),
    }[name]
    made = np.zeros_like(a)
    build(topi.schedule(getattr(topi, name)(x)))(a, made)
    np.testing.assert_allclose(made, want, rtol=1e-3 if dtype == "float16" else 1e-4, atol=1e-6)
