"""Sessions written to files and read again, also by a later kernel and on another machine."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from helpers.bench_session import Bench
from helpers.schedules import matmul_schedule
from helpers.sessions import Definition, FakeRunner

from tvmlab.support import ParseError, UserError
from tvmlab.tune import machine_id
from tvmlab.widgets import Session, load_session, read_session, save_session, session_text

STATE = Definition("State")


@pytest.fixture
def session() -> Session:
    """Two measured states on two branches, one of them named."""
    session = Session(matmul_schedule(16, 16, 16), runner=FakeRunner(), name="product")
    i, j, _ = session.schedule.loops("C")
    session.schedule.vectorize(j)
    session.schedule.checkpoint("vectors")
    session.measure()
    assert session.wait(10)
    session.schedule.goto(0)
    session.schedule.parallel(i)
    return session


def test_everything_comes_back(session: Session, tmp_path: Path) -> None:
    path = save_session(session, tmp_path / "product")
    assert path.name == "product.tvmlab.json"
    again = load_session(path, runner=FakeRunner())
    STATE.validate(again.state)
    for key in ("history", "python", "rows", "measurement", "workload"):
        assert again.state[key] == session.state[key]
    assert again.name == "product"
    assert again.notes == ()
    assert list(tmp_path.iterdir()) == [path]


def test_times_of_another_machine_are_left_out_and_named(session: Session) -> None:
    data = json.loads(session_text(session))
    assert data["results"]
    for entry in data["results"]:
        entry["result"]["machine"] = "another"
    again = read_session(json.dumps(data))
    assert again.state["measurement"]["status"] == "none"
    assert again.notes == (
        f"{len(data['results'])} measurements are left out: they were taken on another machine",
    )
    data["results"][0]["result"]["machine"] = machine_id()
    assert read_session(json.dumps(data)).ledger.measured(data["results"][0]["hash"])


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{", "not valid JSON"),
        ("[" * 100_000, "not valid JSON"),
        ("{}", "not a session"),
        ('{"format": "tvmlab-session", "version": 9}', "version 9"),
        ('{"format": "tvmlab-session", "version": 1}', "not the history"),
    ],
)
def test_what_is_no_session_is_refused(text: str, words: str) -> None:
    with pytest.raises(ParseError, match=words):
        read_session(text)


def test_broken_parts_are_refused(session: Session) -> None:
    data = json.loads(session_text(session))
    data["points"] = [{"hash": "x"}]
    with pytest.raises(ParseError, match="point of the session"):
        read_session(json.dumps(data))
    data["points"] = []
    data["results"][0]["hash"] = 3
    with pytest.raises(ParseError, match="does not say of what"):
        read_session(json.dumps(data))


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="cannot be read"):
        load_session(tmp_path / "none.tvmlab.json")


def test_a_view_gets_the_file() -> None:
    bench = Bench(matmul_schedule(8, 8, 8))
    file = bench.done("file", kind="session")
    Definition("SessionFile").validate(file)
    assert file["name"].endswith(".tvmlab.json")
    assert read_session(file["text"]).schedule.program.name == bench.schedule.program.name
    assert "no file of kind" in bench.failed("file", kind="movie")
