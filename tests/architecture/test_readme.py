"""The README's program runs as it stands, and its commands are those that the tests rely on."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

README = (Path(__file__).resolve().parents[2] / "README.md").read_text()


def test_the_program_runs(capsys: pytest.CaptureFixture[str]) -> None:
    (program,) = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    assert len([line for line in program.splitlines() if line.strip()]) <= 18
    exec(compile(program, "README.md", "exec"), {})
    assert "refused [parallel.reduction]" in capsys.readouterr().out


def test_both_commands_stand_there() -> None:
    assert 'pip install ".[lab]" && .venv/bin/tvmlab lab' in README
    assert 'pip install -e ".[test]" && .venv/bin/pytest' in README
