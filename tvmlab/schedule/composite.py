"""Steps of one's own: a function of several primitives that menus offer as if it were one.

>>> @tl.composite("tile for vectors")
... def tile_for_vectors(sch, loop, width: int = 16):
...     outer, inner = sch.split(loop, [None, width])
...     sch.vectorize(inner)

The history gets the primitives that it takes, one by one, so that a saved schedule needs nothing
but tvmlab to be opened again.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from typing import Any, Literal, TypeAlias

from tvmlab.ir import Block, For, Program, Var
from tvmlab.support import ScheduleError, UserError, shown

from .index import ProgramIndex
from .refs import BlockRef, LoopRef
from .registry import PRIMITIVES, Applied, ParamKind, ParamSpec, Primitive
from .schedule import Schedule
from .verdict import RefusedError, refuse

Steps: TypeAlias = Callable[..., None]
_KINDS: dict[str, ParamKind] = {"int": "int", "bool": "bool", "str": "value", "float": "value"}


def composite(
    title: str | None = None, *, on: Literal["loop", "block"] = "loop", key: str = ""
) -> Callable[[Steps], Steps]:
    """Offer a function of a schedule and a loop (or block) in menus, forms and by key.

    Parameters
    ----------
    title
        The words of the menu; by default the function's name.
    on
        What it acts on: its second parameter. Further parameters need defaults (a whole number, a
        truth value or a text), which a form then asks for.
    key
        A letter that takes it at once in the explorer.

    Raises
    ------
    UserError
        If the function does not have such parameters, or its name is taken by a primitive.
    """
    if on not in ("loop", "block"):
        raise UserError(f"a step of one's own acts on a loop or a block, not on {shown(on)}")

    def register(function: Steps) -> Steps:
        name = function.__name__
        known = PRIMITIVES.get(name)
        if known is not None and known.steps is None:
            raise UserError(
                f"a schedule primitive named {name!r} exists already",
                hint="give the function another name",
            )
        params = (ParamSpec(_subject(function), on, "what it acts on"), *_asked(function))
        words = title or name.replace("_", " ")
        PRIMITIVES[name] = Primitive(
            name,
            words,
            key,
            params,
            _runner(name, function),
            propose=_proposer(params[1:]),
            steps=function,
        )
        return function

    return register


def forget_composite(name: str) -> None:
    """Take a function out of the menus again.

    Raises
    ------
    UserError
        If no function of that name was registered.
    """
    known = PRIMITIVES.get(name)
    if known is None or known.steps is None:
        raise UserError(f"there is no step of one's own named {name!r}")
    del PRIMITIVES[name]


def _parameters(function: Steps) -> list[inspect.Parameter]:
    found = list(inspect.signature(function).parameters.values())
    if len(found) < 2:
        raise UserError(
            f"{function.__name__} must take a schedule and a loop or block",
            hint="such as: def tile(sch, loop, width: int = 16)",
        )
    return found


def _subject(function: Steps) -> str:
    return _parameters(function)[1].name


def _asked(function: Steps) -> Iterator[ParamSpec]:
    """What a form asks for besides the loop or block."""
    for parameter in _parameters(function)[2:]:
        default = parameter.default
        kind = _KINDS.get(type(default).__name__)
        if kind is None:
            raise UserError(
                f"{function.__name__} needs a default for {parameter.name}: a whole number, a "
                f"truth value or a text",
                hint=f"write {parameter.name}=16, say",
            )
        words = parameter.name.replace("_", " ")
        yield ParamSpec(parameter.name, kind, words, default=default, required=False)


def _proposer(params: tuple[ParamSpec, ...]) -> Callable[..., list[dict[str, Any]]]:
    defaults = {spec.name: spec.default for spec in params}

    def propose(index: ProgramIndex, subject: For | Block) -> list[dict[str, Any]]:
        del index, subject
        return [dict(defaults)]

    return propose


def _runner(name: str, function: Steps) -> Callable[..., Applied]:
    """The function as a primitive: tried on a schedule of its own, so that nothing else changes."""

    def run(program: Program, **args: Any) -> Applied:
        schedule = Schedule(program)
        take_steps(schedule, function, args)
        if len(schedule.trace) == 0:
            raise refuse("composite.nothing", f"{name} takes no step here")
        return Applied(schedule.program)

    run.__doc__ = function.__doc__
    return run


def take_steps(schedule: Schedule, function: Steps, args: dict[str, Any]) -> None:
    """Call the function with references of a schedule.

    Raises
    ------
    RefusedError
        If a step is refused, or the function fails.
    """
    subject, *rest = args.values()
    ref = LoopRef(schedule, subject) if isinstance(subject, Var) else BlockRef(schedule, subject)
    name = function.__name__
    try:
        function(schedule, ref, *rest)
    except RefusedError as refused:
        verdict = refused.verdict
        done = len(schedule.trace)
        raise refuse(
            verdict.rule, f"step {done + 1} of {name}: {verdict.reason}", witness=verdict.witness
        ) from refused
    except ScheduleError as error:
        raise refuse("composite.failed", f"{name} does not fit here: {error.message}") from error
    except Exception as error:  # the user's own code: its fault is told, and costs one step
        told = f"{type(error).__name__}: {error}"
        raise refuse("composite.failed", f"{name} failed with {told}") from error
