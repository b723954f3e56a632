"""Operators that rearrange and choose elements, against NumPy over random shapes."""
# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from tvmlab import te, topi
from tvmlab.driver import build
from tvmlab.support import OptionError, RuntimeFailure, ShapeError
from tvmlab.target import Target
from tvmlab.te import Tensor

Array = NDArray[Any]
TWO = Target.host().with_threads(2)
sizes = st.integers(1, 40)
quick = settings(max_examples=6, deadline=None)


def data(*shape: int, seed: int = 0, dtype: str = "float32") -> Array:
    return (np.random.default_rng(seed).random(shape) * 20 - 10).astype(dtype)


def holder(array: Array, name: str = "x") -> Tensor:
    return te.placeholder(array.shape, array.dtype.name, name=name)


def run(inputs: list[Tensor], output: Tensor, arrays: list[Array]) -> Array:
    made = np.full(output.const_shape or (), 113, output.dtype.numpy)
    build(topi.schedule(output, TWO, args=[*inputs, output]), target=TWO)(*arrays, made)
    return made


def check(output: Any, arrays: list[Array], want: Array) -> None:
    inputs = [holder(array, f"x{n}") for n, array in enumerate(arrays)]
    got = run(inputs, output(*inputs), arrays)
    assert got.shape == want.shape
    np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-5)


@quick
@given(shape=st.tuples(sizes, sizes, sizes), axis=st.integers(-3, 2), other=sizes, third=sizes)
def test_concatenate(shape: tuple[int, ...], axis: int, other: int, third: int) -> None:
    arrays: list[Array] = []
    for seed, size in enumerate((shape[axis], other, third)):
        sized = list(shape)
        sized[axis] = size
        arrays.append(data(*sized, seed=seed))
    check(lambda *xs: topi.concatenate(xs, axis), arrays, np.concatenate(arrays, axis))


@quick
@given(shape=st.tuples(sizes, sizes), axis=st.integers(0, 2))
def test_stack_and_repeat_and_tile(shape: tuple[int, int], axis: int) -> None:
    a, b = data(*shape), data(*shape, seed=1)
    check(lambda x, y: topi.stack([x, y], axis), [a, b], np.stack([a, b], axis))
    check(lambda x: topi.repeat(x, 3, axis % 2), [a], np.repeat(a, 3, axis % 2))
    for counts in ((2,), (3, 1), (2, 1, 3)):
        check(lambda x, c=counts: topi.tile(x, c), [a], np.tile(a, counts))


def test_split() -> None:
    a = data(6, 9)
    for n, want in enumerate(np.split(a, 3, 1)):
        check(lambda x, n=n: topi.split(x, 3, 1)[n], [a], want)
    for n, want in enumerate(np.split(a, [1, 4], 0)):
        check(lambda x, n=n: topi.split(x, [1, 4], 0)[n], [a], want)
    with pytest.raises(ShapeError, match="dimension 0 of size 6 cannot be split into 4 parts"):
        topi.split(holder(a), 4)


@pytest.mark.parametrize(
    ("begin", "end", "strides"),
    [
        ([1, 2], [5, 7], [1, 1]),
        ([None, -3], [None, None], [2, 1]),
        ([4, None], [None, 0], [-2, -3]),
    ],
)
def test_strided_slice(begin: list[Any], end: list[Any], strides: list[int]) -> None:
    a = data(7, 20)
    cut = tuple(slice(b, e, s) for b, e, s in zip(begin, end, strides, strict=True))
    check(lambda x: topi.strided_slice(x, begin, end, strides), [a], a[cut])


@quick
@given(shape=st.tuples(sizes, sizes))
def test_flip_and_squeeze(shape: tuple[int, int]) -> None:
    a = data(*shape)
    check(topi.flip, [a], a[::-1, ::-1])
    check(lambda x: topi.flip(x, 1), [a], a[:, ::-1])
    one = a.reshape(shape[0], 1, shape[1])
    check(lambda x: topi.squeeze(x, 1), [one], a)
    assert topi.squeeze(te.placeholder((1, 1, 3))).const_shape == (3,)


@quick
@given(shape=st.tuples(sizes, sizes), axis=st.integers(0, 1), seed=st.integers(0, 99))
def test_take_and_gather(shape: tuple[int, int], axis: int, seed: int) -> None:
    a, size = data(*shape), shape[axis]
    rng = np.random.default_rng(seed)
    places = rng.integers(-size, size, (3, 5))
    check(lambda x, i: topi.take(x, i, axis), [a, places], np.take(a, places, axis))
    like = rng.integers(-size, size, shape).astype(np.int32)
    want = np.take_along_axis(a, like.astype(np.int64) % size, axis)
    check(lambda x, i: topi.gather(x, i, axis), [a, like], want)
    pairs = np.stack([rng.integers(0, n, 7) for n in shape], -1)
    check(topi.gather_nd, [a, pairs], a[pairs[:, 0], pairs[:, 1]])
    check(topi.gather_nd, [a, pairs[:, :1].copy()], a[pairs[:, 0]])


def test_an_index_outside_fails() -> None:
    a, places = data(4, 5), np.array([0, 4])
    x, i = holder(a), holder(places, "i")
    with pytest.raises(RuntimeFailure):
        run([x, i], topi.take(x, i), [a, places])


