"""The program that a classical schedule starts from, and the parameters that its kernel has.

Old programs may list intermediate tensors among the arguments. The steps are taken as if they were
not; afterwards these tensors are handed out as parameters, holding what the schedule computes. Of
an operation with several outputs they may leave some out, which then are intermediate.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from tvmlab.ir import Buffer, Program, Var
from tvmlab.support import ScheduleError, user_span
from tvmlab.te import (
    ComputeOp,
    Operation,
    PlaceholderOp,
    ScanOp,
    Tensor,
    create_program,
    sizes_of,
)

from .axes import AttachType
from .operations import copied, with_inlined
from .stage import Stage


@dataclass(frozen=True, slots=True)
class Handed:
    """A parameter that no output needs to be one: its place, and its buffer by name."""

    position: int
    name: str
    buffer: Buffer


def base_program(
    stages: Sequence[Stage],
    outputs: Sequence[Operation],
    stage_map: Mapping[Operation, Stage],
    args: Sequence[Any] | None,
    name: str | None,
) -> tuple[Program, list[Handed]]:
    """The unscheduled program, each block named like its stage, and what to hand out later.

    Raises
    ------
    ScheduleError
        If an argument is neither a tensor of the schedule nor a scalar.
    """
    new = _named_apart(stages)
    made = [new[stage_map[op].op].outputs for op in outputs]
    if args is None:
        return create_program([t for several in made for t in several], name=name or "main"), []
    given = [_argument(arg, stage_map, new) for arg in args]
    roots = [t for several in made for t in [t for t in several if t in given] or several]
    needed: list[Tensor | Var] = []
    handed: list[Handed] = []
    for position, found in enumerate(given):
        if isinstance(found, Tensor) and not (
            found in roots or (isinstance(found.op, PlaceholderOp) and _is_input(found, new))
        ):
            handed.append(Handed(position, found.name, found))
        else:
            needed.append(found)
    sizes = [v for v in sizes_of(roots) if v not in needed]
    program = create_program(roots, args=[*needed, *sizes], name=name or "main")
    return program, handed


def hand_out(program: Program, handed: Sequence[Handed]) -> Program:
    """The program with more of its buffers as parameters; inlined ones are left as they come."""
    params = list(program.params)
    allocs = list(program.allocs)
    for item in handed:
        buffer = next((b for b in allocs if b.name == item.name), None)
        if buffer is None:
            buffer = Buffer(item.name, item.buffer.shape, item.buffer.dtype)
        else:
            allocs.remove(buffer)
        params.insert(item.position, buffer)
    return replace(program, params=tuple(params), allocs=tuple(allocs))


def _named_apart(stages: Sequence[Stage]) -> dict[Operation, Operation]:
    """Every stage's operation again, named like the stage, in the stage's memory."""
    new: dict[Operation, Operation] = {}
    tensors: dict[Tensor, Tensor] = {}
    inlined: dict[Tensor, ComputeOp] = {}
    for stage in stages:
        made = copied(stage.op, stage.name, stage.scope or "global", tensors)
        if inlined:
            made = with_inlined(made, inlined)
        tensors.update(zip(stage.op.outputs, made.outputs, strict=True))
        new[stage.op] = made
        if _vanishes_early(stage) and isinstance(made, ComputeOp):
            inlined.update((t, made) for t in made.outputs)
    return new


def _vanishes_early(stage: Stage) -> bool:
    """Whether a stage is inlined in the formulas: in a scan's cell, where states change in place.

    Elsewhere inlining is a step like others.
    """
    in_cell = any(group.attach_type is AttachType.SCAN for group in stage.groups_around())
    return in_cell and stage.attach_type is AttachType.INLINE


def _argument(
    arg: Any, stage_map: Mapping[Operation, Stage], new: Mapping[Operation, Operation]
) -> Tensor | Var:
    if isinstance(arg, Tensor):
        stage = stage_map.get(arg.op)
        return arg if stage is None else new[stage.op].outputs[arg.value_index]
    if isinstance(arg, Var):
        return arg
    raise ScheduleError(
        f"{arg!r} is no argument of a kernel",
        hint="list the tensors that the kernel reads and computes, and scalar variables",
        span=user_span(),
    )


def _is_input(tensor: Tensor, new: Mapping[Operation, Operation]) -> bool:
    """Whether a tensor is read, and is not only the name that a scan has for its own state."""
    states = [t for op in new.values() if isinstance(op, ScanOp) for t in op.state_placeholder]
    return tensor not in states and any(tensor in op.input_tensors for op in new.values())
