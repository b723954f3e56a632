"""Fixes that a refusal offers: in which words, that they can be taken, and that values stay."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from helpers.random_schedules import random_steps, references
from helpers.workloads import random_workload

from tvmlab import te
from tvmlab.codegen import interpret
from tvmlab.ir import Buffer, Program
from tvmlab.schedule import Schedule
from tvmlab.schedule.registry import PRIMITIVES
from tvmlab.te import Tensor, TensorIntrin

Asked = tuple[Schedule, str, tuple[Any, ...]]


def rows_and_sums() -> Tensor:
    """B is element-wise, S a sum of it, D element-wise again."""
    a = te.placeholder((6, 8), name="A")
    b = te.compute((6, 8), lambda i, j: a[i, j] * 2.0, name="B")
    k = te.reduce_axis(8, "k")
    s = te.compute((6,), lambda i: te.sum(b[i, k], axis=k), name="S")
    return te.compute((6,), lambda i: s[i] + 1.0, name="D")


def two_readers() -> Tensor:
    a = te.placeholder((6, 8), name="A")
    b = te.compute((6, 8), lambda i, j: a[i, j] * 2.0, name="B")
    c = te.compute((6, 8), lambda i, j: b[i, j] + 1.0, name="C")
    return te.compute((6, 8), lambda i, j: b[i, j] * c[i, j], name="D")


def neighbors() -> Tensor:
    a = te.placeholder((16,), name="A")
    b = te.compute((16,), lambda i: a[i] * 2.0, name="B")
    return te.compute((14,), lambda i: b[i] + b[i + 2], name="C")


def product(n: int = 10, m: int = 12, depth: int = 7) -> Tensor:
    a, b = te.placeholder((n, depth), name="A"), te.placeholder((depth, m), name="B")
    k = te.reduce_axis(depth, "k")
    return te.compute((n, m), lambda i, j: te.sum(a[i, k] * b[k, j], axis=k), name="C")


def adder(length: int) -> TensorIntrin:
    x = te.placeholder((length,), name="x")
    y = te.compute((length,), lambda i: x[i] + 1.0, name="y")

    def code(ins: Any, outs: Any) -> Any:
        return te.call_extern("int32", "add_one", outs[0].access_ptr("w"), ins[0].access_ptr("r"))

    return te.decl_tensor_intrin(y.op, code, name=f"add_one_{length}")


def plus_one(length: int) -> Tensor:
    a = te.placeholder((length,), name="A")
    return te.compute((length,), lambda i: a[i] + 1.0, name="C")


def _consumer_outside() -> Asked:
    sch = Schedule(two_readers())
    sch.reverse_compute_at("D", sch.loops("C")[0])
    return sch, "compute_at", ("B", sch.loops("C")[1])


def _consumer_elsewhere() -> Asked:
    sch = Schedule(two_readers())
    return sch, "compute_at", ("B", sch.loops("C")[1])


def _in_vector() -> Asked:
    sch = Schedule(rows_and_sums())
    (i,) = sch.loops("D")
    _, inner = sch.split(i, [None, 2])
    sch.vectorize(inner)
    return sch, "compute_at", ("S", inner)


def _unfinished() -> Asked:
    sch = Schedule(rows_and_sums())
    return sch, "reverse_compute_at", ("D", sch.loops("S")[1])


def _shifted() -> Asked:
    sch = Schedule(neighbors())
    return sch, "reverse_compute_at", ("C", sch.loops("B")[0])


def _sum_without_start() -> Asked:
    sch = Schedule(rows_and_sums())
    sch.decompose_reduction("S", sch.loops("S")[0])
    return sch, "reverse_compute_at", ("S", sch.loops("B")[0])


def _inline_sum() -> Asked:
    return Schedule(rows_and_sums()), "compute_inline", ("S",)


def _inline_into_sum() -> Asked:
    return Schedule(rows_and_sums()), "reverse_compute_inline", ("D",)


def _decompose_inside() -> Asked:
    sch = Schedule(product())
    k = sch.loops("C")[2]
    _, inner = sch.split(k, [None, 7])
    inner = sch.split(inner, [7, None])[1]
    return sch, "decompose_reduction", ("C", inner)


def _double_buffer() -> Asked:
    return Schedule(rows_and_sums()), "double_buffer", ("S",)


def _rolling() -> Asked:
    return Schedule(neighbors()), "rolling_buffer", ("B",)


def _fuse_apart() -> Asked:
    a = te.placeholder((4, 5, 6), name="A")
    sch = Schedule(te.compute((4, 5, 6), lambda i, j, k: a[i, j, k] + 1.0, name="C"))
    i, _, k = sch.loops("C")
    return sch, "fuse", (i, k)


def _not_perfect() -> Asked:
    sch = Schedule(rows_and_sums())
    i, k = sch.loops("S")
    sch.reverse_compute_at("D", i)
    return sch, "reorder", (k, i)


def _scope_of_parameter() -> Asked:
    sch = Schedule(product())
    return sch, "set_scope", (sch.program.params[0], "local")


def _annotated() -> Asked:
    sch = Schedule(product())
    j = sch.loops("C")[1]
    sch.vectorize(j)
    return sch, "split", (j, [None, 4])


def _pipelined() -> Asked:
    sch = Schedule(rows_and_sums())
    (i,) = sch.loops("D")
    sch.compute_at("S", i)
    sch.software_pipeline(i, [0, 1])
    return sch, "split", (i, [None, 2])


def _symbolic() -> Asked:
    n = te.var("n")
    a = te.placeholder((n,), name="A")
    sch = Schedule(te.compute((n,), lambda i: a[i] + 1.0, name="C"))
    return sch, "vectorize", (sch.loops("C")[0],)


def _tile_size() -> Asked:
    sch = Schedule(plus_one(32))
    return sch, "tensorize", (sch.loops("C")[0], adder(8))


def _tile_size_ragged() -> Asked:
    sch = Schedule(plus_one(30))
    return sch, "tensorize", (sch.loops("C")[0], adder(8))


def _last_tile() -> Asked:
    sch = Schedule(plus_one(30))
    _, inner = sch.split(sch.loops("C")[0], [None, 8])
    return sch, "tensorize", (inner, adder(8))


def _shared_window() -> Asked:
    sch = Schedule(neighbors())
    (i,) = sch.loops("C")
    sch.compute_at("B", i)
    return sch, "vectorize", (i,)


def _root_needs_another() -> Asked:
    sch = Schedule(rows_and_sums())
    (i,) = sch.loops("D")
    sch.compute_at("S", i)
    sch.compute_at("B", i)
    return sch, "compute_root", ("S",)


CASES: dict[str, tuple[Callable[[], Asked], str, str]] = {
    "further out": (
        _consumer_outside,
        "compute_at.consumer-outside",
        "further out instead, at i_1",
    ),
    "gather": (_consumer_elsewhere, "compute_at.consumer-outside", "compute D at j_1 too"),
    "out of the vector": (_in_vector, "compute_at.in-vector", "further out instead, at i_outer"),
    "after the sum": (_unfinished, "reverse_compute_at.unfinished", "further out instead, at i_1"),
    "bring": (_shifted, "reverse_compute_at.shifted", "inline B into C instead"),
    "bring to a sum": (
        _sum_without_start,
        "reverse_compute_at.kind",
        "compute B at k instead",
    ),
    "near": (_inline_sum, "compute_inline.reduction", "compute S at i_2 instead, where it is read"),
    "follow": (_inline_into_sum, "reverse_compute_inline.producer", "as soon as S is known"),
    "at the sum": (_decompose_inside, "decompose_reduction.inside-reduction", "by its reduction"),
    "attach": (_double_buffer, "double_buffer.no-loop", "then double buffer S"),
    "attach a window": (_rolling, "rolling_buffer.no-loop", "then keep a rolling window of B"),
    "adjacent": (_fuse_apart, "fuse.not-adjacent", "move j outside of i, then fuse as asked"),
    "apart": (_not_perfect, "reorder.not-perfect", "give D loops of its own by compute_root"),
    "stage": (_scope_of_parameter, "set_scope.parameter", "let C read a copy of A in local"),
    "serial": (_annotated, "split.annotated", "make j serial, then split j"),
    "no plan": (_pipelined, "split.pipelined", "take software_pipeline off i"),
    "inner loop": (_symbolic, "vectorize.symbolic-extent", "split i by 16 and vectorize"),
    "tile": (_tile_size, "tensorize.mismatch", "split i by 8, then tensorize the inner loops"),
    "pad and tile": (_tile_size_ragged, "tensorize.mismatch", "pad C and split i by 8"),
    "pad": (_last_tile, "tensorize.guard", "pad C to multiples of 8, then tensorize"),
    "not shared": (_shared_window, "vectorize.dependence", "so that iterations share no B"),
    "move first": (_root_needs_another, "compute_root.order", "give B loops of its own"),
}


def values(program: Program, seed: int = 0) -> list[np.ndarray[Any, Any]]:
    rng = np.random.default_rng(seed)
    arrays = [
        rng.integers(-4, 5, p.const_shape).astype(p.dtype.numpy)
        for p in program.params
        if isinstance(p, Buffer) and p.const_shape is not None
    ]
    interpret(program, arrays)
    return arrays


@pytest.mark.parametrize("name", CASES)
def test_a_fix_is_offered_and_keeps_the_values(name: str) -> None:
    make, rule, title = CASES[name]
    schedule, step, args = make()
    verdict = schedule.check(step, *args)
    assert verdict.rule == rule
    fixes = [fix for fix in verdict.fixes if title in fix.title]
    assert fixes, str(verdict)
    before = schedule.program
    schedule.apply_fix(fixes[0])
    assert schedule.program is not before
    if all(p.const_shape for p in before.params if isinstance(p, Buffer)):
        for new, old in zip(values(schedule.program), values(before), strict=True):
            np.testing.assert_array_equal(new, old)


def test_every_repair_is_of_a_primitive() -> None:
    from tvmlab.schedule.repairs import _REPAIRS  # pyright: ignore[reportPrivateUsage]

    assert {rule.partition(".")[0] for rule in _REPAIRS} <= set(PRIMITIVES)


def check_fixes(seed: int, limit: int) -> int:
    """Take each offered fix of some refused steps of a random schedule; the number of fixes."""
    rng = np.random.default_rng(seed)
    workload = random_workload(rng)
    schedule = Schedule([*workload.outputs], args=[*workload.inputs, *workload.outputs])
    random_steps(schedule, rng, seed % 7)
    refs = references(schedule)
    refused = [a for ref in refs for a in schedule.actions(ref) if not a.verdict]
    fixes = [fix for a in refused for fix in a.verdict.fixes]
    for number in rng.permutation(len(fixes))[:limit]:
        copy = schedule.copy()
        copy.apply_fix(fixes[int(number)])
        text = f"seed {seed}: {fixes[int(number)]}\n{schedule}\n{copy}"
        results: list[list[np.ndarray[Any, Any]]] = []
        for program in (schedule.program, copy.program):
            outputs = [np.full(t.const_shape or (), 113, t.dtype.numpy) for t in workload.outputs]
            interpret(program, [*workload.arrays(seed), *outputs])
            results.append(outputs)
        for new, old in zip(results[1], results[0], strict=True):
            np.testing.assert_allclose(new, old, rtol=1e-5, atol=1e-5, err_msg=text)
    return len(fixes)


@pytest.mark.parametrize("first", range(0, 12, 4))
def test_fixes_of_random_refusals_keep_the_values(first: int) -> None:
    assert sum(check_fixes(seed, limit=3) for seed in range(first, first + 4))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(1000, 1100))
def test_fixes_of_many_random_refusals_keep_the_values(seed: int) -> None:
    check_fixes(seed, limit=10)
