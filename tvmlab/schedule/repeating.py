"""Taking known steps again on another state: cherry-picking, and leaving one step out.

A step names loops, blocks and buffers by symbol. On another branch they may be the same symbols,
or others of the same name that a repeated step has made. Every step is checked anew.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, TypeAlias, Union

from tvmlab.ir import BlockSymbol, Buffer, Program, Var
from tvmlab.support import ScheduleError, items_of

from .history import History
from .index import index_of
from .refs import LoopRef
from .schedule import Schedule
from .trace import Step

Named: TypeAlias = Union[Var, BlockSymbol, Buffer]


def repeat_steps(schedule: Schedule, steps: Iterable[Step]) -> None:
    """Take steps again on the current state of a schedule.

    Raises
    ------
    ScheduleError
        If a step names what is not there, or is refused; the schedule is then as it was before.
    """
    start = schedule.history.current
    now: dict[Named, Named] = {}
    try:
        for step in steps:
            args = {name: _there(schedule.program, v, now) for name, v in step.args.items()}
            refs = schedule.apply(step.primitive, **args)
            made = [r.var if isinstance(r, LoopRef) else r.symbol for r in refs]
            now.update(zip(step.outputs, made, strict=False))
    except ScheduleError:
        schedule.goto(start)
        raise


def program_without(history: History, node: int, end: int | None = None) -> Program:
    """The program that a path of the history leads to if one of its steps is left out.

    Parameters
    ----------
    node
        The state whose step is left out.
    end
        The last state of the path; by default the current one.

    Raises
    ------
    ScheduleError
        If a later step needs what the one left out makes, or is not allowed without it.
    """
    path = history.path(end)
    fresh = Schedule(path[0].program)
    later: list[Step] = []
    left_out = False
    for state in path[1:]:
        assert state.step is not None
        if state.id == node:
            left_out = True
        elif left_out:
            later.append(state.step)
        else:
            fresh.history.add(state.step, state.program)
    if not left_out:
        raise ScheduleError(f"state {node} is not on the way to this one")
    repeat_steps(fresh, later)
    return fresh.program


def _there(program: Program, value: Any, now: dict[Named, Named]) -> Any:
    """An argument as it is called in a program."""
    if isinstance(value, (Var, BlockSymbol, Buffer)):
        return _found(program, now.get(value, value))
    items = items_of(value)
    return value if items is None else tuple(_there(program, item, now) for item in items)


def _found(program: Program, symbol: Named) -> Named:
    """The symbol itself if the program has it, else the only one of its kind and name there."""
    kind, there = _everything(program, symbol)
    if any(known is symbol for known in there):
        return symbol
    named = [known for known in there if known.name == symbol.name]
    if len(named) != 1:
        why = f"there is no {kind} of that name" if not named else "several have that name"
        raise ScheduleError(
            f"the step is about {kind} {symbol.name}, and here {why}",
            hint="the step that makes it is not among those taken here",
        )
    return named[0]


def _everything(program: Program, symbol: Named) -> tuple[str, Sequence[Named]]:
    """What a program has of a symbol's kind."""
    index = index_of(program)
    if isinstance(symbol, Var):
        return "loop", list(index.loops)
    if isinstance(symbol, BlockSymbol):
        return "block", list(index.blocks)
    parameters = [p for p in program.params if isinstance(p, Buffer)]
    return "buffer", [*parameters, *program.allocs]
