"""Sums that were cut into several blocks, and that threads join: each block adds its share."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from helpers.devices import TARGET, Array
from helpers.steps import ramp

from tvmlab import te
from tvmlab.codegen import interpret
from tvmlab.ir import to_text
from tvmlab.lower import LowerOptions, lower
from tvmlab.schedule import LoopRef, Schedule
from tvmlab.support import UserError
from tvmlab.te import Tensor

Rng = np.random.Generator


def assert_joins(sch: Schedule, inputs: list[Array], want: list[Array]) -> None:
    """The values of a schedule, and of its program after each pass."""
    lowered = lower(sch.program, TARGET, LowerOptions(verify=True))
    for program in (sch.program, *(step.after for step in lowered.record if step.changed)):
        arrays = [np.full(w.shape, 113, w.dtype) for w in want]
        interpret(program, [*inputs, *arrays])
        for got, expected in zip(arrays, want, strict=True):
            text = f"{sch.trace.to_python()}\n{sch}\n{to_text(program)}"
            np.testing.assert_allclose(got, expected, rtol=1e-5, err_msg=text)


def table_sum(n: int, m: int) -> Tensor:
    """The sum of a table at once."""
    a = te.placeholder((n, m), name="A")
    i, j = te.reduce_axis(n, "i"), te.reduce_axis(m, "j")
    return te.compute((), lambda: te.sum(a[i, j], axis=[i, j]), name="S")


def rows_in_pairs(sch: Schedule) -> LoopRef:
    """Rows to threads, columns in pairs: the loop inside a pair."""
    i, j = sch.loops("S")
    sch.bind(i, "threadIdx.x")
    return sch.split(j, [None, 2])[1]


@pytest.mark.parametrize(
    ("name", "where"), [("partition", [[1]]), ("peel", [1, 0]), ("peel", [0, 1])]
)
def test_parts_of_a_sum_are_added_in_one_loop(name: str, where: list[Any]) -> None:
    """The part that sets the start value must not do so after another one was joined."""
    sch = Schedule(table_sum(4, 6))
    sch.apply(name, rows_in_pairs(sch), *where)
    a = ramp(4, 6)
    assert_joins(sch, [a], [np.asarray(a.sum())])


def test_parts_of_a_sum_are_added_in_each_round() -> None:
    """Rounds outside of the threads: the start value is set in the first one alone."""
    sch = Schedule(table_sum(8, 6))
    i, j = sch.loops("S")
    rounds, i = sch.split(i, [None, 4])
    sch.bind(i, "threadIdx.x")
    sch.partition(sch.split(j, [None, 3])[1], [1, 2])
    assert sch.loops("S")[0] == rounds
    a = ramp(8, 6)
    assert_joins(sch, [a], [np.asarray(a.sum())])


def test_parts_of_a_sum_from_another_start_value() -> None:
    a = te.placeholder((4, 6), name="A")
    rows, columns = te.reduce_axis(4, "i"), te.reduce_axis(6, "j")

    def element(v: te.Axis) -> te.Expr:
        summand = a[rows, columns] + te.cast(v, "float32")
        return te.sum(summand, axis=[rows, columns], init=5.0)

    total = te.compute((2,), element, name="S")
    sch = Schedule(total)
    v, i, j = sch.loops("S")
    sch.bind(v, "blockIdx.x")
    sch.bind(i, "threadIdx.x")
    sch.peel(sch.split(j, [None, 2])[1], 1, 0)
    x = ramp(4, 6)
    assert_joins(sch, [x], [np.array([x.sum() + 5, x.sum() + 24 + 5], "float32")])


def test_parts_of_an_argmax_are_joined() -> None:
    source = te.placeholder((3, 12), name="A")
    axis = te.reduce_axis(12, "k")
    outputs = te.compute(
        (3,), lambda i: te.argmax((te.cast(axis, "int32"), source[i, axis]), axis=axis), name="T"
    )
    sch = Schedule(outputs)
    i, k = sch.loops("T")
    sch.bind(i, "blockIdx.x")
    _, threads, pair = sch.split(k, [None, 3, 2])
    sch.bind(threads, "threadIdx.x")
    sch.partition(pair, [1])
    a = (ramp(3, 12) * 7) % 12
    assert_joins(sch, [a], [a.argmax(1).astype("int32"), a.max(1)])


# ------------------------------------------------------------------------------ drawn


def _pick(rng: Rng, items: list[Any]) -> Any:
    return items[int(rng.integers(len(items)))]


def _draw(sch: Schedule, rng: Rng) -> tuple[str, list[Any]]:
    chain = sch.loops(_pick(rng, sch.blocks()))
    loop = _pick(rng, chain)
    tag = _pick(rng, ["threadIdx.x", "threadIdx.y", "blockIdx.x", "vthread"])
    choices: list[tuple[str, list[Any]]] = [
        ("bind", [loop, tag]),
        ("bind", [chain[0], "threadIdx.x"]),
        ("partition", [loop, [int(rng.integers(1, 4))]]),
        ("peel", [loop, int(rng.integers(2)), int(rng.integers(2))]),
        ("split", [loop, [None, _pick(rng, [2, 3, 4])], _pick(rng, ["mask", "guard", "peel"])]),
        ("reorder", [[chain[int(n)] for n in rng.permutation(len(chain))[:3]]]),
        ("unroll", [loop]),
    ]
    return _pick(rng, choices)


def check_seed(seed: int) -> None:
    """A drawn sum, cut and bound as drawn."""
    rng = np.random.default_rng(seed)
    shape = tuple(int(rng.integers(1, 7)) for _ in range(3))
    kept, start = int(rng.integers(2)), _pick(rng, [0, 0, 3])
    a = te.placeholder(shape, "int64", name="A")
    axes = [te.reduce_axis(n, f"k{d}") for d, n in enumerate(shape)][kept:]

    def element(*outer: te.Axis) -> te.Expr:
        return te.sum(a[*outer, *axes], axis=axes, init=start)

    total = te.compute(shape[:kept], element, name="S")
    sch = Schedule(total)
    for _ in range(10):
        name, args = _draw(sch, rng)
        try:
            allowed = bool(sch.preview(name, *args).verdict)
        except UserError:  # a factor that is none
            continue
        if allowed:
            sch.apply(name, *args)
    x = rng.integers(-9, 9, shape)
    want = x.sum(axis=tuple(range(kept, 3))) + start
    assert_joins(sch, [x], [np.asarray(want)])


@pytest.mark.parametrize("seed", [*range(8), 103, 140, 147, 176])
def test_drawn_cuts_and_threads_keep_the_sum(seed: int) -> None:
    check_seed(seed)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(100, 500))
def test_many_drawn_cuts_and_threads_keep_the_sum(seed: int) -> None:
    check_seed(seed)


@pytest.mark.parametrize("threads", [1, 3])
def test_vectors_of_sums_that_threads_join(threads: int) -> None:
    a = te.placeholder((4, threads), "int32", name="A")
    k = te.reduce_axis(threads, "k")
    sch = Schedule(te.compute((4,), lambda i: te.sum(a[i, k], axis=k), name="C"))
    i, k_loop = sch.loops("C")
    sch.reorder(k_loop, i)
    sch.bind(k_loop, "threadIdx.x")
    sch.vectorize(i)
    given = np.arange(4 * threads, dtype=np.int32).reshape(4, threads)
    assert_joins(sch, [given], [given.sum(axis=1, dtype=np.int32)])
