"""annotate, pragma, unannotate, and how the tail of a split is done."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from helpers.steps import after_steps, ramp

from tvmlab import te
from tvmlab.ir import For, Store, const_int, to_text, walk
from tvmlab.lower import lower
from tvmlab.schedule import RefusedError, Schedule
from tvmlab.target import Target
from tvmlab.te import Tensor

TARGET = Target.of("cpu -mtriple=x86_64-linux-gnu -mcpu=x86-64-v4")


def scaled(n: int = 20, m: int = 4) -> Tensor:
    a = te.placeholder((n, m), name="A")
    return te.compute((n, m), lambda i, j: a[i, j] * 2.0, name="C")


def loops_of(sch: Schedule) -> list[int | None]:
    program = lower(sch.program, TARGET).program
    return [const_int(n.extent) for n in walk(program.body) if isinstance(n, For)]


def test_notes_travel_with_a_loop_and_are_taken_off() -> None:
    def steps(s: Schedule) -> None:
        i, j = s.loops("C")
        s.annotate(i, "hint", 3)
        s.annotate(j, "words", ["a", 1.5, True])
        s.annotate_block("C", "mine")
        s.reorder(j, i)
        outer, _ = s.split(i, [None, 4])
        s.unannotate(outer, "hint")
        s.unannotate_block("C", "mine")

    sch = after_steps(scaled(), steps, [ramp(20, 4)])
    assert 'for j in range(4, words=("a", 1.5, True))' in str(sch)
    assert "hint" not in str(sch)
    assert "mine" not in str(sch)


def test_auto_unroll_writes_out_short_loops_inside() -> None:
    def steps(s: Schedule) -> None:
        s.pragma(s.loops("C")[0], "auto_unroll_max_step", 4)

    sch = after_steps(scaled(), steps, [ramp(20, 4)])
    assert loops_of(sch) == [20]
    i = sch.loops("C")[0]
    sch.pragma(i, "auto_unroll_max_step", 80)
    assert loops_of(sch) == []
    sch.pragma(i, "unroll_explicit", False)
    assert loops_of(sch) == [20, 4]
    sch.pragma(i, "auto_unroll_max_step", 3)
    sch.unannotate(i, "unroll_explicit")
    assert loops_of(sch) == [20, 4]


def test_conditions_stay_inside_where_asked() -> None:
    a = te.placeholder((10, 8), name="A")
    c = te.compute((10, 8), lambda i, j: a[i, j] + 1.0, name="C")

    def steps(s: Schedule) -> None:
        i, j = s.loops("C")
        s.split(i, [None, 4], "guard")
        s.pragma(j, "hoist_conditions", False)

    sch = after_steps(c, steps, [ramp(10, 8)])
    text = to_text(lower(sch.program, TARGET).program)
    assert text.index("for j in") < text.index("if ")


@pytest.mark.parametrize("tail", ["auto", "guard", "mask", "peel"])
@pytest.mark.parametrize("n", [5, 127, 255, 96])
@pytest.mark.parametrize("vectors", [False, True])
def test_values_of_every_kind_of_tail(tail: str, n: int, vectors: bool) -> None:
    a = te.placeholder((n,), name="A")
    b = te.compute((n,), lambda i: a[i] * 2.0, name="B")
    c = te.compute((n,), lambda i: b[i] + a[n - 1 - i], name="C")

    def steps(s: Schedule) -> None:
        outer, inner = s.split(s.loops("C")[0], [None, 16], tail)
        s.compute_at("B", outer)
        if vectors:
            s.vectorize(inner)
            s.vectorize(s.loops("B")[-1])

    after_steps(c, steps, [ramp(n)])


def test_what_becomes_of_a_tail() -> None:
    def text(tail: str) -> str:
        a = te.placeholder((100,), name="A")
        sch = Schedule(te.compute((100,), lambda i: a[i] * 2.0, name="C"))
        _, inner = sch.split(sch.loops("C")[0], [None, 16], tail)
        sch.vectorize(inner)
        return to_text(lower(sch.program, TARGET).program)

    assert "masked" in text("mask")
    assert "range(7, " in text("mask")
    assert "masked" not in text("peel")
    assert "range(6, " in text("peel")


def test_a_split_without_a_condition_only_where_none_is_needed() -> None:
    sch = Schedule(scaled())
    i, j = sch.loops("C")
    with pytest.raises(RefusedError, match="pad the block") as refused:
        sch.split(i, [None, 8], disable_predication=True)
    assert refused.value.verdict.rule == "split.tail"
    sch.split(i, [None, 5], disable_predication=True)
    sch.split(j, [None, 3], "mask")
    assert sch.trace.to_python().splitlines()[1:] == [
        "i_outer, i_inner = sch.split(i, [None, 5], disable_predication=True)",
        'j_outer, j_inner = sch.split(j, [None, 3], "mask")',
    ]


def test_unrolled_copies_are_as_many_as_the_note_allows() -> None:
    sch = Schedule(scaled())
    i, _ = sch.loops("C")
    sch.pragma(i, "auto_unroll_max_step", 80)
    program = lower(sch.program, TARGET).program
    assert sum(isinstance(n, Store) for n in walk(program.body)) == 80


def _pragma(key: str, value: object = True) -> Callable[[Schedule], object]:
    return lambda s: s.apply("pragma", s.loops("C")[0], key, value)


def _annotate(key: str, value: object = True) -> Callable[[Schedule], object]:
    return lambda s: s.apply("annotate", s.loops("C")[0], key, value)


def _on_block(key: str, value: object = True) -> Callable[[Schedule], object]:
    return lambda s: s.apply("annotate_block", "C", key, value)


@pytest.mark.parametrize(
    ("steps", "rule", "words"),
    [
        (_pragma("debug_skip_region"), "pragma.would-change", "leave out"),
        (_pragma("import_llvm", "x"), "pragma.would-change", "link="),
        (_pragma("unrol"), "pragma.unknown", "auto_unroll_max_step"),
        (_pragma("auto_unroll_max_step", -1), "pragma.value", "from 0 on"),
        (_pragma("auto_unroll_max_step", "4"), "pragma.value", "from 0 on"),
        (_pragma("unroll_explicit", 1), "pragma.value", "True or False"),
        (_annotate("software_pipeline", 1), "annotate.own-primitive", "of its own"),
        (_annotate("two words"), "annotate.name", "plain name"),
        (_on_block("storage_align", 1), "annotate_block.own-primitive", "of its own"),
        (_on_block("auto_unroll_max_step", 1), "annotate_block.value", "stands on a loop"),
    ],
)
def test_refusals(steps: Callable[[Schedule], object], rule: str, words: str) -> None:
    with pytest.raises(RefusedError) as refused:
        steps(Schedule(scaled()))
    assert refused.value.verdict.rule == rule
    assert words in refused.value.verdict.reason


def test_taking_off_what_is_not_there() -> None:
    sch = Schedule(scaled())
    with pytest.raises(RefusedError, match="it has none"):
        sch.unannotate(sch.loops("C")[0], "hint")


@pytest.mark.parametrize(
    "key", ["parallel_launch_point", "parallel_stride_pattern", "parallel_barrier_when_finish"]
)
def test_hints_for_other_thread_pools_are_accepted(key: str) -> None:
    after_steps(scaled(), _pragma(key), [ramp(20, 4)])
