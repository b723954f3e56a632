"""The session as the cell of a notebook: running it makes the state, whatever state there is."""

from __future__ import annotations

import sys
from typing import Any

from tvmlab.schedule import Schedule

MARK = "# tvmlab: steps of the explorer"


def cell_text(schedule: Schedule, session: str, program_hash: str, name: str | None = None) -> str:
    """The steps from the start as Python, under a mark by which the cell is found again.

    Parameters
    ----------
    session
        The id of the session.
    program_hash
        What the state's program is; who runs the cell can check that it came out.
    name
        What the notebook calls the schedule; looked up in its names by default.
    """
    name = name or variable_of(schedule) or "sch"
    steps = schedule.trace.to_python(name)
    lines = [f"{MARK} {session}, state {program_hash[:12]}", f"{name}.goto(0)", steps]
    return "\n".join(line for line in lines if line)


def variable_of(schedule: Schedule) -> str | None:
    """The name under which a notebook's own names hold a schedule."""
    for name, value in list(_user_names().items()):
        if value is schedule and not name.startswith("_"):
            return name
    return None


def _user_names() -> dict[str, Any]:
    """The names of the notebook that this kernel serves; none outside one."""
    shell = sys.modules.get("IPython")
    running = shell.get_ipython() if shell is not None else None
    return {} if running is None else running.user_ns
