"""Random schedules: steps drawn from what the menus offer, refused ones included in the draw."""

from __future__ import annotations

from typing import Any

import numpy as np
from helpers.random_intrinsics import random_intrinsics

from tvmlab.schedule import PRIMITIVES, Action, BlockRef, LoopRef, RefusedError, Schedule


def random_steps(
    schedule: Schedule, rng: np.random.Generator, count: int, *, device: bool = False
) -> int:
    """Take up to `count` random allowed steps; returns how many were taken.

    With `device` loops go to threads of a device rather often, and the program can no longer be
    compiled for a CPU; otherwise they only become virtual threads.
    """
    taken = 0
    for _ in range(count * 3):
        if taken == count:
            break
        if rng.integers(6) == 0 and _tensorize(schedule, rng):
            taken += 1
            continue
        action = _draw(schedule, rng, device)
        if action is None:
            continue
        args = _arguments(action, rng)
        if action.primitive == "bind" and not device:
            args["thread"] = "vthread"
        if schedule.preview(action.primitive, **args).verdict:
            schedule.apply(action.primitive, **args)
            taken += 1
    return taken


def references(schedule: Schedule) -> list[LoopRef | BlockRef]:
    """All loops and blocks of the current program."""
    found: dict[Any, LoopRef | BlockRef] = {}
    for block in schedule.blocks():
        found[block.symbol] = block
        found.update({loop.var: loop for loop in schedule.loops(block)})
    return list(found.values())


_DEVICE = ("bind", "set_scope", "cache_read", "cache_write", "split", "compute_at", "fuse")
"""Steps that programs for devices are made of."""


_RARE = (
    "double_buffer", "software_pipeline", "rolling_buffer", "pad", "compute_at", "storage_align"
)  # fmt: skip
"""Steps that few programs allow, drawn more often where they are allowed."""


def _tensorize(schedule: Schedule, rng: np.random.Generator) -> bool:
    """Take a loop of which one of our own intrinsics does the work, if there is one."""
    loops = [ref for ref in references(schedule) if isinstance(ref, LoopRef)]
    for number in rng.permutation(len(loops)):
        loop = loops[int(number)]
        for name in random_intrinsics().get(str(loop.extent), ()):
            try:  # without a search for other ways, which a refusal by the schedule brings
                PRIMITIVES["tensorize"].run(schedule.program, target=loop.var, intrin=name)
            except RefusedError:
                continue
            if schedule.preview("tensorize", target=loop, intrin=name).verdict:
                schedule.apply("tensorize", target=loop, intrin=name)
                return True
    return False


def _draw(schedule: Schedule, rng: np.random.Generator, device: bool) -> Action | None:
    refs = references(schedule)
    offered = schedule.actions(refs[int(rng.integers(len(refs)))])
    # Which others are declared depends on the tests that ran before: a draw must not.
    actions = [a for a in offered if a.primitive != "tensorize"]
    wanted = [a for a in actions if a.primitive in _DEVICE and a.verdict]
    if device and wanted and rng.integers(4):
        actions = wanted
    rare = [a for a in actions if a.primitive in _RARE and a.verdict]
    if rare and rng.integers(3) == 0:
        actions = rare
    return actions[int(rng.integers(len(actions)))] if actions else None


def _arguments(action: Action, rng: np.random.Generator) -> dict[str, Any]:
    args = dict(action.args)
    for name, choices in action.choices.items():
        if choices:
            args[name] = choices[int(rng.integers(len(choices)))].value
    if action.primitive == "split":
        args["factors"] = _factors(rng)
        args["tail"] = str(rng.choice(["auto", "auto", "guard", "mask", "peel"]))
    for spec in action.params:
        if spec.kind == "int" and args.get(spec.name) is not None:
            args[spec.name] = int(rng.integers(0, 6))
        if spec.name in ("points",) and rng.integers(2):
            args[spec.name] = sorted({int(n) for n in rng.integers(1, 8, size=rng.integers(1, 3))})
        if spec.kind == "value" and args.get("key") == "auto_unroll_max_step":
            args["value"] = int(rng.integers(20))
        if spec.name == "stages":
            count = len(action.args["stages"])
            args["stages"] = [int(n) for n in rng.integers(0, 3, count)]
            order = [int(n) for n in np.argsort(rng.random(count))]
            args["order"] = order if rng.integers(2) else None
        if spec.name == "multiples":
            args[spec.name] = [int(n) for n in rng.integers(1, 5, len(action.args[spec.name]))]
        if spec.kind == "mapping":
            args[spec.name] = random_map(rng, len(args[spec.name].params))
        if spec.name == "pad_value" and rng.integers(2):
            args[spec.name] = int(rng.integers(3))
    return args


def random_map(rng: np.random.Generator, rank: int) -> str:
    """The text of a one-to-one map: dimensions tiled, made longer, and put into another order."""
    names = [f"i{n}" for n in range(rank)]
    parts: list[str] = []
    for name in names:
        factor = int(rng.integers(2, 6))
        choices = (
            [name], [f"{name} // {factor}", f"{name} % {factor}"], [f"{name} * {factor}"],
            [f"{name} // {factor} * {factor + 1} + {name} % {factor}"],
        )  # fmt: skip
        parts += choices[int(rng.integers(len(choices)))]
    order = [parts[int(n)] for n in np.argsort(rng.random(len(parts)))]
    return f"lambda {', '.join(names)}: [{', '.join(order)}]"


def _factors(rng: np.random.Generator) -> tuple[int | None, ...]:
    count = int(rng.integers(2, 4))
    factors: list[int | None] = [int(rng.integers(1, 6)) for _ in range(count)]
    factors[int(rng.integers(count))] = None
    return tuple(factors)
