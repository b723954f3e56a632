"""The exercises that come with tvmlab: solutions pass, starts do not, starts are what they say."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tvmlab as tl
from tvmlab import te
from tvmlab.codegen import interpret
from tvmlab.exercises import TASKS, CheckReport
from tvmlab.exercises.formulas import blur, matmul, total, transpose, two_stages, wavefront
from tvmlab.ir import Program
from tvmlab.te import create_program


@pytest.fixture(params=TASKS)
def exercise(request: pytest.FixtureRequest, tmp_path: Path) -> Any:
    return tl.exercise(request.param, progress=tmp_path / "progress.json")


def kinds(report: CheckReport, met: bool) -> list[str]:
    return [r.kind for r in report.results if r.met == met]


def test_there_are_a_dozen() -> None:
    assert len(TASKS) == 12
    assert all(len(task.hints) == 3 for task in TASKS.values())


def test_the_start_does_not_pass_but_is_right(exercise: Any) -> None:
    report = exercise.check()
    assert not report.passed
    assert kinds(report, True)[:2] == ["legality", "value"]
    assert set(kinds(report, False)) <= {"structure", "traffic"}


def test_the_own_solution_gets_full_marks(exercise: Any) -> None:
    exercise.task.solve(exercise.schedule)
    report = exercise.check()
    assert report.passed, str(report)
    record = exercise.progress[exercise.task.name]
    assert (record.solved, record.best) == (True, len(report.results))


def test_the_solution_in_python_makes_the_same(exercise: Any) -> None:
    exercise.check()
    solution = exercise.solution()
    sch = tl.Schedule(exercise.task.start())
    exec(solution.python, {"sch": sch})
    assert exercise.check(sch).passed


def other_order(sch: tl.Schedule) -> None:
    i, j, k = sch.loops("C")
    sch.reorder(k, i, j)


def larger_tiles(sch: tl.Schedule) -> None:
    i, j = sch.loops("T")
    sch.tile(i, j, 8, 8)


def partitioned(sch: tl.Schedule) -> None:
    outer, lanes = sch.split(sch.loops("B")[0], [None, 8])
    sch.partition(outer)
    sch.vectorize(lanes)


def wider_skew(sch: tl.Schedule) -> None:
    i, j = sch.loops(sch.blocks()[0])
    diagonal = sch.skew(i, j, 2)
    sch.reorder(diagonal, i)
    sch.parallel(i)


@pytest.mark.parametrize(
    ("name", "steps"),
    [
        ("reorder", other_order),
        ("tile", larger_tiles),
        ("tail", partitioned),
        ("skew", wider_skew),
    ],
)
def test_other_ways_pass_too(name: str, steps: Any, tmp_path: Path) -> None:
    exercise = tl.exercise(name, progress=tmp_path / "progress.json")
    steps(exercise.schedule)
    assert exercise.check().passed


def guarded(sch: tl.Schedule) -> None:
    sch.vectorize(sch.split(sch.loops("B")[0], [None, 8])[1])


def inlined(sch: tl.Schedule) -> None:
    sch.compute_inline("X")


def long_strips(sch: tl.Schedule) -> None:
    outer, _ = sch.split(sch.loops("B")[0], [None, 8])
    sch.compute_at("X", outer)
    sch.parallel(outer)


def copied_as_it_is(sch: tl.Schedule) -> None:
    sch.cache_read("C", "B", "global")


@pytest.mark.parametrize(
    ("name", "steps", "found"),
    [
        ("tail", guarded, "B asks a condition"),
        ("fuse", inlined, "X is computed anew at each use"),
        ("halo", long_strips, "160 elements"),
        ("pack", copied_as_it_is, "5536 misses"),
    ],
)
def test_halfway_is_told_apart(name: str, steps: Any, found: str, tmp_path: Path) -> None:
    exercise = tl.exercise(name, progress=tmp_path / "progress.json")
    steps(exercise.schedule)
    exercise.predict(1.0)
    (missed,) = (r for r in exercise.check().results if not r.met)
    assert missed.found == found


def arrays(*shapes: tuple[int, ...]) -> list[Any]:
    rng = np.random.default_rng(3)
    return [rng.random(shape, dtype=np.float32) for shape in shapes]


def product(a: Any, b: Any) -> Any:
    return a @ b


def whole_sum(a: Any) -> Any:
    return a.sum(keepdims=True)


def square_plus_one(a: Any) -> Any:
    return a * a + 1


def neighbors(a: Any) -> Any:
    return np.sum([a[y : y + 16, x : x + 16] for y in range(3) for x in range(3)], axis=0)


@pytest.mark.parametrize(
    ("formula", "shapes", "reference"),
    [
        (matmul, [(16, 16), (16, 16), (16, 16)], product),
        (transpose, [(32, 32), (32, 32)], np.transpose),
        (total, [(256,), (1,)], whole_sum),
        (two_stages, [(256,), (256,)], square_plus_one),
        (blur, [(18, 18), (16, 16)], neighbors),
    ],
)
def test_formulas_against_numpy(formula: Any, shapes: Any, reference: Any) -> None:
    source: te.Tensor = formula()
    *given, out = arrays(*shapes)
    interpret(create_program([source]), [*given, out])
    np.testing.assert_allclose(out, reference(*given), rtol=1e-5)


def test_wavefront_against_plain_python() -> None:
    (found,) = arrays((9, 9))
    expected = found.copy()
    for i in range(8):
        for j in range(8):
            expected[i + 1, j + 1] = expected[i, j + 1] * 0.5 + expected[i + 1, j] * 0.5
    program = wavefront()
    assert isinstance(program, Program)
    interpret(program, [found])
    np.testing.assert_allclose(found, expected, rtol=1e-6)
