"""Building and lowering with the arguments that old programs give."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from tvmlab.compat.tvm.ir.module import IRModule, PrimFunc
from tvmlab.compat.tvm.runtime.module import DeviceModule, Module
from tvmlab.compat.tvm.target import Target
from tvmlab.driver import Loops, program_of, warn_of_unwritten
from tvmlab.driver import build as build_executable
from tvmlab.driver import lower as lower_program
from tvmlab.ir import Buffer, Expr, Program
from tvmlab.lower import device_uses
from tvmlab.schedule import TeSchedule
from tvmlab.support import UserError, items_of
from tvmlab.te import Tensor

from .binds import described_tensors, with_binds, without_binds

__all__ = ["build", "lower", "schedule_to_module"]

Binds: TypeAlias = Mapping[Tensor, Buffer] | None


def lower(
    inp: TeSchedule | IRModule | PrimFunc,
    args: Sequence[Any] | None = None,
    name: str = "main",
    binds: Binds = None,
    simple_mode: bool = False,
) -> Any:
    """The loops of a schedule: a module of one function, or what is readable in simple mode."""
    _require_list(args)
    if isinstance(inp, IRModule):
        return inp
    program = inp.program if isinstance(inp, PrimFunc) else _shown(inp, args, name, binds)
    loops = lower_program(program, simple_mode=True)
    return loops if simple_mode else IRModule({name: PrimFunc(loops.program, program)})


def schedule_to_module(
    sch: TeSchedule,
    args: Sequence[Any] | None = None,
    name: str = "main",
    binds: Binds = None,
) -> IRModule:
    """The function of a schedule, as a module."""
    made = lower(sch, args, name, binds)
    assert isinstance(made, IRModule)
    return made


def build(
    inputs: Any,
    args: Sequence[Any] | None = None,
    target: Any = None,
    target_host: Any = None,
    runtime: Any = None,
    name: str = "default_function",
    binds: Binds = None,
) -> Module:
    """Compile a schedule, or functions that were lowered, to a module that can be called.

    The target is the host's CPU unless it says otherwise. A program for a device that is not a CPU
    is interpreted, since there is none to run it on.
    """
    del target_host, runtime
    _require_list(args)
    machine = Target.of(target)
    functions = _functions(inputs, args, name, binds)
    if not machine.is_cpu:
        for label, program in functions.items():
            require_fitting(label, program, machine)
        return DeviceModule({n: (without_binds(p), n) for n, p in functions.items()}, machine)
    return Module(
        {n: build_executable(p, machine.described) for n, p in functions.items()},
    )


def _require_list(args: Any) -> None:
    """Refuse a tensor where the list of arguments stands: the brackets were forgotten."""
    if isinstance(args, Buffer | Expr):
        name = getattr(args, "name", args)
        raise UserError(
            f"the arguments of a kernel are a list, but {name} stands in its place",
            hint=f"put all arguments in brackets: [{name}, ...]",
        )


def _functions(
    inputs: Any, args: Sequence[Any] | None, name: str, binds: Binds
) -> dict[str, Program]:
    if isinstance(inputs, IRModule):
        return {n: f.scheduled for n, f in inputs.functions.items()}
    if isinstance(inputs, PrimFunc):
        return {name: inputs.scheduled}
    several = items_of(inputs)
    if several is not None:
        found: dict[str, Program] = {}
        for item in several:
            found.update(_functions(item, args, name, binds))
        return found
    if isinstance(inputs, Loops):
        return {name: inputs.program}
    tensors = described_tensors(args, binds)
    warn_of_unwritten(inputs, tensors, stacklevel=4)
    return {name: with_binds(program_of(inputs, tensors, name), tensors, binds)}


def _shown(inp: Any, args: Sequence[Any] | None, name: str, binds: Binds) -> Program:
    """The program of a schedule to look at; what the arguments leave out stands at their end."""
    tensors = described_tensors(args, binds)
    if tensors is not None and isinstance(inp, TeSchedule):
        tensors += inp.missing(tensors)
    return with_binds(program_of(inp, tensors, name), tensors, binds)


def require_fitting(name: str, program: Program, target: Target) -> None:
    """Refuse a program whose kernels ask for more than a device says that it has."""
    for use in device_uses(lower_program(program, simple_mode=True).program):
        if use.group_size > target.max_num_threads:
            shape = " x ".join(f"{extent} ({tag})" for tag, extent in use.threads.items())
            raise UserError(
                f"cannot build {name} for {target}: a group would have {use.group_size} threads, "
                f"{shape}, but the target's max_num_threads is {target.max_num_threads}",
                hint="split the loops that are bound to threadIdx by smaller factors",
            )
        limit = target.max_shared_memory_per_block
        if use.shared_bytes > limit:
            raise UserError(
                f"cannot build {name} for {target}: a group would share {use.shared_bytes} bytes, "
                f"but the target's max_shared_memory_per_block is {limit}",
                hint="compute what is shared further in, in smaller parts",
            )
