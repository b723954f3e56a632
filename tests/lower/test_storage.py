"""Lives of buffers, sharing of memory, and sizes beyond 32 bits and beyond the stack."""

from __future__ import annotations

import numpy as np
import pytest
from helpers.random_programs import QUICK
from helpers.steps import after_steps, ramp
from hypothesis import given, settings
from hypothesis import strategies as st

from tvmlab import te
from tvmlab.codegen.llvm import emit_module
from tvmlab.driver import build
from tvmlab.ir import Buffer, const, parse, seq
from tvmlab.lower import lower, storage_report
from tvmlab.lower.liveness import Life, Stretch, lives_in
from tvmlab.schedule import Schedule
from tvmlab.support import FLOAT32
from tvmlab.target import Target
from tvmlab.te import Tensor

TARGET = Target.of("cpu -mtriple=x86_64-linux-gnu -mcpu=x86-64-v4")


def chain(sizes: list[int], dtype: str = "float32") -> Tensor:
    """Stage n reads stage n - 1, from its end."""
    last = te.placeholder((sizes[0],), dtype, name="A")
    for number, size in enumerate(sizes):
        source, before = last, sizes[max(number - 1, 0)]
        last = te.compute(
            (size,),
            lambda i, source=source, before=before: source[(before - 1) - i % before] + 1,
            name=f"T{number}",
        )
    return last


def test_lives_are_read_through_allocations() -> None:
    program = parse(
        "def f(A: float32[4], C: float32[4]):\n"
        "    with alloc(float32[4]) as T:\n"
        "        T[0] = A[0]\n"
        "        with alloc(float32[4]) as U:\n"
        "            U[0] = T[0]\n"
        "            C[1] = U[0]\n"
        "    C[0] = A[1]\n"
    )
    stretch = Stretch.of(program.body)
    t, u = stretch.allocs
    lives = lives_in(stretch.stmts, stretch.allocs)
    assert (lives[t], lives[u]) == (Life(0, 1), Life(1, 2))
    assert lives[t].overlaps(lives[u])
    assert len(stretch.stmts) == 4


def test_two_places_serve_a_chain_of_any_length() -> None:
    sch = after_steps(chain([512, 300, 512, 700, 256]), lambda s: None, [ramp(512)])
    report = storage_report(lower(sch.program, TARGET).program)
    assert [use.holds for use in report.uses] == [("T0", "T2"), ("T1", "T3")]
    assert report.peak == 4 * (512 + 700)
    assert report.saved == 4 * (512 + 700)


def test_small_buffers_and_other_types_keep_their_own_place() -> None:
    report = storage_report(lower(Schedule(chain([64, 64, 64, 64])).program, TARGET).program)
    assert report.saved == 0
    a = te.placeholder((512,), name="A")
    b = te.compute((512,), lambda i: a[511 - i] * 2.0, name="B")
    c = te.compute((512,), lambda i: te.cast(b[511 - i], "int32"), name="C")
    d = te.compute((512,), lambda i: te.cast(c[511 - i], "float64"), name="D")
    e = te.compute((512,), lambda i: d[511 - i] + 1.0, name="E")
    assert storage_report(lower(Schedule(e).program, TARGET).program).saved == 0


@given(st.lists(st.integers(250, 700), min_size=3, max_size=7))
@settings(QUICK, max_examples=8)
def test_random_chains_keep_their_values(sizes: list[int]) -> None:
    after_steps(chain(sizes, "int32"), lambda s: None, [ramp(sizes[0], dtype="int32")])


def test_sharing_inside_a_loop() -> None:
    rows = 3
    a = te.placeholder((rows, 512), name="A")
    last = a
    for n in range(4):
        last = te.compute((rows, 512), lambda i, j, last=last: last[i, 511 - j] + 1.0, name=f"T{n}")

    def steps(s: Schedule) -> None:
        i = s.loops("T3")[0]
        for n in (2, 1, 0):
            s.compute_at(f"T{n}", i)
        s.parallel(i)

    sch = after_steps(last, steps, [ramp(rows, 512)])
    assert storage_report(lower(sch.program, TARGET).program).saved == 2048


@pytest.mark.parametrize("attached", [False, True])
def test_large_intermediates_are_not_on_the_stack(attached: bool) -> None:
    """100 MB in all; attached to a parallel loop, 13 MB in each thread."""
    rows, columns = 8, 13_000_000 // 4
    a = te.placeholder((rows, columns), name="A")
    b = te.compute((rows, columns), lambda i, j: a[i, columns - 1 - j] * 2.0, name="B")
    c = te.compute((rows, columns), lambda i, j: b[i, columns - 1 - j] + 1.0, name="C")
    sch = Schedule(c)
    i = sch.loops("C")[0]
    if attached:
        sch.compute_at("B", i)
    sch.parallel(i)
    x = np.ones((rows, columns), "float32")
    out = np.empty_like(x)
    build(sch)(x, out)
    assert (out == 3.0).all()


def test_sizes_and_offsets_have_64_bits() -> None:
    n = 70_000
    a = te.placeholder((n,), "int8", name="A")
    b = te.compute((n, n), lambda i, j: a[i] + a[j], name="B")
    c = te.compute((n, n), lambda i, j: b[j, i], name="C")
    lowered = lower(Schedule(c).program, TARGET).program
    report = storage_report(lowered)
    assert report.peak == n * n > 1 << 32
    text = emit_module(lowered, TARGET)
    assert str(-(-n * n // 64) * 64) in text


def test_a_buffer_that_nothing_touches_has_no_life() -> None:
    buffer = Buffer("T", (const(4),), FLOAT32)
    assert lives_in((seq([]),), [buffer]) == {}
