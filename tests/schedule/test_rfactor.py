"""Factored reductions: shapes and values for every built-in operation, tails, and refusals."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from helpers.refusals import assert_refused
from helpers.schedules import matmul_schedule
from helpers.steps import after_steps, ramp

from tvmlab import te
from tvmlab.ir import Expr, parse
from tvmlab.schedule import Schedule
from tvmlab.te import Tensor


def row_reduction(
    n: int, m: int, reduce: Callable[..., Expr] = te.sum, dtype: str = "float32", **more: Any
) -> Tensor:
    a = te.placeholder((n, m), dtype, name="A")
    k = te.reduce_axis(m, "k")
    return te.compute((n,), lambda i: reduce(a[i, k], axis=k, **more), name="C")


def total(m: int) -> Tensor:
    a = te.placeholder((m,), name="A")
    k = te.reduce_axis(m, "k")
    return te.compute((), lambda: te.sum(a[k], axis=k), name="C")


def test_partial_results_get_a_dimension_and_the_loop_becomes_spatial() -> None:
    sch = Schedule(row_reduction(6, 32))
    _, k = sch.loops("C")
    outer, inner = sch.split(k, [None, 8])
    block = sch.rfactor("C", inner)
    assert block.name == "C_rf"
    assert "C_rf = alloc(float32[8, 6])" in str(sch)
    sch.parallel(inner)
    assert sch.check("parallel", outer).rule == "parallel.reduction"
    assert [b.name for b in sch.blocks()] == ["C_rf", "C"]


@pytest.mark.parametrize("axis", [0, 1, -1, -2])
def test_factor_axis_places_the_dimension(axis: int) -> None:
    def steps(sch: Schedule) -> None:
        _, inner = sch.split(sch.loops("C")[1], [None, 4])
        sch.rfactor("C", inner, axis)
        shape = "[4, 6]" if axis in (0, -2) else "[6, 4]"
        assert f"C_rf = alloc(float32{shape})" in str(sch)

    after_steps(row_reduction(6, 12), steps, [ramp(6, 12)])


@pytest.mark.parametrize("which", [0, 1])
@pytest.mark.parametrize("length", [32, 129, 9])
@pytest.mark.parametrize("reduce", [te.sum, te.prod, te.min, te.max], ids=lambda f: f.__name__)
@pytest.mark.parametrize("dtype", ["float32", "int32"])
def test_values_of_each_operation_with_tails(
    reduce: Callable[..., Expr], dtype: str, length: int, which: int
) -> None:
    def steps(sch: Schedule) -> None:
        loops = sch.split(sch.loops("C")[1], [None, 8])
        sch.rfactor("C", loops[which])

    data = ramp(3, length, dtype=dtype)
    after_steps(row_reduction(3, length, reduce, dtype), steps, [data % 3])


def test_values_of_any_and_of_a_sum_over_some_places() -> None:
    a = te.placeholder((4, 20), "int32", name="A")
    k = te.reduce_axis(20, "k")
    found = te.compute((4,), lambda i: te.any(a[i, k] > 9, axis=k), name="C")
    picked = te.compute((4,), lambda i: te.sum(a[i, k], axis=k, where=a[i, k] > 0), name="C")

    def steps(sch: Schedule) -> None:
        _, inner = sch.split(sch.loops("C")[1], [None, 6])
        sch.rfactor("C", inner)

    for tensor in (found, picked):
        after_steps(tensor, steps, [ramp(4, 20, dtype="int32")])


def test_more_parts_than_iterations() -> None:
    """A sum of 50 in 20 parts, of which 3 are empty: these are zero, not undefined."""

    def steps(sch: Schedule) -> None:
        outer, _ = sch.split(sch.loops("C")[0], [20, None])
        sch.rfactor("C", outer)
        sch.parallel(outer)

    after_steps(total(50), steps, [ramp(50)])


def test_factoring_twice() -> None:
    def steps(sch: Schedule) -> None:
        outer, inner = sch.split(sch.loops("C")[0], [None, 8])
        first = sch.rfactor("C", inner)
        _, middle = sch.split(outer, [None, 2])
        sch.rfactor(first, middle)
        assert [b.name for b in sch.blocks()] == ["C_rf_rf", "C_rf", "C"]

    after_steps(total(129), steps, [ramp(129)])


def test_fused_reduction_loops() -> None:
    a = te.placeholder((3, 6, 7), name="A")
    p, q = te.reduce_axis(6, "p"), te.reduce_axis(7, "q")
    c = te.compute((3,), lambda i: te.sum(a[i, p, q], axis=[p, q]), name="C")

    def steps(sch: Schedule) -> None:
        _, x, y = sch.loops("C")
        outer, inner = sch.split(sch.fuse(x, y), [None, 5])
        sch.rfactor("C", inner)
        sch.reorder(inner, outer)

    after_steps(c, steps, [ramp(3, 6, 7)])


def test_partial_results_in_the_lanes_of_vectors_near_their_use() -> None:
    def steps(sch: Schedule) -> None:
        i, k = sch.loops("C")
        outer, inner = sch.split(k, [None, 16])
        partial = sch.rfactor("C", inner, 1)
        sch.vectorize(inner)
        sch.decompose_reduction(partial, outer)
        sch.parallel(i)

    after_steps(row_reduction(5, 64), steps, [ramp(5, 64)])


def test_spatial_loops_inside_the_reduction_are_copied_for_joining() -> None:
    def steps(sch: Schedule) -> None:
        i, j, k = sch.loops("C")
        outer, inner = sch.split(k, [None, 4])
        sch.reorder(outer, i, inner, j)
        sch.rfactor("C", inner)

    sch = matmul_schedule(6, 7, 11)
    steps(sch)
    a = te.placeholder((6, 11), name="A")
    b = te.placeholder((11, 7), name="B")
    r = te.reduce_axis(11, "k")
    c = te.compute((6, 7), lambda i, j: te.sum(a[i, r] * b[r, j], axis=r), name="C")
    after_steps(c, steps, [ramp(6, 11), ramp(11, 7)])
    assert [lp.name for lp in sch.loops("C")] == ["i", "j", "k_inner"]


def test_a_consumer_comes_after_the_joining() -> None:
    s = row_reduction(6, 16)
    d = te.compute((6,), lambda i: s[i] * 0.5, name="D")

    def steps(sch: Schedule) -> None:
        _, inner = sch.split(sch.loops("C")[1], [None, 4])
        sch.rfactor("C", inner)
        sch.reverse_compute_at("D", sch.loops("C")[0])

    after_steps(d, steps, [ramp(6, 16)])


@pytest.mark.parametrize("which", [0, 1])
@pytest.mark.parametrize("length", [12, 20])
def test_a_reduction_of_two_values(length: int, which: int) -> None:
    a = te.placeholder((6, length), name="A")
    k = te.reduce_axis(length, "k")
    outputs = te.compute((6,), lambda i: te.argmax((k, a[i, k]), axis=k), name="T")

    def steps(sch: Schedule) -> None:
        loops = sch.split(sch.loops("T")[1], [None, 6])
        assert sch.rfactor("T", loops[which]).name == "T_rf"

    after_steps(list(outputs), steps, [ramp(6, length)])


def _subtraction() -> Tensor:
    a = te.placeholder((6, 8), "int32", name="A")
    k = te.reduce_axis(8, "k")
    minus = te.comm_reducer(lambda x, y: x - y, lambda t: te.const(0, t), name="minus")
    return te.compute((6,), lambda i: minus(a[i, k], axis=k), name="C")


def test_an_unlawful_operation_is_refused_with_a_counterexample() -> None:
    """apache/tvm#15196: differences cannot be computed in parts."""
    sch = Schedule(_subtraction())
    verdict = sch.check("rfactor", "C", sch.loops("C")[1])
    assert (verdict.status, verdict.rule) == ("refused", "rfactor.unlawful")
    assert "it is not commutative" in verdict.reason
    assert "gives" in str(verdict.witness)