@quick
@given(shape=st.tuples(sizes, sizes))
def test_where_and_one_hot(shape: tuple[int, int]) -> None:
    a, b = data(*shape), data(shape[1], seed=1)
    cond = a > 0
    check(topi.where, [cond, a, b], np.where(cond, a, b))
    classes = np.random.default_rng(0).integers(0, 9, shape)
    check(lambda i: topi.one_hot(i, 9), [classes], np.eye(9, dtype=np.float32)[classes])
    moved = np.moveaxis(np.eye(9, dtype=np.float32)[classes], -1, 0)
    check(lambda i: topi.one_hot(i, 9, axis=0), [classes], moved)


@quick
@given(shape=st.tuples(sizes, st.integers(1, 200)), axis=st.sampled_from([0, 1, None]))
def test_argmax_and_argmin(shape: tuple[int, int], axis: int | None) -> None:
    a = np.round(data(*shape))  # with equal elements among them
    check(lambda x: topi.argmax(x, axis), [a], np.argmax(a, axis))
    check(lambda x: topi.argmin(x, axis, True), [a], np.argmin(a, axis, keepdims=True))
    behind = np.argmax(a.ravel()[::-1] if axis is None else np.flip(a, axis), axis)
    size = a.size if axis is None else shape[axis]
    check(lambda x: topi.argmax(x, axis, last=True), [a], size - 1 - behind)


@quick
@given(shape=st.tuples(sizes, sizes, sizes), axis=st.integers(-3, 2))
def test_cumsum(shape: tuple[int, int, int], axis: int) -> None:
    a = data(*shape, dtype="float64")
    check(lambda x: topi.cumsum(x, axis), [a], np.cumsum(a, axis))
    check(lambda x: topi.cumsum(x, axis, True), [a], np.cumsum(a, axis) - a)
    back = np.flip(np.cumsum(np.flip(a, axis), axis), axis)
    check(lambda x: topi.cumsum(x, axis, reverse=True), [a], back)
    check(lambda x: topi.cumprod(x, axis), [a], np.cumprod(a, axis))


def test_gather_nd_of_batches() -> None:
    a, at = data(3, 4, 5), np.array([[[1], [3]], [[-1], [0]], [[2], [2]]])
    want = np.stack([a[b][at[b, :, 0]] for b in range(3)])
    check(lambda x, i: topi.gather_nd(x, i, 1), [a, at], want)


def test_sums_of_short_floats_keep_more_digits() -> None:
    a = np.ones(4096, np.float16)
    check(topi.cumsum, [a], np.cumsum(a, dtype=np.float32).astype(np.float16))


@pytest.mark.parametrize("coordinates", ["half_pixel", "align_corners", "asymmetric"])
@pytest.mark.parametrize("size", [(9, 14), (3, 4), (6, 7)])
def test_resize(size: tuple[int, int], coordinates: str) -> None:
    a = data(2, 3, 6, 7)
    known: dict[str, Callable[..., Any]] = {
        "half_pixel": lambda i, old, new: (i + 0.5) * old / new - 0.5,
        "align_corners": lambda i, old, new: i * (old - 1) / max(new - 1, 1),
        "asymmetric": lambda i, old, new: i * old / new,
    }
    places = known[coordinates]
    y = places(np.arange(size[0]), 6, size[0])[:, None]
    x = places(np.arange(size[1]), 7, size[1])[None]
    low, left = np.floor(y), np.floor(x)

    def at(r: Any, c: Any) -> Array:
        rows, columns = np.clip(r, 0, 5).astype(int), np.clip(c, 0, 6).astype(int)
        return a[:, :, rows, columns]

    upper = at(low, left) * (1 - (x - left)) + at(low, left + 1) * (x - left)
    lower = at(low + 1, left) * (1 - (x - left)) + at(low + 1, left + 1) * (x - left)
    want = upper * (1 - (y - low)) + lower * (y - low)
    check(lambda d: topi.resize(d, size, "linear", coordinates=coordinates), [a], want)


def test_the_nearest_pixel_in_another_layout() -> None:
    a = data(1, 4, 6, 3)
    want = a[:, np.arange(8) // 2][:, :, np.arange(12) // 2]
    check(lambda d: topi.resize(d, (8, 12), "nearest", "NHWC"), [a], want)


def test_what_cannot_be() -> None:
    x, y = te.placeholder((2, 3), name="x"), te.placeholder((2, 4), name="y")
    with pytest.raises(ShapeError, match=r"float32\[2, 3\] and float32\[2, 4\] cannot be concat"):
        topi.concatenate([x, y])
    with pytest.raises(ShapeError, match="the list of tensors is empty"):
        topi.concatenate([])
    with pytest.raises(OptionError, match="a slice cannot have the stride 0"):
        topi.strided_slice(x, [0], [1], [0])
    with pytest.raises(ShapeError, match="dimension 1 cannot be left out: its size is not 1"):
        topi.squeeze(x, 1)
    with pytest.raises(OptionError, match="there is no method 'cubic'"):
        topi.resize(te.placeholder((1, 1, 2, 2)), (4, 4), "cubic")
    with pytest.raises(OptionError, match="there are no coordinates 'tf'"):
        topi.resize(te.placeholder((1, 1, 2, 2)), (4, 4), coordinates="tf")
    n = te.var("n")
    with pytest.raises(ShapeError, match="height and width must be known"):
        topi.resize(te.placeholder((1, 1, n, 2)), (4, 4))
    with pytest.raises(ShapeError, match="the size of dimension 0 must be known to slice it"):
        topi.strided_slice(te.placeholder((n,)), [0], [1])
    with pytest.raises(ShapeError, match="the size of dimension 0 must be known to split it"):
        topi.split(te.placeholder((n,)), 2)
    with pytest.raises(ShapeError, match="the last dimension of the indices"):
        topi.gather_nd(x, te.placeholder((4, 3), "int64"))
