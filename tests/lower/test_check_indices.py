"""No call reads or writes outside a buffer: what cannot be proven is checked, and told clearly."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from helpers.random_schedules import random_steps
from helpers.workloads import random_workload
from numpy.typing import NDArray

import tvmlab as tl
from tvmlab import te
from tvmlab.codegen.interpreter import InterpreterFailure, interpret
from tvmlab.ir import Call, Program, parse, to_text, walk
from tvmlab.lower import LowerOptions
from tvmlab.lower.check_indices import check_indices
from tvmlab.support import RuntimeFailure

Array = NDArray[Any]


def is_checked(program: Program) -> bool:
    return any(isinstance(n, Call) and n.op == "outside" for n in walk(program.body))


def zeros(*shape: int) -> Array:
    return np.zeros(shape, np.float32)


def counted(*shape: int) -> Array:
    return np.arange(np.prod(shape), dtype=np.float32).reshape(shape)


def shifted(offset: int) -> te.Tensor:
    n, m = te.var("n"), te.var("m")
    a = te.placeholder((n,), name="A")
    return te.compute((m,), lambda i: a[i + offset], name="B")


def test_sizes_are_checked_once_per_call() -> None:
    exe = tl.build(shifted(10))
    a, b = counted(20), zeros(10)
    exe(a, b)
    np.testing.assert_array_equal(b, a[10:])
    with pytest.raises(RuntimeFailure) as failure:
        exe(a, zeros(11))
    assert "A[vi + 10] is read outside its shape: the index of dimension 0 is 20, but the size" in (
        str(failure.value)
    )
    exe(a, zeros(0))
    exe(a, b)
    text = exe.source("lowered")
    assert text.index("if m <= 0 or") < text.index("for i in range(m)")
    assert "select" not in text.split("else:")[0]


def test_a_far_index_does_not_crash() -> None:
    exe = tl.build(shifted(10**7))
    with pytest.raises(RuntimeFailure, match="is 10000000, but the size there is 8"):
        exe(counted(8), zeros(1))


def test_wrapping_index_arithmetic_is_no_way_out() -> None:
    exe = tl.build(shifted(2**63 - 5))
    with pytest.raises(RuntimeFailure, match="is read outside"):
        exe(counted(8), zeros(10))


def test_negative_indices() -> None:
    with pytest.raises(RuntimeFailure, match=r"the index of dimension 0 is -3, but"):
        tl.build(shifted(-3))(counted(20), zeros(10))


def test_scalar_arguments_in_indices() -> None:
    k = te.var("k")
    a = te.placeholder((16,), name="A")
    exe = tl.build(te.compute((8,), lambda i: a[i * 2 + k], name="B"))
    b = zeros(8)
    exe(1, counted(16), b)
    np.testing.assert_array_equal(b, np.arange(1, 16, 2))
    for bad in (2, -1, 10**9, -(10**12)):
        with pytest.raises(RuntimeFailure, match=r"A\[vi \* 2 \+ k\] is read outside its shape"):
            exe(bad, counted(16), b)


def gather() -> te.Tensor:
    rows = te.placeholder((100,), dtype="int32", name="I")
    table = te.placeholder((50, 64), name="T")
    return te.compute((100, 64), lambda i, j: table[rows[i], j], name="G")


def plain(sch: tl.Schedule) -> None:
    del sch


def vectors(sch: tl.Schedule) -> None:
    i, j = sch.loops("G")
    sch.vectorize(j)
    sch.parallel(i)


def vectors_of_rows(sch: tl.Schedule) -> None:
    i, j = sch.loops("G")
    sch.reorder(j, i)
    sch.vectorize(i)


def cached(sch: tl.Schedule) -> None:
    sch.cache_write("G", "local")


@pytest.mark.parametrize("schedule", [plain, vectors, vectors_of_rows, cached])
def test_indices_from_data_are_checked_in_the_loop(schedule: Any) -> None:
    sch = tl.Schedule(gather())
    schedule(sch)
    exe = tl.build(sch)
    rng = np.random.default_rng(0)
    rows, table, out = rng.integers(0, 50, 100).astype(np.int32), counted(50, 64), zeros(100, 64)
    exe(table, rows, out)
    np.testing.assert_array_equal(out, table[rows])
    for bad in (50, -1, 2**31 - 1, -(2**31)):
        rows[77] = bad
        with pytest.raises(
            RuntimeFailure, match=rf"dimension 0 is {bad}, but the size there is 50"
        ):
            exe(table, rows, out)
    with pytest.raises(InterpreterFailure, match="outside"):
        interpret(tl.lower(sch).program, [table, rows, out])
    program = tl.lower(sch).program
    assert to_text(parse(to_text(program))) == to_text(program)


def test_who_vouches_for_the_data_pays_nothing() -> None:
    unchecked = LowerOptions(check_indices=False)
    assert not is_checked(tl.lower(gather(), options=unchecked).program)
    # What depends on sizes costs nothing and stays.
    assert is_checked(tl.lower(shifted(1), options=unchecked).program)


def test_a_condition_that_guards_the_index_suffices() -> None:
    rows = te.placeholder((100,), dtype="int32", name="I")
    table = te.placeholder((50,), name="T")

    def element(i: Any) -> Any:
        fine = te.all(rows[i] >= 0, rows[i] < 50)
        return te.if_then_else(fine, table[rows[i]], 0.0)

    assert not is_checked(tl.lower(te.compute((100,), element)).program)


def test_a_condition_that_does_not_suffice() -> None:
    a = te.placeholder((10,), name="A")
    out = te.compute((20,), lambda i: te.if_then_else(i < 15, a[i], 0.0), name="B")
    with pytest.raises(RuntimeFailure, match=r"dimension 0 is 1[0-4], but the size there is 10"):
        tl.build(out)(counted(10), zeros(20))


def test_symbolic_conditions() -> None:
    n, m = te.var("n"), te.var("m")
    a = te.placeholder((n,), name="A")
    good = te.compute((m,), lambda i: te.if_then_else(i < n, a[i], 0.0), name="B")
    assert not is_checked(tl.lower(good).program)
    bad = te.compute((m,), lambda i: te.if_then_else(i < m - 1, a[i], 0.0), name="B")
    exe = tl.build(bad)
    exe(counted(4), zeros(5))
    with pytest.raises(RuntimeFailure, match="dimension 0 is 4, but the size there is 4"):
        exe(counted(4), zeros(6))


def test_stores_of_kernels() -> None:
    program = parse("""
