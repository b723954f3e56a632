"""Working on an exercise: grades, hints from refusals, predictions, progress."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest
from helpers.bench_session import Bench

import tvmlab as tl
from tvmlab import te
from tvmlab.exercises import Exercise, Task, is_kind, misses_at_most, progress_path
from tvmlab.exercises.formulas import matmul, transpose
from tvmlab.inspect import plain
from tvmlab.ir import parse
from tvmlab.schedule import RefusedError
from tvmlab.support import OptionError, UserError


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "data" / "progress.json"


def begin(name: str, file: Path) -> Exercise:
    return tl.exercise(name, progress=file)


def test_no_such_exercise() -> None:
    with pytest.raises(OptionError, match="there is no exercise 'sort'") as caught:
        tl.exercise("sort")
    assert "reorder" in str(caught.value)


def test_a_report_is_text_html_and_plain_data(file: Path) -> None:
    report = begin("reorder", file).check()
    lines = str(report).splitlines()
    assert lines[0] == "reorder: 2 of 4 goals"
    assert "not met traffic" in lines[4]
    assert json.loads(json.dumps(plain(report)))["results"][0]["kind"] == "legality"


def test_html_is_escaped(file: Path) -> None:
    start = parse("def f(A: float32[4]):\n    for i in range(4):\n        A[i] = 1.0")
    task = Task("<b>", "<i>", "<u>", lambda: start, (is_kind("<s>", "parallel"),), (), _nothing)
    exercise = tl.exercise(task, progress=file)
    for shown in (exercise, exercise.check(), exercise.hint(), exercise.predict(1.0)):
        html: str = shown._repr_html_()  # pyright: ignore[reportPrivateUsage]
        assert not any(tag in html for tag in ("<i>", "<u>", "<s>"))


def _nothing(_: tl.Schedule) -> None:
    pass


def test_another_program_is_not_legal(file: Path) -> None:
    exercise = begin("reorder", file)
    report = exercise.check(tl.Schedule(transpose()))
    legality, value = report.results[:2]
    assert (legality.met, legality.found) == (False, "this schedule starts from another program")
    assert (value.met, value.found) == (False, "its parameters are others")


def test_a_program_put_in_by_hand_is_found_out(file: Path) -> None:
    exercise = begin("vectorize", file)
    other = te.placeholder((64,), name="A")
    wrong = tl.Schedule(te.compute((64,), lambda i: other[i] * 3.0, name="B"))
    sch = exercise.schedule
    sch.split(sch.loops("B")[0], [None, 8])
    object.__setattr__(sch.history.node, "program", wrong.program)
    legality, value = exercise.check().results[:2]
    assert (legality.met, legality.found) == (False, "the steps, taken again, lead elsewhere")
    assert not value.met


def test_a_refused_step_is_the_next_hint(file: Path) -> None:
    exercise = begin("sum", file)
    _, k = exercise.schedule.loops("S")
    with pytest.raises(RefusedError):
        exercise.schedule.parallel(k)
    hint = exercise.hint()
    assert hint.verdict is not None
    assert hint.verdict.fixes
    assert "refused [parallel.reduction]" in str(hint)
    assert f"fix: {hint.verdict.fixes[0].title}" in str(hint)
    assert exercise.hint().text.startswith("Hint 1 of 3")


def test_what_is_done_by_mouse_counts_too(file: Path) -> None:
    exercise = begin("sum", file)
    bench = Bench(exercise.schedule)
    assert not bench.ask("apply", row=bench.row("k"), action="parallel", params={})["ok"]
    assert "parallel.reduction" in str(exercise.hint())
    bench.done("apply", row=bench.row("k"), action="split", params={"factors": [4, None]})
    assert exercise.check().results[0].found == "1 step"


def test_the_ladder_of_hints(file: Path) -> None:
    exercise = begin("tile", file)
    texts = [exercise.hint().text for _ in range(4)]
    assert [t[:11] for t in texts[:3]] == [f"Hint {n} of 3" for n in (1, 2, 3)]
    assert texts[3].endswith("That was the last hint. ex.solution() shows one way.")
    assert begin("tile", file).progress["tile"].hints == 3


def test_the_solution_waits_for_an_attempt(file: Path) -> None:
    exercise = begin("tile", file)
    with pytest.raises(UserError, match="after an attempt of your own"):
        exercise.solution()
    exercise.check()
    assert "sch.tile(i, j, 4, 4)" in str(exercise.solution())


def test_counts_show_after_a_prediction(file: Path) -> None:
    exercise = begin("reorder", file)
    assert exercise.check().results[-1].found == "the count shows after ex.predict(...)"
    i, j, k = exercise.schedule.loops("C")
    exercise.schedule.reorder(i, k, j)
    said = exercise.predict(4.0)
    assert said.misses == (5408, 2552)
    assert said.found == pytest.approx(5408 / 2552)
    assert "off by a factor of 1.9 (median of 1)" in str(said)
    assert exercise.check().results[-1].found == "2552 misses"
    assert begin("reorder", file).progress["reorder"].guesses == [(4.0, 5408 / 2552)]


def test_the_level_that_a_task_is_about_is_predicted(file: Path) -> None:
    exercise = begin("tile", file)
    exercise.task.solve(exercise.schedule)
    assert exercise.predict(2.5).misses == (1280, 512)


@pytest.mark.parametrize(("steps", "found"), [("ikj", "mine"), ("ijk", "same"), ("kij", "mine")])
def test_which_has_fewer(steps: str, found: str, file: Path) -> None:
    exercise = begin("reorder", file)
    loops = dict(zip("ijk", exercise.schedule.loops("C"), strict=True))
    if steps != "ijk":
        exercise.schedule.reorder(*(loops[name] for name in steps))
    said = exercise.predict(fewer="start")
    assert (said.said, said.found) == ("start", found)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "one of two things"),
        ({"factor": 2.0, "fewer": "mine"}, "one of two things"),
        ({"factor": 0.0}, "0.0 is no factor"),
        ({"factor": math.nan}, "nan is no factor"),
        ({"fewer": "yours"}, "'yours' is neither"),
    ],
)
def test_predictions_that_say_nothing(arguments: Any, message: str, file: Path) -> None:
    with pytest.raises(OptionError, match=message):
        begin("reorder", file).predict(**arguments)


def test_progress_is_kept_and_the_best_stays(file: Path) -> None:
    exercise = begin("vectorize", file)
    exercise.task.solve(exercise.schedule)
    exercise.check()
    again = begin("vectorize", file)
    again.check()
    record = again.progress["vectorize"]
    assert (record.attempts, record.best, record.solved) == (2, 3, True)
    assert [p.name for p in file.parent.iterdir()] == ["progress.json"]


def test_where_progress_is_kept(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("TVMLAB_PROGRESS", raising=False)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    assert progress_path() == tmp_path / "tvmlab" / "exercises.json"
    monkeypatch.setenv("TVMLAB_PROGRESS", str(tmp_path / "mine.json"))
    assert progress_path() == tmp_path / "mine.json"


@pytest.mark.parametrize(
    "text",
    [
        "{",
        "[]",
        '{"version": 2}',
        '{"version": 1, "exercises": {"tile": {}}}',
        '{"version": 1, "exercises": {"tile": {"attempts": 1, "best": 1, "solved": true, '
        '"hints": 0, "guesses": [[0, 1]]}}}',
    ],
)
def test_a_broken_progress_file_is_named_and_kept(text: str, file: Path) -> None:
    file.parent.mkdir()
    file.write_text(text)
    with pytest.raises(UserError, match="cannot read your progress") as caught:
        begin("tile", file).check()
    assert "TVMLAB_PROGRESS" in str(caught.value)
    assert file.read_text() == text


def test_progress_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UserError, match="your progress"):
        begin("tile", tmp_path / "file" / "progress.json").check()


def test_a_run_too_long_to_count(file: Path) -> None:
    def start() -> te.Tensor:
        a = te.placeholder((300, 300), name="A")
        return te.compute((300, 300), lambda i, j: a[i, j], name="T")

    task = Task("long", "Long", "", start, (misses_at_most(1),), (), _nothing)
    with pytest.raises(UserError, match="too long to count its misses"):
        tl.exercise(task, progress=file).predict(1.0)


def test_traffic_repeats() -> None:
    first, second = (misses_at_most(1).look(tl.Schedule(matmul())) for _ in range(2))
    assert first == second == (False, "5408 misses")
