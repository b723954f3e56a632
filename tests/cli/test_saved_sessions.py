"""`tvmlab inspect`, `apply` and `compare` on a saved session."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from helpers.schedules import matmul_schedule
from helpers.sessions import FakeRunner

from tvmlab.cli.app import main
from tvmlab.widgets import Session, load_session, save_session


@pytest.fixture
def saved(tmp_path: Path) -> str:
    session = Session(matmul_schedule(16, 16, 16), runner=FakeRunner())
    session.schedule.split(session.schedule.loops("C")[0], [None, 4])
    session.schedule.checkpoint("split")
    return str(save_session(session, tmp_path / "s.tvmlab.json"))


def test_inspect_shows_nest_history_and_code(
    saved: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["inspect", saved]) == 0
    shown = capsys.readouterr().out
    for text in ("for i_outer in range(4)", "[split]", "sch.split(i, [None, 4])"):
        assert text in shown
    assert main(["inspect", saved, "--json", "--state", "0"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert data["history"]["current"] == "0"
    assert main(["inspect", saved, "--state", "9"]) == 1
    assert "states are 0 to 1" in capsys.readouterr().err


def test_apply_takes_a_step_and_saves_it(saved: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["apply", saved, "vectorize", "loop=j"]) == 0
    assert "vectorized(16)" in capsys.readouterr().out
    assert main(["apply", saved, "reorder", "loops=k,j", "--json", "--check"]) == 0
    capsys.readouterr()
    assert len(load_session(saved).schedule.trace) == 2


def test_apply_says_why_a_step_is_refused(saved: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["apply", saved, "parallel", "loop=k"]) == 1
    assert "cannot parallelize k" in capsys.readouterr().out
    assert main(["apply", saved, "parallel", "loop=k", "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["verdict"]["status"] == "refused"
    assert len(load_session(saved).schedule.trace) == 1


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (["splitt", "loop=i"], "did you mean 'split'"),
        (["split", "lop=i"], "it takes loop, factors"),
        (["split", "loop=q"], "loops are i_outer, i_inner, j, k"),
    ],
)
def test_apply_names_what_it_does_not_understand(
    saved: str, words: list[str], text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["apply", saved, *words]) == 1
    assert text in capsys.readouterr().err


def test_compare_tells_what_differs(saved: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", saved, "0", "split"]) == 0
    shown = capsys.readouterr().out
    assert "both come from start" in shown
    assert "+ i_outer, i_inner = sch.split(i, [None, 4])" in shown
    assert main(["compare", saved, "0", "split", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["b_label"] == "split"
