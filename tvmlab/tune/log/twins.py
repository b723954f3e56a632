"""Steps that were written for a program, taken on another that differs in names alone.

A layer of one network may be the same computation as a layer of another, or as an operator that was
tuned by itself. Steps name blocks and buffers, so each step is taken on both programs: what stands
at a place in one is what stands there in the other.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from tvmlab.ir import Program
from tvmlab.schedule import Ref, Schedule, read_json, replay_step
from tvmlab.support import fields_of, items_of


def replay_on_twin(trace: str, origin: Program, twin: Program) -> tuple[Schedule, Schedule]:
    """The schedules of both programs after the steps of a trace that was written for the first.

    Raises
    ------
    ScheduleError, ParseError
        If a step does not fit.
    """
    first, second = Schedule(origin), Schedule(twin)
    own: dict[str, Ref] = {}
    others: dict[str, Ref] = {}
    for step in read_json(trace):
        names = dict(zip(_names(first), _names(second), strict=True))
        there = {name: _renamed(value, names) for name, value in step.args.items()}
        replay_step(first, step, own)
        replay_step(second, replace(step, args=there), others)
    return first, second


def _names(schedule: Schedule) -> list[str]:
    """Names of buffers and blocks, in the order of the program; a block is often named alike."""
    program = schedule.program
    return [*(b.name for b in program.buffers), *(block.name for block in schedule.blocks())]


def _renamed(value: Any, names: Mapping[str, str]) -> Any:
    items = items_of(value)
    if items is not None:
        return [_renamed(item, names) for item in items]
    if isinstance(value, str) and fields_of(value) is None:
        return names.get(value, value)
    return value