def test_an_unlawful_operation_of_a_program_by_hand() -> None:
    program = parse("""
def f(A: int32[4, 8], C: int32[4]):
    for i in range(4):
        for k in range(8):
            with block("C", vi=spatial(4, i), vk=reduce(8, k)):
                with init():
                    C[vi] = int32(0)
                C[vi] = C[vi] - A[vi, vk]
""")
    sch = Schedule(program)
    verdict = sch.check("rfactor", "C", sch.loops("C")[1])
    assert verdict.rule == "rfactor.unlawful"
    assert "gives" in str(verdict.witness)


def _elementwise() -> None:
    a = te.placeholder((8,), name="A")
    sch = Schedule(te.compute((8,), lambda i: a[i] + 1.0, name="C"))
    sch.rfactor("C", sch.loops("C")[0])


def _spatial() -> None:
    sch = Schedule(row_reduction(6, 8))
    sch.rfactor("C", sch.loops("C")[0])


def _decomposed() -> None:
    sch = Schedule(row_reduction(6, 8))
    k = sch.loops("C")[1]
    sch.decompose_reduction("C", k)
    sch.rfactor("C", k)


def _mixed() -> None:
    sch = Schedule(row_reduction(6, 8))
    sch.rfactor("C", sch.fuse(*sch.loops("C")))


