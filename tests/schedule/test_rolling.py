"""rolling_buffer: windows in a circle, what is computed anew, values, refusals."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from helpers.refusals import assert_refused
from helpers.steps import after_steps, ramp

from tvmlab import te
from tvmlab.ir import to_text
from tvmlab.lower import lower
from tvmlab.schedule import RefusedError, Schedule
from tvmlab.target import Target
from tvmlab.te import Tensor


def stencil(h: int = 10, w: int = 7, rows: int = 3, step: int = 1) -> Tensor:
    a = te.placeholder(((h - 1) * step + rows, w + 2), name="A")
    b = te.compute(a.shape, lambda i, j: a[i, j] * 2.0, name="B")
    return te.compute(
        (h, w),
        lambda i, j: sum(
            (b[i * step + r, j + r % 3] for r in range(1, rows)), start=b[i * step, j]
        ),
        name="C",
    )


def rolled(loop: int = 0) -> Callable[[Schedule], None]:
    def steps(s: Schedule) -> None:
        s.compute_at("B", s.loops("C")[loop])
        s.rolling_buffer("B")

    return steps


@pytest.mark.parametrize(("rows", "step"), [(3, 1), (3, 2), (5, 2), (5, 3), (2, 1)])
@pytest.mark.parametrize("h", [1, 2, 9])
def test_windows_along_rows(rows: int, step: int, h: int) -> None:
    if h == 1:
        with pytest.raises(RefusedError):
            rolled()(Schedule(stencil(h, 7, rows, step)))
        return
    sch = after_steps(stencil(h, 7, rows, step), rolled(), [ramp((h - 1) * step + rows, 9)])
    assert f"B = alloc(float32[{rows}, 9])" in str(sch)


def test_each_iteration_computes_one_new_row() -> None:
    sch = after_steps(stencil(), rolled(), [ramp(12, 9)])
    text = to_text(lower(sch.program, Target.host()).program)
    assert "alloc(float32[27])" in text
    assert "B[(i + 2) % 3 * 9 + j] = A[i * 9 + j + 18]" in text


def test_windows_along_columns_start_anew_in_each_row() -> None:
    sch = after_steps(stencil(), rolled(1), [ramp(12, 9)])
    i, j = sch.loops("C")
    assert not sch.check("reorder", j, i)
    assert not sch.check("parallel", j)
    assert not sch.check("vectorize", j)


def test_rows_split_before_and_after_with_tails() -> None:
    def before(s: Schedule) -> None:
        _, inner = s.split(s.loops("C")[0], [None, 4])
        s.compute_at("B", inner)
        s.rolling_buffer("B")

    def after(s: Schedule) -> None:
        rolled()(s)
        s.split(s.loops("C")[0], [None, 4])

    for steps in (before, after):
        after_steps(stencil(), steps, [ramp(12, 9)])


def test_a_parallel_loop_around_keeps_a_window_for_each_thread() -> None:
    def steps(s: Schedule) -> None:
        outer, inner = s.split(s.loops("C")[0], [None, 5])
        s.parallel(outer)
        s.compute_at("B", inner)
        s.rolling_buffer("B")

    after_steps(stencil(), steps, [ramp(12, 9)])


def test_a_sum_in_a_rolling_window() -> None:
    a = te.placeholder((12, 4), name="A")
    k = te.reduce_axis(4, "k")
    b = te.compute((12,), lambda i: te.sum(a[i, k], axis=k), name="B")
    c = te.compute((10,), lambda i: b[i] + b[i + 1] + b[i + 2], name="C")
    after_steps(c, rolled(), [ramp(12, 4)])


def test_padding_at_the_edges_stays_outside() -> None:
    n = 8
    a = te.placeholder((n,), name="A")
    b = te.compute((n,), lambda i: a[i] + 1.0, name="B")
    c = te.compute(
        (n,),
        lambda i: (
            te.if_then_else(i >= 1, b[i - 1], 0.0) + te.if_then_else(i < n - 1, b[i + 1], 0.0)
        ),
        name="C",
    )
    after_steps(c, rolled(), [ramp(n)])


def _not_attached(s: Schedule) -> None:
    s.rolling_buffer("B")


def _output(s: Schedule) -> None:
    s.rolling_buffer("C")


def _parallel(s: Schedule) -> None:
    s.parallel(s.loops("C")[0])
    rolled()(s)


def _other_loop(s: Schedule) -> None:
    i, j = s.loops("C")
    jo, _ = s.split(j, [None, 7])
    s.reorder(jo, i)
    s.compute_at("B", jo)
    s.rolling_buffer("B")


@pytest.mark.parametrize(
    ("steps", "rule"),
    [
        (_not_attached, "rolling_buffer.no-loop"),
        (_output, "rolling_buffer.output"),
        (_parallel, "rolling_buffer.kind"),
        (_other_loop, "rolling_buffer.dimension"),
    ],
)
def test_refusals(steps: Callable[[Schedule], object], rule: str) -> None:
    with pytest.raises(RefusedError) as refused:
        steps(Schedule(stencil()))
    assert refused.value.verdict.rule == rule


def test_a_window_that_does_not_overlap() -> None:
    with pytest.raises(RefusedError) as refused:
        rolled()(Schedule(stencil(6, 7, 3, 3)))
    assert refused.value.verdict.rule == "rolling_buffer.no-overlap"
    assert "nothing in it can be used again" in refused.value.verdict.reason


def test_a_window_with_gaps() -> None:
    a = te.placeholder((16,), name="A")
    b = te.compute((16,), lambda i: a[i] * 2.0, name="B")
    c = te.compute((10,), lambda i: b[i] + b[i + 3], name="C")
    after_steps(c, rolled(), [ramp(16)])


@pytest.mark.parametrize("step", ["compute_at", "compute_root"])
def test_a_rolled_block_stays_where_it_is(step: str) -> None:
    sch = Schedule(stencil())
    rolled()(sch)
    args = [sch.loops("C")[1]] if step == "compute_at" else []
    text = "it keeps a rolling window, of which each iteration goes on from the one before"
    assert_refused(lambda: sch.apply(step, "B", *args), f"{step}.rolled", text)