def scatter(I: int32[8], A: float32[8], B: float32[4]):
    for i in range(8):
        B[int64(I[i])] = A[i]
""")
    assert isinstance(program, Program)
    exe = tl.build(program)
    out = zeros(4)
    exe(np.array([0, 1, 2, 3, 0, 1, 2, 3], np.int32), counted(8), out)
    np.testing.assert_array_equal(out, [4, 5, 6, 7])
    with pytest.raises(RuntimeFailure, match=r"B\[int64\(I\[i\]\)\] is written outside its shape"):
        exe(np.array([0, 1, 2, 3, 0, 1, 2, 4], np.int32), counted(8), out)


def test_blocks_that_leave_their_domain() -> None:
    program = parse("""
def wrong(A: float32[4]):
    for i in range(8):
        with block("A", vi=spatial(4, i)):
            A[vi] = 1.0
""")
    assert isinstance(program, Program)
    with pytest.raises(RuntimeFailure, match=r"block A leaves its domain: vi is [4-7], but"):
        tl.build(program)(zeros(4))


def test_blocks_that_do_not_run_leave_nothing() -> None:
    program = parse("""
def f(A: float32[4]):
    for j in range(2):
        for i in range(3):
            with block("A", vi=opaque(1, i - j * 4 + 1)):
                where(j <= 0 and j > 0)
                A[vi] = 1.0
""")
    assert isinstance(program, Program)
    out = zeros(4)
    tl.build(program)(out)
    np.testing.assert_array_equal(out, 0)


@pytest.mark.parametrize("seed", range(40))
def test_schedules_of_good_programs_need_no_check(seed: int) -> None:
    rng = np.random.default_rng(seed)
    sch = tl.Schedule(list(random_workload(rng).outputs))
    random_steps(sch, rng, 3)
    assert check_indices(sch.program) is sch.program


def test_a_side_that_is_never_taken_leaves_no_trace() -> None:
    x = te.placeholder((10,), name="x")
    sch = tl.Schedule(te.compute((10,), lambda i: te.if_then_else(i > 0, x[i - 1], x[0]), name="d"))
    (i,) = sch.loops("d")
    sch.peel(i, first=1)
    assert check_indices(sch.program) is sch.program


def test_a_copy_back_of_padding_stays_inside_wherever_it_is_computed() -> None:
    a = te.placeholder((7, 11), name="A")
    b = te.placeholder((11, 2), name="B")
    k = te.reduce_axis(11, "k")
    c = te.compute((7, 2), lambda i, j: te.sum(a[i, k] * b[k, j], axis=k), name="C")
    sch = tl.Schedule(c)
    written_back = sch.pad("C", [4, 1, 2])[0]
    i = sch.loops("C")[0]
    sch.reverse_compute_at(written_back, i)
    assert check_indices(sch.program) is sch.program
    assert "where(i < 7)" in str(sch)
    x, y, out = counted(7, 11), counted(11, 2), zeros(7, 2)
    tl.build(sch)(x, y, out)
    np.testing.assert_allclose(out, x @ y)


@pytest.mark.parametrize("kind", ["range", "parallel"])
def test_a_loop_over_nothing_reads_nothing(kind: str) -> None:
    program = parse(f"""\
def f(A: float32[4, 1], B: float32[4, 1]):
    for i in {kind}(4):
        B[i, 0] = A[i, 0]
        for k in range(0):
            B[i, k + 1] = B[i, k] + A[i, k + 1]
""")
    ones, result = np.ones((4, 1), "f4"), np.zeros((4, 1), "f4")
    tl.build(program)(ones, result)
    assert (result == ones).all()
