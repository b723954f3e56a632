"""Random schedules of sizes known at run time: zero, few, and some that a check has to look at."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import pytest
from helpers.random_schedules import random_steps
from numpy.typing import NDArray

from tvmlab import te
from tvmlab.codegen import interpret
from tvmlab.driver import build
from tvmlab.lower import lower
from tvmlab.schedule import Schedule
from tvmlab.target import Target

Array: TypeAlias = NDArray[np.int32]
COLUMNS = 6
SIZES = [(0, 3), (3, 0), (0, 0), (1, 1), (5, 7)]


@dataclass(frozen=True)
class Case:
    """A computation of A (n by m) and B (m), and what it gives."""

    make: Callable[[te.Tensor, te.Tensor, Any, Any], te.Tensor]
    want: Callable[[Array, Array], Any]
    checked: bool = False
    """Whether B may be too short for n: then A has a fixed width, and a kernel looks at m."""


def _row_sums(a: te.Tensor, b: te.Tensor, n: Any, m: Any) -> te.Tensor:
    k = te.reduce_axis(m, "k")
    sums = te.compute((n,), lambda i: te.sum(a[i, k], axis=k), name="T")
    return te.compute((n,), lambda i: sums[i] * 2 + 1, name="C")


def _largest(a: te.Tensor, b: te.Tensor, n: Any, m: Any) -> te.Tensor:
    k = te.reduce_axis(n, "k")
    return te.compute((m,), lambda j: te.max(a[k, j], axis=k), name="C")


def _total(a: te.Tensor, b: te.Tensor, n: Any, m: Any) -> te.Tensor:
    k, j = te.reduce_axis(n, "k"), te.reduce_axis(m, "j")
    more = te.compute((n, m), lambda i, l: a[i, l] + 1, name="T")
    return te.compute(
        (4,), lambda i: te.sum(more[k, j] + te.cast(i, "int32"), axis=[k, j]), name="C"
    )


def _mirrored(a: te.Tensor, b: te.Tensor, n: Any, m: Any) -> te.Tensor:
    more = te.compute((n, m), lambda i, j: a[i, j] + 1, name="T")
    return te.compute((n, m), lambda i, j: more[i, j] * more[n - 1 - i, j], name="C")


def _scaled(a: te.Tensor, b: te.Tensor, n: Any, m: Any) -> te.Tensor:
    k = te.reduce_axis(COLUMNS, "k")
    sums = te.compute((n,), lambda i: te.sum(a[i, k], axis=k), name="T")
    return te.compute(
        (n, COLUMNS), lambda i, j: sums[i] * 2 + b[i] + a[i, COLUMNS - 1 - j], name="C"
    )


def _shared_sum(a: te.Tensor, b: te.Tensor, n: Any, m: Any) -> te.Tensor:
    k = te.reduce_axis(8, "k")
    first = te.compute((8,), lambda j: a[0, j % COLUMNS] + b[j], name="T")
    sums = te.compute(
        (COLUMNS,), lambda j: te.sum(first[k] * te.cast(j, "int32"), axis=k), name="U"
    )
    return te.compute((n, COLUMNS), lambda i, j: sums[COLUMNS - 1 - j] + a[i, j], name="C")


def _shared_sum_of(a: Array, b: Array) -> Array:
    total = (a[0, np.arange(8) % COLUMNS] + b[:8]).sum()
    return (total * np.arange(COLUMNS))[::-1][None] + a


CASES = [
    Case(_row_sums, lambda a, b: a.sum(1) * 2 + 1),
    Case(_largest, lambda a, b: a.max(0, initial=-(2**31))),
    Case(_total, lambda a, b: (a + 1).sum() + np.arange(4) * a.size),
    Case(_mirrored, lambda a, b: (a + 1) * (a + 1)[::-1]),
    Case(_scaled, lambda a, b: a.sum(1)[:, None] * 2 + b[: len(a), None] + a[:, ::-1], True),
    Case(_shared_sum, _shared_sum_of, True),
]


def check_seed(seed: int) -> None:
    """Each way of running a random schedule gives what NumPy gives, for all sizes."""
    rng, case = np.random.default_rng(seed), CASES[seed % len(CASES)]
    n, m = te.var("n"), te.var("m")
    a = te.placeholder((n, COLUMNS if case.checked else m), name="A", dtype="int32")
    b = te.placeholder((m,), name="B", dtype="int32")
    schedule = Schedule(case.make(a, b, n, m))
    if case.checked and rng.integers(2):
        schedule.assume("n >= 1")
    random_steps(schedule, rng, int(rng.integers(1, 6)))
    text = f"seed {seed}\n{schedule.trace.to_python()}\n{schedule}"
    lowered = lower(schedule.program, Target.host()).program
    kernel = build(schedule)
    names = [p.name for p in schedule.program.params]
    for rows, columns in [(5, 11)] if case.checked else SIZES:
        shape = (rows, COLUMNS if case.checked else columns)
        left = rng.integers(-4, 5, shape).astype(np.int32)
        right = rng.integers(-4, 5, columns).astype(np.int32)
        want = np.asarray(case.want(left, right)).astype(np.int32)
        values: dict[str, Any] = {"A": left, "B": right, "n": rows, "m": columns}

        def given(values: dict[str, Any] = values, want: Array = want) -> dict[str, Any]:
            return {**values, "C": np.full(want.shape, 77, np.int32)}

        made = given()
        interpret(schedule.program, [made[name] for name in names])
        np.testing.assert_array_equal(made["C"], want, err_msg=f"interpreted, {shape}\n{text}")
        made = given()
        flat = {k: v if isinstance(v, int) else v.reshape(-1) for k, v in made.items()}
        interpret(lowered, [flat[p.name] for p in lowered.params])
        np.testing.assert_array_equal(made["C"], want, err_msg=f"lowered, {shape}\n{text}")
        made = given()
        kernel(*[made[name] for name in names if name in "ABC"])
        np.testing.assert_array_equal(made["C"], want, err_msg=f"built, {shape}\n{text}")


@pytest.mark.parametrize("seed", range(18))
def test_random_sizes(seed: int) -> None:
    check_seed(seed)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(100, 400))
def test_more_random_sizes(seed: int) -> None:
    check_seed(seed)
