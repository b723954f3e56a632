"""storage_align and prefetch: what lowering makes of them, values, refusals."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from helpers.steps import after_steps, ramp

from tvmlab import te
from tvmlab.codegen import interpret
from tvmlab.driver import build
from tvmlab.ir import to_text
from tvmlab.lower import lower
from tvmlab.schedule import RefusedError, Schedule
from tvmlab.target import Target
from tvmlab.te import Tensor


def chain(n: int = 6, m: int = 32) -> Tensor:
    a = te.placeholder((n, m), name="A")
    b = te.compute((n, m), lambda i, j: a[i, j] * 2.0, name="B")
    return te.compute((n, m), lambda i, j: b[n - 1 - i, j] + b[i, m - 1 - j], name="C")


def lowered(sch: Schedule) -> str:
    return to_text(lower(sch.program, Target.host()).program)


@pytest.mark.parametrize(
    ("axis", "factor", "offset", "stride"),
    [(0, 32, 16, 48), (-2, 32, None, 32), (0, 33, 1, 34), (0, 64, 0, 64), (0, 7, 3, 38)],
)
def test_rows_lie_apart(axis: int, factor: int, offset: int | None, stride: int) -> None:
    def steps(s: Schedule) -> None:
        s.storage_align("B", axis, factor, offset)

    sch = after_steps(chain(), steps, [ramp(6, 32)])
    text = lowered(sch)
    assert f"alloc(float32[{6 * stride}])" in text
    assert f"B[i * {stride} + j]" in text


def test_two_axes_vectors_and_a_second_buffer() -> None:
    a = te.placeholder((3, 4, 8), name="A")
    b = te.compute((3, 4, 8), lambda i, j, k: a[i, j, k] + 1.0, name="B")
    c = te.compute((3, 8, 4), lambda i, k, j: b[i, j, k] * 2.0, name="C")

    def steps(s: Schedule) -> None:
        s.storage_align("B", 1, 16, 9)
        s.storage_align("B", 0, 64, 5)
        s.vectorize(s.loops("B")[2])
        s.unroll(s.loops("C")[2])

    sch = after_steps(c, steps, [ramp(3, 4, 8)])
    assert "alloc(float32[207])" in lowered(sch)


def test_alignment_survives_attaching_and_double_buffering() -> None:
    def steps(s: Schedule) -> None:
        i, j = s.loops("C")
        jo, _ = s.split(j, [None, 8])
        s.reorder(jo, i)
        s.storage_align(s.cache_read("C", "B"), 0, 8, 3)
        s.compute_at("B_local", jo)
        s.double_buffer("B_local")

    after_steps(chain(), steps, [ramp(6, 32)])


def test_prefetch_asks_for_lines_of_a_later_iteration() -> None:
    def steps(s: Schedule) -> None:
        s.prefetch("A", s.loops("B")[0], 2)

    sch = after_steps(chain(), steps, [ramp(6, 32)])
    text = lowered(sch)
    assert text.count('call("prefetch"') == 2
    assert "min(i + 2, 5) * 32 + 16" in text
    assert "llvm.prefetch" in str(build(sch).source("llvm"))


def test_prefetch_of_rows_in_tiles_with_tails_and_negative_starts() -> None:
    n = 13
    a = te.placeholder((n, n), name="A")
    p = te.compute(
        (n + 2, n + 2),
        lambda y, x: te.if_then_else(
            te.all(y >= 1, y < n + 1, x >= 1, x < n + 1), a[y - 1, x - 1], 0.0
        ),
        name="P",
    )
    c = te.compute((n, n), lambda y, x: p[y, x] + p[y + 2, x + 2], name="C")

    def steps(s: Schedule) -> None:
        s.compute_inline("P")
        yo, _ = s.split(s.loops("C")[0], [None, 4])
        s.prefetch("A", yo)
        s.vectorize(s.loops("C")[-1])

    after_steps(c, steps, [ramp(n, n)])


def test_two_prefetches_on_one_loop_and_taking_them_away() -> None:
    sch = Schedule(chain())
    i, _ = sch.loops("C")
    sch.prefetch("B", i, 1)
    sch.prefetch("B", i, 3)
    assert 'prefetch=(("B", 3),)' in str(sch)
    with pytest.raises(RefusedError, match="unannotate"):
        sch.split(i, [None, 2])
    sch.unannotate(i, "prefetch")
    sch.split(i, [None, 2])


@pytest.mark.parametrize("kind", ["serial", "parallel"])
def test_spread_prefetches_stand_in_the_last_loop_that_reads(kind: str) -> None:
    a = te.placeholder((6, 100), name="A")
    k = te.reduce_axis(100, "k")
    s = te.compute((6,), lambda i: te.sum(a[i, k], axis=k), name="S")
    c = te.compute((6, 100), lambda i, j: a[i, j] - s[i], name="C")

    def steps(sch: Schedule) -> None:
        i, j = sch.loops("C")
        sch.compute_at("S", i)
        sch.vectorize(sch.split(j, [None, 32])[1])
        if kind == "parallel":
            sch.parallel(i)
        sch.prefetch("A", i, 1, spread=True)

    sch = after_steps(c, steps, [ramp(6, 100)])
    text = lowered(sch)
    assert "min(i + 1, 5) * 100 + j_outer * 32" in text
    assert text.index("prefetch") > text.index("S_0[0]")


def test_a_spread_prefetch_of_a_single_loop_stands_in_it() -> None:
    a = te.placeholder((64,), name="A")
    c = te.compute((64,), lambda i: a[i] + 1.0, name="C")

    def steps(sch: Schedule) -> None:
        sch.prefetch("A", sch.loops("C")[0], 3, spread=True)

    assert "prefetch" in lowered(after_steps(c, steps, [ramp(64)]))


def _align(*args: int) -> Callable[[Schedule], object]:
    return lambda s: s.apply("storage_align", "B", *args)


def _fetch(buffer: str, block: str, *args: int) -> Callable[[Schedule], object]:
    return lambda s: s.apply("prefetch", buffer, s.loops(block)[0], *args)


def _output(s: Schedule) -> None:
    s.storage_align("C", 0, 8, 0)


def _in_vectors(s: Schedule) -> None:
    j = s.loops("C")[1]
    s.vectorize(j)
    s.prefetch("B", j)


def _laid_out_after(s: Schedule) -> None:
    s.storage_align("B", 0, 8, 3)
    s.transform_layout("B", "B", "lambda i, j: [j, i]")


@pytest.mark.parametrize(
    ("steps", "rule", "words"),
    [
        (_output, "storage_align.parameter", "cache_write"),
        (_align(1, 8, 0), "storage_align.axis", "side by side"),
        (_align(5, 8, 0), "storage_align.axis", "2 dimension"),
        (_align(0, 8, 8), "storage_align.factor", "between 0 and 7"),
        (_align(0, 0, 0), "storage_align.factor", "positive"),
        (_laid_out_after, "transform_layout.aligned", "align after it"),
        (_fetch("A", "C"), "prefetch.not-read", "no block inside"),
        (_fetch("A", "B", 0), "prefetch.offset", "1 to 1024"),
        (_in_vectors, "prefetch.kind", "serial"),
    ],
)
def test_refusals(steps: Callable[[Schedule], object], rule: str, words: str) -> None:
    with pytest.raises(RefusedError) as refused:
        steps(Schedule(chain()))
    assert refused.value.verdict.rule == rule
    assert words in refused.value.verdict.reason


def test_the_interpreter_runs_prefetches() -> None:
    sch = Schedule(chain())
    sch.prefetch("A", sch.loops("B")[0])
    out = ramp(6, 32) * 0
    interpret(lower(sch.program, Target.host()).program, [ramp(6, 32), out])
    assert out.any()
