"""Spaces around a schedule: "keep my outer loops, search the rest"."""

from __future__ import annotations

from typing import Any

from tvmlab.schedule import Schedule
from tvmlab.support import UnsupportedOp
from tvmlab.target import Target, TargetLike

from .plan import main_block, tail_policy
from .reader import Knobs
from .space import Space


def partial_space(schedule: Schedule, target: TargetLike = "cpu") -> Space:
    """The space around a schedule: its outer loops stay, what is inside them is searched.

    The loops of the block with the most work that are still serial, from the innermost out to the
    first one that is not, are split, nested anew, vectorized and unrolled. Everything that was done
    before stays in the trace.

    Raises
    ------
    UnsupportedOp
        If that block has no serial loop left.
    """
    machine = Target.of(target)
    start = schedule.copy()
    main = main_block(start.program)
    free: list[tuple[int, int]] = []
    loops = start.loops(main.name)
    for n, loop in reversed(list(enumerate(loops))):
        if loop.kind != "serial" or loop.extent is None:
            break
        if loop.extent > 1:
            free.insert(0, (n, loop.extent))
    if not free:
        raise UnsupportedOp(
            f"{main.name} has no serial loop left inside: there is nothing to search",
            hint="take back the last steps, or search the whole space with generic_space",
        )

    def template(sch: Any, knobs: Knobs) -> None:
        found = list(sch.loops(main.name))
        outer: list[Any] = []
        inner: list[Any] = []
        for n, extent in free:
            name = loops[n].name
            a, b = sch.split(
                found[n], knobs.split(name, extent, 2, most=64, tail=tail_policy(extent))
            )
            outer.append(a)
            inner.append(b)
        places = knobs.order("order", list(range(len(inner)))) if len(inner) <= 4 else None
        inner = inner if places is None else [inner[n] for n in places]
        sch.reorder(*outer, *inner)
        if knobs.flag("vectorize"):
            sch.vectorize(inner[-1])
            inner = inner[:-1]
        if knobs.flag("unroll"):
            for loop in inner:
                sch.unroll(loop)

    return Space(start.history.nodes[0].program, template, machine, start=start)
