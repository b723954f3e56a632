"""Programs of the kinds that broke other compilers, with random sizes: tails within tails."""

from __future__ import annotations

import numpy as np
from helpers.random_programs import QUICK
from helpers.steps import after_steps, ramp
from hypothesis import given, settings
from hypothesis import strategies as st

from tvmlab import te
from tvmlab.driver import build
from tvmlab.schedule import Schedule

FEW = settings(QUICK, max_examples=8)
TAILS = st.sampled_from(["auto", "guard", "mask", "peel"])


@given(
    n=st.integers(1, 70), f=st.integers(1, 40), g=st.integers(1, 40), tails=st.tuples(TAILS, TAILS)
)
@FEW
def test_unequal_splits_of_producer_and_consumer(
    n: int, f: int, g: int, tails: tuple[str, str]
) -> None:
    a = te.placeholder((n,), name="A")
    c = te.compute((n,), lambda i: a[i] * 2.0, name="C")
    d = te.compute((n,), lambda i: c[i] + 1.0, name="D")

    def steps(s: Schedule) -> None:
        s.split(s.loops("C")[0], [None, f], tails[0])
        outer, _ = s.split(s.loops("D")[0], [None, g], tails[1])
        s.compute_at("C", outer)

    after_steps(d, steps, [ramp(n)])


@given(
    n=st.integers(2, 100), f=st.integers(1, 50), g=st.integers(1, 40), tail=TAILS, db=st.booleans()
)
@FEW
def test_caches_at_two_levels_of_a_loop_split_twice(
    n: int, f: int, g: int, tail: str, db: bool
) -> None:
    a = te.placeholder((n,), name="A")
    b = te.compute((n,), lambda i: a[i] + 3.0, name="B")

    def steps(s: Schedule) -> None:
        write = s.cache_write("B")
        read = s.cache_read("B", "A")
        outer, inner = s.split(s.loops(write)[0], [None, f], tail)
        middle, _ = s.split(inner, [None, g], tail)
        s.compute_at("B", middle)
        s.compute_at(read, outer)
        if db and s.check("double_buffer", read):
            s.double_buffer(read)

    after_steps(b, steps, [ramp(n)])


@given(f=st.integers(1, 20), tail=TAILS, sizes=st.lists(st.integers(0, 40), min_size=3, max_size=3))
@settings(QUICK, max_examples=6)
def test_sizes_known_only_at_run_time(f: int, tail: str, sizes: list[int]) -> None:
    n = te.var("n")
    a = te.placeholder((n,), name="A")
    sch = Schedule(te.compute((n,), lambda i: a[i] * 2.0, name="C"))
    _, inner = sch.split(sch.loops("C")[0], [None, f], tail)
    if f > 1:
        sch.vectorize(inner)
    kernel = build(sch)
    for size in sizes:
        x = ramp(size)
        out = np.full_like(x, 113)
        kernel(x, out)
        np.testing.assert_array_equal(out, x * 2)
