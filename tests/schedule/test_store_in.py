"""store_in: intermediates in the place of what is made of them; values, refusals."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from helpers.random_tensors import random_tensors
from helpers.refusals import assert_refused
from helpers.steps import after_steps, ramp
from helpers.te_values import assert_same, scheduled_values, values_of
from hypothesis import given, settings
from hypothesis import strategies as st

from tvmlab import te
from tvmlab.ir import Buffer, const_int
from tvmlab.schedule import BlockRef, Schedule
from tvmlab.te import Tensor


def centered(n: int = 6, m: int = 10) -> Tensor:
    """Rows doubled, then their sum taken off."""
    a = te.placeholder((n, m), name="A")
    b = te.compute((n, m), lambda i, j: a[i, j] * 2.0, name="B")
    k = te.reduce_axis(m, "k")
    s = te.compute((n,), lambda i: te.sum(b[i, k], axis=k), name="S")
    return te.compute((n, m), lambda i, j: b[i, j] - s[i], name="C")


def attached(s: Schedule) -> None:
    i, _ = s.loops("C")
    s.compute_at("S", i)
    s.compute_at("B", i)


@pytest.mark.parametrize("kind", ["serial", "parallel"])
def test_rows_wait_in_the_output(kind: str) -> None:
    def steps(s: Schedule) -> None:
        attached(s)
        s.vectorize(s.loops("C")[-1])
        if kind == "parallel":
            s.parallel(s.loops("C")[0])
        s.store_in("B", "C")

    sch = after_steps(centered(), steps, [ramp(6, 10)])
    assert "B = alloc" not in str(sch)
    assert "C[vi, vj] = C[vi, vj] - S[vi]" in str(sch)


def test_whole_arrays_and_chains_of_them() -> None:
    a = te.placeholder((5, 7), name="A")
    b = te.compute((5, 7), lambda i, j: a[i, j] * 2.0, name="B")
    c = te.compute((5, 7), lambda i, j: b[i, j] + 1.0, name="C")
    d = te.compute((5, 7), lambda i, j: c[i, j] * b[i, j], name="D")

    def steps(s: Schedule) -> None:
        s.store_in("C", "D")
        s.vectorize(s.loops("B")[1])

    after_steps(d, steps, [ramp(5, 7)])
    # D is made of B after C took its place.
    assert_refused(lambda: Schedule(d).store_in("B", "C"), "store_in.needed-later", "D still needs")


def test_a_sum_is_taken_in_the_output() -> None:
    a = te.placeholder((4, 9, 5), name="A")
    k = te.reduce_axis(9, "k")
    s = te.compute((4, 5), lambda i, j: te.sum(a[i, k, j], axis=k), name="S")
    c = te.compute((4, 5), lambda i, j: s[i, j] * 0.5, name="C")
    after_steps(c, lambda sch: sch.store_in("S", "C"), [ramp(4, 9, 5)])


def _other_place() -> Tensor:
    a = te.placeholder((8,), name="A")
    b = te.compute((8,), lambda i: a[i] * 2.0, name="B")
    return te.compute((8,), lambda i: b[7 - i] + 1.0, name="C")


def _other_shape() -> Tensor:
    a = te.placeholder((8, 3), name="A")
    b = te.compute((8, 3), lambda i, j: a[i, j] * 2.0, name="B")
    return te.compute((3, 8), lambda i, j: b[j, i] + 1.0, name="C")


def _windows() -> Tensor:
    a = te.placeholder((8,), name="A")
    b = te.compute((8,), lambda i: a[i] * 2.0, name="B")
    k = te.reduce_axis(3, "k")
    s = te.compute((6,), lambda i: te.sum(b[i + k], axis=k), name="S")
    return te.compute((8,), lambda i: b[i] + te.if_then_else(i < 6, s[i % 6], 0.0), name="C")


def _sum() -> Tensor:
    a = te.placeholder((4, 4), name="A")
    b = te.compute((4, 4), lambda i, j: a[i, j] * 2.0, name="B")
    k = te.reduce_axis(4, "k")
    return te.compute((4, 4), lambda i, j: te.sum(b[i, j] * a[k, j], axis=k), name="C")


def _nothing(s: Schedule) -> None:
    del s


def _windows_at_rows(s: Schedule) -> None:
    (i,) = s.loops("C")
    s.compute_at("S", i)


@pytest.mark.parametrize(
    ("output", "steps", "names", "rule", "words"),
    [
        (centered(), _nothing, ("C", "B"), "store_in.output", "for the caller"),
        (centered(), _nothing, ("S", "C"), "store_in.shape", "differ in shape"),
        (centered(), _nothing, ("B", "A"), "store_in.writers", "written by no block"),
        (_other_shape(), _nothing, ("B", "C"), "store_in.shape", "differ in shape"),
        (_other_place(), _nothing, ("B", "C"), "store_in.place", "of that element of B"),
        (_sum(), _nothing, ("B", "C"), "store_in.kind", "not an element-wise block"),
        (_windows(), _windows_at_rows, ("B", "C"), "store_in.shared", "may need what C"),
    ],
)  # fmt: skip
def test_refusals(
    output: Tensor,
    steps: Callable[[Schedule], None],
    names: tuple[str, str],
    rule: str,
    words: str,
) -> None:
    sch = Schedule(output)
    steps(sch)
    assert_refused(lambda: sch.store_in(*names), rule, words)


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 100_000))
def test_whatever_is_accepted_is_right(seed: int) -> None:
    _, output = random_tensors(np.random.default_rng(seed), "float32")
    rng = np.random.default_rng(seed)
    arrays = [
        rng.integers(-3, 4, [const_int(n) or 0 for n in p.shape]).astype(p.dtype.numpy)
        for p in te.create_program([output]).params[:-1]
        if isinstance(p, Buffer)
    ]
    sch = Schedule(output)
    for block in sch.blocks()[:-1]:  # some at loops of their consumers, some not
        consumer = sch.blocks()[-1]
        loops = sch.loops(consumer)
        if loops and rng.integers(2) and sch.check("compute_at", block, loops[0]):
            sch.compute_at(block, loops[0])
    for block in sch.blocks():
        _try_all(sch, block)
    assert_same(scheduled_values(sch, [output], arrays), values_of(output, arrays))


def _try_all(sch: Schedule, block: BlockRef) -> None:
    for buffer in sch.program.buffers:
        if sch.check("store_in", block, buffer):
            sch.store_in(block, buffer)
            return
