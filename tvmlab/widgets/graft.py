"""Bringing the steps of a trace into a schedule's history, as a new branch from the start."""

from __future__ import annotations

from tvmlab.schedule import Schedule


def graft(schedule: Schedule, trace: str) -> None:
    """Replay a trace on the unscheduled program and make its last state the current one.

    Raises
    ------
    TvmlabError
        If the trace does not fit; the schedule is then unchanged.
    """
    history = schedule.history
    replayed = Schedule.replay(history.nodes[0].program, trace)
    history.goto(0)
    for node in replayed.history.path()[1:]:
        assert node.step is not None
        history.add(node.step, node.program)
    schedule.goto(history.current)  # tells the views