def _peeled() -> None:
    sch = Schedule(row_reduction(6, 8))
    i, k = sch.loops("C")
    sch.peel(i, 1)
    sch.rfactor("C", k)


def _axis() -> None:
    sch = Schedule(row_reduction(6, 8))
    sch.rfactor("C", sch.loops("C")[1], 2)


def _elsewhere() -> None:
    s = row_reduction(6, 16)
    sch = Schedule(te.compute((6,), lambda i: s[i] * 0.5, name="D"))
    sch.rfactor("C", sch.loops("D")[0])


def _in_vector() -> None:
    sch = Schedule(row_reduction(6, 8))
    i, k = sch.loops("C")
    sch.vectorize(i)
    sch.rfactor("C", k)


REFUSALS: list[tuple[Callable[[], None], str, str]] = [
    (_elementwise, "rfactor.not-a-reduction", "cannot factor C: it is not a reduction"),
    (_spatial, "rfactor.spatial", "i is not one of its reduction loops"),
    (_decomposed, "rfactor.no-init", "factor before decomposing the reduction"),
    (_mixed, "rfactor.mixed", "runs over elements and over the reduction at once"),
    (_peeled, "rfactor.two-writers", "C is also written by C_first"),
    (_axis, "rfactor.axis", "2 dimension(s), so it is from -2 to 1"),
    (_elsewhere, "rfactor.not-around", "i_1 is not a loop around it"),
    (_in_vector, "rfactor.in-vector", "it is inside the vectorized loop i"),
]  # fmt: skip


@pytest.mark.parametrize(("run", "rule", "text"), REFUSALS, ids=[r[1] for r in REFUSALS])
def test_refusals(run: Callable[[], None], rule: str, text: str) -> None:
    assert_refused(run, rule, text)


def test_a_loop_of_one_iteration_says_so() -> None:
    sch = Schedule(row_reduction(6, 8))
    _, inner = sch.split(sch.loops("C")[1], [None, 1])
    verdict = sch.check("rfactor", "C", inner)
    assert verdict.reason.endswith(
        "k_inner is not one of its reduction loops, for it runs only once"
    )


def test_the_witness_of_a_single_number_is_written_as_in_programs() -> None:
    a = te.placeholder((8,), name="A")
    over = te.reduce_axis(8, "k")
    sch = Schedule(te.compute((), lambda: te.sum(a[over], axis=over), name="S"))
    verdict = sch.check("parallel", sch.loops("S")[0])
    assert str(verdict.witness) == "k=0 and k=1 both update S[()]"
    assert repr(verdict) == str(verdict)  # read at a console


def test_menus_offer_factoring_at_a_reduction_loop() -> None:
    sch = Schedule(row_reduction(6, 8))
    i, k = sch.loops("C")
    of_block = next(a for a in sch.actions("C") if a.primitive == "rfactor")
    assert of_block.verdict
    assert of_block.args["loop"] is k.var
    assert [p.name for p in of_block.params] == ["loop", "factor_axis"]
    of_loop = next(a for a in sch.actions(i) if a.primitive == "rfactor")
    assert of_loop.verdict.rule == "rfactor.spatial"


def test_the_tail_of_a_sum_stays_when_its_parts_are_moved() -> None:
    a = te.placeholder((8, 5), name="A")
    r = te.reduce_axis(5, "k")
    c = te.compute((8,), lambda i: te.sum(a[i, r], axis=r), name="C")

    def steps(sch: Schedule) -> None:
        ko, _ = sch.split(sch.loops("C")[1], [3, None])
        parts = sch.rfactor("C", ko, 0)
        sch.compute_at(parts, sch.loops("C")[1])

    after_steps(c, steps, [ramp(8, 5)])
