"""The session as a notebook cell: running it makes the state again, by its hash."""

from __future__ import annotations

import types
from typing import Any

import numpy as np
import pytest
from helpers.random_schedules import random_steps
from helpers.schedules import matmul_schedule, tiled_schedule
from helpers.sessions import FakeRunner

from tvmlab.ir import structural_hash
from tvmlab.schedule import Schedule
from tvmlab.widgets import Session
from tvmlab.widgets.cell import MARK, cell_text, variable_of


def _run(text: str, schedule: Schedule, name: str = "sch") -> None:
    exec(text, {name: schedule})  # the text is what a notebook would run


@pytest.mark.parametrize("seed", range(6))
def test_running_the_cell_makes_the_state_whatever_state_there_is(seed: int) -> None:
    schedule = matmul_schedule(8, 12, 6)
    random_steps(schedule, np.random.default_rng(seed), 6)
    wanted = structural_hash(schedule.program)
    text = cell_text(schedule, "s1", wanted)
    assert text.startswith(f"{MARK} s1, state {wanted[:12]}")
    schedule.goto(0)
    schedule.parallel(schedule.loops("C")[0]) if seed % 2 else None
    _run(text, schedule)
    assert structural_hash(schedule.program) == wanted


def test_the_state_carries_the_cell() -> None:
    session = Session(tiled_schedule(), runner=FakeRunner())
    assert "sch.parallel(i_outer)" in session.state["cell"]
    session.schedule.goto(0)
    assert session.state["cell"].splitlines()[1:] == ["sch.goto(0)"]


def test_the_notebooks_own_name_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    schedule = matmul_schedule(8, 8, 8)
    names: dict[str, Any] = {"_1": schedule, "plan": schedule}
    fake = types.SimpleNamespace(get_ipython=lambda: types.SimpleNamespace(user_ns=names))
    monkeypatch.setitem(__import__("sys").modules, "IPython", fake)
    assert variable_of(schedule) == "plan"
    assert "plan.goto(0)" in cell_text(schedule, "s1", "0" * 32)
