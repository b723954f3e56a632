"""Loops over sizes known only at run time, fused and cut into a number of parts, side by side."""

from __future__ import annotations

import numpy as np
import pytest

import tvmlab as tl
from tvmlab import te
from tvmlab.ir import Expr, parse
from tvmlab.schedule import Schedule
from tvmlab.te.axis import Axis


def doubled(rank: int) -> te.Tensor:
    sizes = tuple(te.var(name) for name in "nml"[:rank])
    a = te.placeholder(sizes, name="A")

    def element(*indices: Axis) -> Expr:
        return a[indices] * 2.0

    return te.compute(sizes, element, name="B")


def check(schedule: Schedule, rank: int) -> None:
    kernel = tl.build(schedule)
    for shape in ((5, 7, 3), (1, 1, 1), (16, 2, 9)):
        given = np.random.default_rng(0).random(shape[:rank], dtype="float32")
        out = np.zeros_like(given)
        kernel(given, out)
        np.testing.assert_array_equal(out, given * 2)


@pytest.mark.parametrize("rank", [2, 3])
def test_fused_split_and_run_side_by_side(rank: int) -> None:
    b = doubled(rank)
    sch = Schedule(b)
    outer, inner = sch.split(sch.fuse(*sch.loops("B")), [None, 16])
    sch.parallel(outer)
    sch.vectorize(inner)
    check(sch, rank)


def test_a_number_of_parts() -> None:
    b = doubled(2)
    sch = Schedule(b)
    i, _ = sch.loops("B")
    part, inside = sch.split(i, [4, None])
    sch.parallel(part)
    _, lanes = sch.split(inside, [None, 8])
    sch.vectorize(lanes)
    check(sch, 2)


def test_other_divisors_do_not_tell_iterations_apart() -> None:
    sch = Schedule(
        parse("""
def f(n: int64, m: int64, A: float32[n, n]):
    for i in range(n):
        with block("A", vi=spatial(n, i // m), vj=spatial(n, i % (m + 1))):
            A[vi, vj] = 1.0
""")
    )
    assert sch.check("parallel", *sch.loops("A")).rule == "parallel.overlap"
