"""Views as arguments: distances between elements that only the call knows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from helpers.random_schedules import random_steps
from helpers.workloads import random_workload
from numpy.typing import NDArray

from tvmlab import te
from tvmlab.driver import build
from tvmlab.runtime import Signature
from tvmlab.schedule import Schedule
from tvmlab.support import OptionError, RuntimeFailure
from tvmlab.te import Tensor
from tvmlab.topi import matmul, schedule_matmul

Array = NDArray[Any]


def doubled() -> tuple[Tensor, Tensor]:
    n, m = te.var("n"), te.var("m")
    a = te.placeholder((n, m), name="A")
    return a, te.compute((n, m), lambda i, j: a[i, j] * 2, name="B")


def some_view(rng: np.random.Generator, like: Array) -> Array:
    """An array of the same shape and type whose elements lie in some other order and distance."""
    order = rng.permutation(like.ndim)
    steps = rng.integers(1, 4, like.ndim)
    sizes = [like.shape[axis] * steps[axis] + rng.integers(0, 3) for axis in order]
    storage = np.full(sizes, 99, like.dtype)
    view = storage.transpose(np.argsort(order))
    parts = [
        slice(None, size * step, step)
        if rng.random() < 0.7
        else slice(size * step - 1, None, -step)
        for size, step in zip(like.shape, steps, strict=True)
    ]
    view = view[tuple(parts)]
    return view[tuple(slice(0, size) for size in like.shape)]


@pytest.mark.parametrize("seed", range(12))
def test_views_of_random_programs(seed: int) -> None:
    rng = np.random.default_rng(seed)
    workload = random_workload(rng)
    args = [*workload.inputs, *workload.outputs]
    sch = Schedule([*workload.outputs], args=args)
    random_steps(sch, rng, seed % 8)
    exe = build(sch, strides={p.name: None for p in sch.program.params})
    inputs = workload.arrays(seed)
    views = [some_view(rng, np.asarray(x)) for x in inputs]
    for view, values in zip(views, inputs, strict=True):
        view[...] = values
    want = [np.asarray(w) for w in workload.reference(*inputs)]
    kinds = [tensor.dtype.numpy for tensor in workload.outputs]
    outputs = [some_view(rng, np.full_like(w, 7, k)) for w, k in zip(want, kinds, strict=True)]
    exe(*views, *outputs)
    for got, wanted in zip(outputs, want, strict=True):
        np.testing.assert_allclose(got, wanted, rtol=1e-5, atol=1e-5, err_msg=str(sch))
    for view, values in zip(views, inputs, strict=True):
        np.testing.assert_array_equal(view, values)


def test_matmul_of_parts_and_transposes() -> None:
    n = 60
    sch = schedule_matmul(matmul(n, n, n)[2])
    exe = build(sch, strides={"A": (1, None), "B": (None, 1), "C": (None, 1)})
    rng = np.random.default_rng(0)
    a, b = rng.random((n, n), np.float32), rng.random((n, n + 9), np.float32)[:, 4 : n + 4]
    storage = np.full((n, n + 5), 3, np.float32)
    exe(a.T, b, storage[:, 2 : n + 2])
    np.testing.assert_allclose(storage[:, 2 : n + 2], a.T @ b, rtol=1e-5)
    assert (storage[:, :2] == 3).all()
    assert (storage[:, n + 2 :] == 3).all()
    with pytest.raises(RuntimeFailure, match=r"axis 0 of argument A lie 240 bytes apart, the kern"):
        exe(a, b, storage[:, 2 : n + 2])


@pytest.mark.parametrize("steps", [(8, 1), (1, 3), (5, 1)])
def test_a_compact_array_does_not_pass_for_one_with_fixed_distances(steps: tuple[int, int]) -> None:
    a = te.placeholder((3, 4), name="A")
    b = te.compute((3, 4), lambda i, j: a[i, j] * 2, name="B")
    x, y = np.ones((3, 4), np.float32), np.zeros((3, 4), np.float32)
    exe = build(te.create_schedule(b.op), [a, b], strides={"A": steps})
    with pytest.raises(
        RuntimeFailure, match=r"of argument A lie \d+ bytes apart, the kernel needs"
    ):
        exe(x, y)
    far = np.lib.stride_tricks.as_strided(
        np.arange(40, dtype=np.float32), (3, 4), (4 * steps[0], 4 * steps[1])
    )
    exe(far, y)
    np.testing.assert_array_equal(y, far * 2)


def test_the_signature_says_it_and_survives_saving() -> None:
    a, b = doubled()
    exe = build(te.create_schedule(b.op), [a, b], strides={"A": (None, 2)})
    assert str(exe.signature) == "main(A: float32[n, m], B: float32[n, m], n: int64, m: int64)"
    assert Signature.from_json(exe.signature.to_json()) == exe.signature
    x, y = np.arange(48, dtype=np.float32).reshape(4, 12), np.zeros((4, 6), np.float32)
    for _ in range(2):  # the second one from the cache
        again = build(te.create_schedule(b.op), [a, b], strides={"A": (None, 2)})
        again(x[:, ::2], y)
        np.testing.assert_array_equal(y, x[:, ::2] * 2)


def test_callers_cannot_pass_distances() -> None:
    a, b = doubled()
    exe = build(te.create_schedule(b.op), [a, b], strides={"A": None})
    x, y = np.ones((4, 6), np.float32), np.zeros((4, 6), np.float32)
    with pytest.raises(RuntimeFailure, match=r"takes 2 argument\(s\), not 6"):
        exe(x, y, 4, 6, 1000, 1000)


def test_refused_arguments() -> None:
    a, b = doubled()
    exe = build(te.create_schedule(b.op), [a, b], strides={"A": None, "B": None})
    x = np.ones((4, 6), np.float32)
    same = np.lib.stride_tricks.as_strided(np.zeros(99, np.float32), (4, 6), (4, 4))
    with pytest.raises(RuntimeFailure, match="B is written by the kernel, and elements of it sh"):
        exe(x, same)
    both = np.zeros((8, 6), np.float32)
    with pytest.raises(RuntimeFailure, match="B is written by the kernel and "
                       "shares memory with argument A"):  # fmt: skip
        exe(both[::-2], both[:4])
    odd = np.zeros(4 * 6 * 6, np.uint8)
    crooked = np.lib.stride_tricks.as_strided(odd.view(np.float32), (4, 6), (30, 4))
    with pytest.raises(RuntimeFailure, match="lie 30 bytes apart, the kernel needs whole elements"):
        exe(crooked, x.copy())


@pytest.mark.parametrize(
    ("strides", "message"),
    [
        ({"Z": None}, "strides are given for 'Z', which is no array parameter\nhint: .* A, B"),
        ({"A": (None,)}, r"the strides \(None,\) do not fit A, which has 2 dimension"),
        ({"A": (0, 1)}, r"the strides \(0, 1\) do not fit A"),
    ],
)
def test_refused_strides(strides: Any, message: str) -> None:
    a, b = doubled()
    with pytest.raises(OptionError, match=message):
        build(te.create_schedule(b.op), [a, b], strides=strides)
