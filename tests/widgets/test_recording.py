"""Recordings and pages: what is left of a session when no kernel answers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from helpers.schedules import matmul_schedule
from helpers.sessions import Definition, FakeRunner

from tvmlab.support import ParseError
from tvmlab.widgets import Session, bundles, load_session
from tvmlab.widgets.page import page_text
from tvmlab.widgets.recording import in_script, recording
from tvmlab.widgets.session_file import file_in_page

STATE, ROW = Definition("State"), Definition("Row")


@pytest.fixture
def session() -> Session:
    session = Session(matmul_schedule(16, 16, 16), runner=FakeRunner(), name="a </script> name")
    i, j, _ = session.schedule.loops("C")
    session.schedule.vectorize(j)
    session.schedule.goto(0)
    session.schedule.parallel(i)
    return session


def test_every_state_is_kept_with_its_nest_and_its_loops(session: Session) -> None:
    kept = recording(session)
    STATE.validate(kept["state"])
    assert set(kept["nodes"]) == {"0", "1", "2"}
    for node in kept["nodes"].values():
        for row in node["rows"]:
            ROW.validate(row)
        for source in node["sources"].values():
            assert len(source["lines"]) == len(source["text"].splitlines())
    assert "asm" in kept["nodes"]["2"]["sources"]
    assert "asm" not in kept["nodes"]["1"]["sources"]
    assert [r["kind"] for r in kept["nodes"]["1"]["rows"]] == [
        "serial",
        "vectorized",
        "serial",
        "block",
    ]
    assert session.schedule.history.current == 2


def test_a_light_recording_has_the_current_state_alone(session: Session) -> None:
    assert set(recording(session, whole=False)["nodes"]) == {"2"}


def test_a_page_needs_nothing_else_and_can_be_opened_again(
    session: Session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tvmlab.widgets.page.bundle_text", lambda _name="": "show('</script>')")
    text = page_text(session)
    assert "http" not in text.replace('http-equiv="Content-Security-Policy"', "")
    assert text.count("</script>") == 2
    path = tmp_path / "session.html"
    path.write_text(text, encoding="utf-8")
    again = load_session(path, runner=FakeRunner())
    assert again.state["history"] == session.state["history"]
    assert again.name == session.name


@pytest.mark.parametrize(
    ("page", "words"),
    [
        ("<!doctype html>", "carries no session"),
        (
            '<script type="application/json" id="tvmlab-recording">{</script>',
            "recording in this page is damaged",
        ),
    ],
)
def test_a_page_without_a_session_is_refused(page: str, words: str) -> None:
    with pytest.raises(ParseError, match=words):
        file_in_page(page)


def test_data_in_a_script_cannot_end_it() -> None:
    value: Any = {"name": "</script><!--", "line": "\u2028"}
    text = in_script(value)
    assert "<" not in text
    assert json.loads(text) == value


def test_a_missing_bundle_is_named() -> None:
    with pytest.raises(bundles.OptionError, match="has not been built"):
        bundles.bundle_text("none.js")
