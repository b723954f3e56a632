"""software_pipeline and double_buffer: turns, copies, values, refusals."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pytest
from helpers.steps import after_steps, ramp

from tvmlab import te
from tvmlab.driver import build
from tvmlab.ir import parse, to_text
from tvmlab.lower import lower
from tvmlab.schedule import RefusedError, Schedule
from tvmlab.target import Target
from tvmlab.te import Tensor


def product(m: int, n: int, k: int) -> Tensor:
    a = te.placeholder((m, k), name="A")
    b = te.placeholder((k, n), name="B")
    r = te.reduce_axis(k, "k")
    return te.compute((m, n), lambda i, j: te.sum(a[i, r] * b[r, j], axis=r), name="C")


def chain(n: int = 12) -> Tensor:
    a = te.placeholder((n, 4), name="A")
    b = te.compute((n, 4), lambda i, j: a[i, j] * 2.0, name="B")
    c = te.compute((n, 4), lambda i, j: b[i, 3 - j] + 1.0, name="C")
    return te.compute((n, 4), lambda i, j: c[i, j] * b[i, j], name="D")


def staged(s: Schedule, factor: int = 4) -> None:
    i, j, k = s.loops("C")
    ko, ki = s.split(k, [None, factor])
    s.reorder(i, ko, j, ki)
    s.compute_at(s.cache_read("C", "B"), ko)


def in_one_loop(s: Schedule) -> None:
    i = s.loops("D")[0]
    s.compute_at("C", i)
    s.compute_at("B", i)


def lowered(sch: Schedule) -> str:
    return to_text(lower(sch.program, Target.host()).program)


@pytest.mark.parametrize("k", [18, 16, 4, 3])
def test_double_buffer_of_a_stage_attached_in_a_loop(k: int) -> None:
    def steps(s: Schedule) -> None:
        staged(s)
        s.double_buffer("B_local")

    sch = after_steps(product(3, 20, k), steps, [ramp(3, k), ramp(k, 20)])
    assert ("B_local = alloc(float32[160]" in lowered(sch)) == (k > 4)


@pytest.mark.parametrize("k", [18, 4])
def test_double_buffers_of_two_stages_in_one_loop(k: int) -> None:
    def steps(s: Schedule) -> None:
        i, j, r = s.loops("C")
        outer, inner = s.split(r, [None, 4])
        s.reorder(i, outer, j, inner)
        for name in "AB":
            s.compute_at(s.cache_read("C", name), outer)
        s.double_buffer("B_local")
        s.double_buffer("A_local")
        with pytest.raises(RefusedError, match="cannot pipeline k_outer: it is already"):
            s.double_buffer("B_local")

    sch = after_steps(product(3, 20, k), steps, [ramp(3, k), ramp(k, 20)])
    text = lowered(sch)
    assert ("B_local = alloc(float32[160]" in text) == (k > 4)
    assert ("A_local = alloc(float32[8]" in text) == (k > 4)


def test_a_double_buffer_keeps_a_deeper_plan() -> None:
    def steps(s: Schedule) -> None:
        in_one_loop(s)
        s.software_pipeline(s.loops("D")[0], [0, 1, 4])
        s.double_buffer("C")

    a = ramp(12, 4)
    sch = after_steps(chain(), steps, [a])
    assert '("D", 4, 2)' in str(sch)


@pytest.mark.parametrize(
    ("stages", "order", "copies"),
    [
        ([0, 0, 1], None, (2, 2)),
        ([0, 1, 2], None, (3, 2)),
        ([0, 1, 1], None, (2, 1)),
        ([0, 1, 2], [2, 1, 0], (2, 1)),
        ([0, 1, 4], [0, 2, 1], (5, 3)),
        ([0, 0, 1], [1, 2, 0], (1, 1)),
    ],
)
@pytest.mark.parametrize("rows", [1, 2, 3, 12])
def test_values_of_plans(
    stages: list[int], order: list[int] | None, copies: tuple[int, int], rows: int
) -> None:
    def steps(s: Schedule) -> None:
        in_one_loop(s)
        s.software_pipeline(s.loops("D")[0], stages, order)

    sch = after_steps(chain(rows), steps, [ramp(rows, 4)])
    if rows == 12:
        text = lowered(sch)
        for name, count in zip("BC", copies, strict=True):
            made = f"alloc(float32[{4 * count}])"
            assert f"{name} = {made}" in text or f"{made} as {name}:" in text


def test_an_extent_known_only_at_run_time() -> None:
    n = te.var("n")
    a = te.placeholder((n, 4), name="A")
    b = te.compute((n, 4), lambda i, j: a[i, j] * 2.0, name="B")
    c = te.compute((n, 4), lambda i, j: b[i, 3 - j] + 1.0, name="C")
    sch = Schedule(c)
    sch.compute_at("B", sch.loops("C")[0])
    sch.software_pipeline(sch.loops("C")[0], [0, 3])
    kernel = build(sch)
    for rows in (0, 1, 2, 3, 4, 9):
        x = ramp(rows, 4)
        out = np.empty_like(x)
        kernel(x, out)
        np.testing.assert_array_equal(out, x[:, ::-1] * 2 + 1)


def _plan(
    stages: Sequence[int], order: Sequence[int] | None = None
) -> Callable[[Schedule], object]:
    def steps(s: Schedule) -> None:
        in_one_loop(s)
        s.software_pipeline(s.loops("D")[0], stages, order)

    return steps


def _in_parallel(s: Schedule) -> None:
    in_one_loop(s)
    s.parallel(s.loops("D")[0])
    s.software_pipeline(s.loops("D")[0], [0, 0, 1])


def _twice(s: Schedule) -> None:
    _plan([0, 0, 1])(s)
    s.software_pipeline(s.loops("D")[0], [0, 0, 1])


def _split(s: Schedule) -> None:
    _plan([0, 0, 1])(s)
    s.split(s.loops("D")[0], [None, 2])


def _parallel(s: Schedule) -> None:
    _plan([0, 0, 1])(s)
    s.parallel(s.loops("D")[0])


def _bound(s: Schedule) -> None:
    _plan([0, 0, 1])(s)
    s.bind(s.loops("D")[0], "vthread")


def _stage_later(s: Schedule) -> None:
    _plan([0, 0, 1])(s)
    s.cache_read("D", "C")


def _not_attached(s: Schedule) -> None:
    s.double_buffer("B")


@pytest.mark.parametrize(
    ("steps", "rule", "words"),
    [
        (_plan([0, 1]), "software_pipeline.count", "3 statement"),
        (_plan([0, 0, 1], [0, 0, 1]), "software_pipeline.count", "each place once"),
        (_plan([0, 0, 0]), "software_pipeline.stages", "between 1 and 8"),
        (_plan([1, 1, 2]), "software_pipeline.stages", "begin with 0"),
        (_plan([1, 0, 1]), "software_pipeline.order", "would run earlier in the same iteration"),
        (_in_parallel, "software_pipeline.kind", "parallel"),
        (_twice, "software_pipeline.already", "already"),
        (_split, "split.pipelined", "unannotate"),
        (_parallel, "parallel.pipelined", "unannotate"),
        (_bound, "bind.breaks-pipeline", "not serial"),
        (_stage_later, "cache_read.breaks-pipeline", "pipeline it last"),
        (_not_attached, "double_buffer.no-loop", "compute_at first"),
    ],
)
def test_refusals(steps: Callable[[Schedule], object], rule: str, words: str) -> None:
    with pytest.raises(RefusedError) as refused:
        steps(Schedule(chain()))
    assert refused.value.verdict.rule == rule
    assert words in refused.value.verdict.reason


def test_a_buffer_of_all_iterations_keeps_its_order() -> None:
    a = te.placeholder((8,), name="A")
    b = te.compute((8,), lambda i: a[i] * 2.0, name="B")
    c = te.compute((8,), lambda i: b[i] + 1.0, name="C")
    sch = Schedule([c, te.compute((8,), lambda i: b[7 - i], name="D")])
    sch.reverse_compute_at("C", sch.loops("B")[0])
    with pytest.raises(RefusedError) as refused:
        sch.software_pipeline(sch.loops("B")[0], [0, 1])
    assert refused.value.verdict.rule == "software_pipeline.carried"
    assert refused.value.verdict.witness == "B of i=1 would run before C of i=0"
    sch.software_pipeline(sch.loops("B")[0], [0, 1], [1, 0])


def test_start_value_and_sum_stay_together() -> None:
    sch = Schedule(product(4, 8, 8))
    i, j, k = sch.loops("C")
    sch.reorder(i, k, j)
    sch.decompose_reduction("C", k)
    with pytest.raises(RefusedError) as refused:
        sch.software_pipeline(i, [0, 1])
    assert refused.value.verdict.rule == "software_pipeline.one-buffer"


def test_a_buffer_that_all_of_its_loop_writes_is_not_doubled() -> None:
    sch = Schedule(
        parse("""
def f(A: float32[8], B: float32[8], D: float32[8]):
    for t in range(8):
        with block("P", vt=spatial(8, t)):
            B[vt] = A[vt] * 2.0
        with block("R", vt=spatial(8, t)):
            D[vt] = B[vt] + 1.0
        with block("Q", vt=spatial(8, t)):
            B[vt] = D[vt] * D[vt]
""")
    )
    verdict = sch.check("double_buffer", "P")
    assert verdict.rule == "double_buffer.alone"
    assert "nothing could run while it fetches ahead" in verdict.reason
