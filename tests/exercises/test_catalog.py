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
