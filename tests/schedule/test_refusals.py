"""Every refusal: by which rule and in which words; and that nothing has changed after it."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from helpers.schedules import matmul_schedule
from helpers.steps import assert_values, ramp

from tvmlab import te
from tvmlab.schedule import RefusedError, Schedule
from tvmlab.support import ScheduleError
from tvmlab.te import Tensor


def matmul(n: int = 8) -> Tensor:
    a = te.placeholder((n, n), name="A")
    b = te.placeholder((n, n), name="B")
    k = te.reduce_axis(n, "k")
    return te.compute((n, n), lambda i, j: te.sum(a[i, k] * b[k, j], axis=k), name="C")


def chain() -> Tensor:
    a = te.placeholder((16,), name="A")
    b = te.compute((16,), lambda i: a[i] * 2.0, name="B")
    return te.compute((15,), lambda i: b[i] + b[i + 1], name="C")


def sum_then_scale() -> Tensor:
    a = te.placeholder((8, 16), name="A")
    k = te.reduce_axis(16, "k")
    s = te.compute((8,), lambda i: te.sum(a[i, k], axis=k), name="S")
    return te.compute((8,), lambda i: s[i] * 0.5, name="C")


def symbolic() -> Tensor:
    n = te.var("n")
    a = te.placeholder((n,), name="A")
    return te.compute((n,), lambda i: a[i] + 1.0, name="C")


def _parallel_reduction() -> Schedule:
    sch = Schedule(matmul())
    sch.parallel(sch.loops("C")[2])
    return sch


def _vectorize_reduction() -> None:
    a, k = te.placeholder((8, 16), "int32", name="A"), te.reduce_axis(16, "k")
    xor = te.comm_reducer(lambda x, y: x ^ y, lambda t: te.const(0, t))
    sch = Schedule(te.compute((8,), lambda i: xor(a[i, k], axis=k), name="C"))
    sch.vectorize(sch.loops("C")[1])


def _split_vectorized() -> None:
    sch = Schedule(matmul())
    j = sch.loops("C")[1]
    sch.vectorize(j)
    sch.split(j, [None, 2])


def _split_factors(factors: list[int | None]) -> Callable[[], None]:
    def run() -> None:
        sch = Schedule(matmul())
        sch.split(sch.loops("C")[0], factors)

    return run


def _split_symbolic() -> None:
    sch = Schedule(symbolic())
    sch.split(sch.loops("C")[0], [4, 4])


def _vectorize_symbolic() -> None:
    sch = Schedule(symbolic())
    sch.vectorize(sch.loops("C")[0])


def _fuse_apart() -> None:
    sch = Schedule(matmul())
    i, _, k = sch.loops("C")
    sch.fuse(i, k)


def _fuse_one() -> None:
    sch = Schedule(matmul())
    sch.fuse(sch.loops("C")[0])


def _reorder_other_nest() -> None:
    sch = Schedule(chain())
    sch.reorder(sch.loops("B")[0], sch.loops("C")[0])


def _reorder_shared() -> None:
    sch = Schedule(sum_then_scale())
    i, _ = sch.loops("S")
    sch.reverse_compute_at("C", i)
    sch.reorder(sch.loops("S")[1], i)


def _unroll_long() -> None:
    a = te.placeholder((100, 100), name="A")
    sch = Schedule(te.compute((100, 100), lambda i, j: a[i, j] + 1.0, name="C"))
    i, j = sch.loops("C")
    sch.unroll(i)
    sch.unroll(j)


def _parallel_in_vector() -> None:
    sch = Schedule(matmul())
    i, j, _ = sch.loops("C")
    sch.vectorize(i)
    sch.parallel(j)


def _vectorize_around_parallel() -> None:
    sch = Schedule(matmul())
    i, j, _ = sch.loops("C")
    sch.parallel(j)
    sch.vectorize(i)


def _serial_already() -> None:
    sch = Schedule(matmul())
    sch.serial(sch.loops("C")[0])


def _compute_output_at() -> None:
    sch = Schedule(two_outputs())
    sch.compute_at("B", sch.loops("C")[0])


def two_outputs() -> list[Tensor]:
    a = te.placeholder((8,), name="A")
    b = te.compute((8,), lambda i: a[i] + 1.0, name="B")
    return [b, te.compute((8,), lambda i: b[i] * 2.0, name="C")]


def _compute_at_itself() -> None:
    sch = Schedule(chain())
    sch.compute_at("B", sch.loops("B")[0])


def _compute_at_vector() -> None:
    sch = Schedule(chain())
    (i,) = sch.loops("C")
    sch.vectorize(i)
    sch.compute_at("B", i)


def _consumer_outside() -> None:
    a = te.placeholder((8,), name="A")
    b = te.compute((8,), lambda i: a[i] + 1.0, name="B")
    c = te.compute((8,), lambda i: b[i] * 2.0, name="C")
    d = te.compute((8,), lambda i: b[i] + c[i], name="D")
    sch = Schedule(d)
    sch.compute_at("B", sch.loops("C")[0])


def _reverse_unfinished() -> None:
    sch = Schedule(sum_then_scale())
    sch.reverse_compute_at("C", sch.loops("S")[1])


def _reverse_shifted() -> None:
    sch = Schedule(chain())
    sch.reverse_compute_at("C", sch.loops("B")[0])


def _reverse_no_producer() -> None:
    sch = Schedule(two_chains())
    sch.reverse_compute_at("D", sch.loops("X")[0])


def two_chains() -> list[Tensor]:
    a = te.placeholder((8,), name="A")
    x = te.compute((8,), lambda i: a[i] + 1.0, name="X")
    b = te.compute((8,), lambda i: a[i] * 2.0, name="B")
    return [x, te.compute((8,), lambda i: b[i] + 3.0, name="D")]


def _inline_output() -> None:
    Schedule(chain()).compute_inline("C")


def _inline_reduction() -> None:
    Schedule(sum_then_scale()).compute_inline("S")


def _reverse_inline_reduction() -> None:
    Schedule(sum_then_scale()).reverse_compute_inline("C")


def _reverse_inline_shifted() -> None:
    Schedule(chain()).reverse_compute_inline("C")


def _reverse_inline_shared() -> None:
    a = te.placeholder((8,), name="A")
    b = te.compute((8,), lambda i: a[i] + 1.0, name="B")
    c = te.compute((8,), lambda i: b[i] * 2.0, name="C")
    d = te.compute((8,), lambda i: b[i] + 1.0, name="D")
    Schedule([c, d]).reverse_compute_inline("C")


def _cache_unread() -> None:
    Schedule(chain()).cache_read("C", "A")


def _cache_own() -> None:
    Schedule(matmul()).cache_read("C", "C")


def _decompose_twice() -> None:
    sch = Schedule(matmul())
    k = sch.loops("C")[2]
    sch.decompose_reduction("C", k)
    sch.decompose_reduction("C", k)


def _decompose_elsewhere() -> None:
    sch = Schedule(sum_then_scale())
    sch.decompose_reduction("S", sch.loops("C")[0])


def _decompose_inside() -> None:
    sch = Schedule(matmul())
    i, j, k = sch.loops("C")
    sch.reorder(k, i)
    sch.decompose_reduction("C", j)


def _move_decomposed() -> None:
    a = te.placeholder((8, 8), name="A")
    k = te.reduce_axis(8, "k")
    s = te.compute((8,), lambda i: te.sum(a[i, k], axis=k), name="S")
    sch = Schedule(te.compute((8,), lambda i: s[i] + 1.0, name="C"))
    sch.decompose_reduction("S", sch.loops("S")[1])
    sch.compute_at("S", sch.loops("C")[0])


def _decompose_skewed() -> None:
    sch = Schedule(matmul())
    outer, inner = sch.split(sch.loops("C")[2], [None, 1])
    skewed = sch.skew(outer, inner, 1)
    sch.reorder(skewed, outer)
    sch.decompose_reduction("C", outer)


def _decompose_repeated() -> None:
    a = te.placeholder((8, 8), name="A")
    k = te.reduce_axis(8, "k")
    s = te.compute((8,), lambda i: te.sum(a[i, k], axis=k), name="S")
    sch = Schedule(te.compute((8, 4), lambda i, j: s[i] + a[i, j], name="C"))
    i, j = sch.loops("C")
    sch.compute_at("S", j)
    sch.decompose_reduction("S", i)


def _inline_out_of_parallel() -> None:
    """S is private to each iteration of j until its consumer leaves j."""
    a = te.placeholder((6, 5), name="A")
    k = te.reduce_axis(5, "k")
    s = te.compute((6,), lambda i: te.sum(a[i, k], axis=k), name="S")
    c = te.compute((6, 5), lambda i, j: a[i, j] - s[i], name="C")
    sch = Schedule(te.compute((6, 5), lambda i, j: c[i, j] + 1.0, name="D"))
    _, j = sch.loops("C")
    sch.compute_at("S", j)
    sch.parallel(j)
    sch.compute_inline("C")


REFUSALS: list[tuple[Callable[[], object], str, str]] = [
    (_parallel_reduction, "parallel.reduction",
     "cannot parallelize k: it is a reduction loop of block C, so two of its iterations add into "
     "the same element and must not run side by side"),
    (_vectorize_reduction, "vectorize.reduction", "must not sit in the lanes of one vector"),
    (_split_vectorized, "split.annotated", "cannot split j: it is already vectorized"),
    (_split_factors([2, 2]), "split.too-small", "make 4 iterations, but the loop has 8"),
    (_split_factors([None, None]), "split.factors", "of which at most one is None"),
    (_split_factors([None, 0]), "split.factors", "two or more positive factors"),
    (_split_factors([8]), "split.factors", "cannot split i by [8]"),
    (_split_symbolic, "split.symbolic-extent", "so one factor must be None"),
    (_vectorize_symbolic, "vectorize.symbolic-extent", "its extent is known only at run time"),
    (_fuse_apart, "fuse.not-adjacent", "k must be the only thing directly inside i"),
    (_fuse_one, "fuse.count", "name two or more nested loops"),
    (_reorder_other_nest, "reorder.not-nested", "neither loop is inside the other"),
    (_reorder_shared, "reorder.not-perfect", "it also contains block C"),
    (_unroll_long, "unroll.too-long", "10000 copies of its body"),
    (_parallel_in_vector, "parallel.in-vector", "it is inside the vectorized loop i"),
    (_vectorize_around_parallel, "vectorize.parallel-inside", "the parallel loop j is inside it"),
    (_serial_already, "serial.already", "i is a serial loop already"),
    (_compute_output_at, "compute_at.output", "B is an output of the program"),
    (_compute_at_itself, "compute_at.itself", "a block cannot be attached to itself"),
    (_compute_at_vector, "compute_at.in-vector", "i_1 is vectorized"),
    (_consumer_outside, "compute_at.consumer-outside", "its consumer D is outside i"),
    (_reverse_unfinished, "reverse_compute_at.unfinished", "finished only after its reduction"),
    (_reverse_shifted, "reverse_compute_at.shifted", "values of two iterations would be needed"),
    (_reverse_no_producer, "reverse_compute_at.no-producer", "none of what it reads is computed"),
    (_inline_output, "compute_inline.output", "C is an output of the program and must be stored"),
    (_inline_reduction, "compute_inline.reduction", "cannot inline S: it is a reduction"),
    (_reverse_inline_reduction, "reverse_compute_inline.producer", "S is a reduction"),
    (_reverse_inline_shifted, "reverse_compute_inline.shifted", "at computed or several places"),
    (_reverse_inline_shared, "reverse_compute_inline.other-consumer", "D also reads B"),
    (_cache_unread, "cache_read.not-read", "it does not read A"),
    (_cache_own, "cache_read.own-output", "use cache_write"),
    (_decompose_twice, "decompose_reduction.no-init", "it is not a reduction, or its start value"),
    (_decompose_elsewhere, "decompose_reduction.not-around", "i_1 is not a loop around it"),
    (_decompose_inside, "decompose_reduction.inside-reduction", "is inside the reduction loop k"),
    (_decompose_skewed, "decompose_reduction.shared-sum", "each iteration of k_inner_skewed"),
    (_decompose_repeated, "decompose_reduction.repeated-sum", "its sum is computed more than once"),
    (_inline_out_of_parallel, "compute_inline.breaks-parallel",
     "the parallel loop j would no longer be safe"),
    (_move_decomposed, "compute_at.two-writers", "S is also written by S_init"),
]  # fmt: skip


@pytest.mark.parametrize(("run", "rule", "text"), REFUSALS, ids=[r[1] for r in REFUSALS])
def test_refusal(run: Callable[[], object], rule: str, text: str) -> None:
    with pytest.raises(RefusedError) as caught:
        run()
    assert caught.value.verdict.rule == rule
    assert caught.value.verdict.status == "refused"
    assert text in str(caught.value)


def test_a_start_value_that_would_be_set_too_late() -> None:
    sch = Schedule(matmul())
    i, j, k = sch.loops("C")
    sch.reorder(k, i, j)
    outer, inner = sch.split(sch.fuse(k, i), [None, 3])
    verdict = sch.check("reorder", inner, outer)
    assert (verdict.status, verdict.rule) == ("refused", "reorder.dependence")
    assert str(verdict.witness) == (
        "k_i_fused_outer=0, k_i_fused_inner=1 writes C[1, 0], "
        "which k_i_fused_outer=3, k_i_fused_inner=0 reads"
    )


def test_refusal_shows_the_nest_with_the_loop_marked() -> None:
    with pytest.raises(RefusedError) as caught:
        _parallel_reduction()
    marked = [line for line in str(caught.value).splitlines() if line.startswith("->")]
    assert len(marked) == 1
    assert "for k in range(8):" in marked[0]


def test_refused_step_changes_nothing() -> None:
    sch = Schedule(matmul())
    before = sch.program
    k = sch.loops("C")[2]
    assert not sch.check("parallel", k)
    with pytest.raises(RefusedError):
        sch.parallel(k)
    assert sch.program is before
    assert len(sch.history) == 1


def test_witness_and_fix_of_a_parallel_reduction() -> None:
    sch = Schedule(matmul())
    verdict = sch.check("parallel", sch.loops("C")[2])
    assert str(verdict.witness) == "k=0 and k=1 both update C[0, 0]"
    fix, parts = verdict.fixes
    assert fix.title == "parallelize i instead, which is a spatial loop"
    assert parts.title.startswith("rfactor k")
    sch.apply_fix(fix)
    assert sch.loops("C")[0].kind == "parallel"


def test_fix_of_a_long_unroll_splits_first() -> None:
    a = te.placeholder((10000,), name="A")
    sch = Schedule(te.compute((10000,), lambda i: a[i] + 1.0, name="C"))
    (fix,) = sch.check("unroll", sch.loops("C")[0]).fixes
    sch.apply_fix(fix)
    assert [(lp.extent, lp.kind) for lp in sch.loops("C")] == [(1250, "serial"), (8, "unrolled")]


BAD_CALLS: list[tuple[Callable[[Schedule], object], str]] = [
    (lambda s: s.apply("spilt", None), "there is no schedule primitive 'spilt'"),
    (lambda s: s.split("i", [None, 2]), "split: loop must be a loop, not 'i'"),  # pyright: ignore[reportArgumentType] - wrong on purpose
    (lambda s: s.loops("D"), "there is no block 'D'"),
    (lambda s: s.cache_read("C", "X"), "there is no buffer 'X'"),
    (lambda s: s.cache_read("C", "A", "disk"), "scope cannot be 'disk'"),
    (lambda s: s.split(s.loops("C")[0], [None, 2.5]), "must be a list of whole numbers"),  # pyright: ignore[reportArgumentType] - wrong on purpose
    (lambda s: s.apply("split"), "split needs loop: the loop to split"),
    (lambda s: s.apply("vectorize", 1, 2), "vectorize takes 1 argument(s), not 2"),
    (lambda s: s.apply("vectorize", axis=1), "axis is not one of its parameters"),
    (lambda s: s.parallel(Schedule(matmul()).loops("C")[0]), "belongs to another schedule"),
    (lambda s: s.undo(), "there is nothing to undo"),
    (lambda s: s.redo(), "there is nothing to redo"),
    (lambda s: s.goto(7), "there is no state 7"),
    (lambda s: s.goto("best"), "there is no checkpoint named 'best'"),
    (lambda s: s.checkpoint(" "), "a checkpoint needs a name"),
]


@pytest.mark.parametrize(("call", "text"), BAD_CALLS, ids=[t for _, t in BAD_CALLS])
def test_bad_calls(call: Callable[[Schedule], object], text: str) -> None:
    from tvmlab.support import UserError

    with pytest.raises(UserError) as caught:
        call(Schedule(matmul()))
    assert text in str(caught.value)


def test_consumed_loop_says_what_it_became() -> None:
    sch = Schedule(matmul())
    i = sch.loops("C")[0]
    sch.split(i, [None, 4])
    with pytest.raises(ScheduleError) as caught:
        sch.parallel(i)
    assert "loop i no longer exists: split consumed it; it became i_outer, i_inner" in str(
        caught.value
    )


def test_a_fix_names_a_loop_as_the_program_prints_it() -> None:
    a = te.placeholder((18, 16), name="A")
    x = te.compute((18, 16), lambda y, x: a[y, x] * 2.0, name="X")
    b = te.compute((16, 16), lambda y, i: x[y, i] + x[y + 2, i], name="B")
    sch = Schedule(b)
    y, _ = sch.loops("B")
    sch.compute_at("X", y)
    sch.rolling_buffer("X")
    titles = [fix.title for fix in sch.check("parallel", y).fixes]
    assert titles == ["parallelize y_1 instead"]


def test_a_skewed_sum_is_decomposed_around_the_loop_that_shares_it() -> None:
    sch = matmul_schedule(3, 4, 13)
    outer, inner = sch.split(sch.loops("C")[2], [None, 1])
    skewed = sch.skew(outer, inner, 1)
    sch.reorder(skewed, outer)
    verdict = sch.check("decompose_reduction", "C", outer)
    assert "k_inner_skewed=1 would clear what" in str(verdict.witness)
    sch.decompose_reduction("C", skewed)
    a, b = ramp(3, 13), ramp(13, 4)
    assert_values(sch, [a, b], [a @ b])


def test_start_values_are_set_where_conditions_on_other_loops_hold() -> None:
    sch = matmul_schedule(5, 4, 6)
    outer, inner = sch.split(sch.loops("C")[0], [3, None])
    sch.skew(outer, inner, 2)
    init = sch.decompose_reduction("C", outer)
    assert next(loop.name for loop in sch.loops(init)) == "i_outer_init"
    a, b = ramp(5, 6), ramp(6, 4)
    assert_values(sch, [a, b], [a @ b])
