"""`build`: from a schedule to a kernel, through lowering, LLVM and the cache of machine code."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import cast

from tvmlab.codegen import (
    EmitOptions,
    cache_key_parts,
    compile_module,
    emit_module,
    kernel_signature,
    require_symbols,
    with_code,
)
from tvmlab.ir import For, Program, verify, walk
from tvmlab.lower import Lowered, LowerOptions
from tvmlab.lower import lower as lower_program
from tvmlab.runtime import Kernel, ObjectCache
from tvmlab.schedule import Schedule
from tvmlab.support import UserError
from tvmlab.target import Target
from tvmlab.te import Tensor, create_program

from .executable import Executable

Source = Schedule | Program | Tensor | Sequence[Tensor]


def lower(
    source: Source, target: Target | str = "cpu", options: LowerOptions | None = None
) -> Lowered:
    """Run the passes: the lowered program, and a record of what each pass did.

    Parameters
    ----------
    source
        A schedule, a program, or output tensors (which are then unscheduled).
    target
        The machine to lower for.
    """
    program = program_of(source)
    verify(program, error=UserError)
    return lower_program(program, Target.of(target), options or LowerOptions())


def build(
    source: Source,
    target: Target | str = "cpu",
    *,
    options: LowerOptions | None = None,
    emit_options: EmitOptions | None = None,
    cache: bool = True,
    link: Sequence[str | bytes | Path] = (),
) -> Executable:
    """Compile a schedule to a kernel for this machine.

    Parameters
    ----------
    source
        A schedule, a program, or output tensors (which are then unscheduled).
    target
        "cpu", or a `Target`.
    cache
        Whether machine code of equal LLVM IR may come from, and go to, the cache on disk.
    link
        Code to link the kernel with, for calls of `symbol:NAME`: LLVM IR as text, bitcode as
        bytes, or paths of `.ll`, `.bc` or `.c` files.

    Returns
    -------
    Executable
        Called on arrays in the order of the program's parameters.
    """
    machine = Target.of(target)
    _require_cpu_loops(program_of(source))
    start = time.perf_counter()
    program = program_of(source)
    for code in link:
        program = with_code(program, code)
    lowered = lower(program, machine, options)
    lowered_at = time.perf_counter()
    text = emit_module(lowered.program, machine, emit_options)
    stages = {"lower": lowered_at - start, "emit": time.perf_counter() - lowered_at}

    def compile_now() -> bytes:
        compiled = compile_module(text, machine)
        stages.update(compiled.seconds)
        return compiled.object_bytes

    if cache:
        store = ObjectCache()
        key = store.key(cache_key_parts(text, machine))
        data, found = store.get_or_build(key, compile_now)
    else:
        data, found = compile_now(), False
    linking = time.perf_counter()
    require_symbols(lowered.program)
    kernel = Kernel(data, kernel_signature(lowered.program, like=program))
    stages["load"] = time.perf_counter() - linking
    return Executable(
        program, lowered.program, lowered.record, machine, text, kernel, stages, found
    )


def _require_cpu_loops(program: Program) -> None:
    """Refuse to compile loops over a device's threads for a CPU, which has none."""
    for loop in walk(program.body):
        if isinstance(loop, For) and loop.kind == "thread":
            name = loop.var.name
            raise UserError(
                f"cannot build {program.name} for the CPU: the loop {name} is bound to "
                f"{loop.thread}, and a CPU has no such threads",
                hint=f"for threads of the CPU make the loop serial and then parallel: "
                f"sch.serial({name}); sch.parallel({name}). A program for a device can be looked "
                f"at with tvmlab.lower and run with tvmlab.codegen.interpret",
            )


def program_of(source: Source) -> Program:
    """The program that a schedule, tensors or a program itself stand for."""
    if isinstance(source, Schedule):
        return source.program
    if isinstance(source, Program):
        return source
    tensors = _tensors(source)
    if tensors is not None:
        return create_program(tensors)
    raise UserError(
        f"cannot build {type(source).__name__}: it is no schedule, program or tensor",
        hint="pass a tvmlab.Schedule, for example tl.build(tl.Schedule(C))",
    )


def _tensors(source: object) -> list[Tensor] | None:
    """One or more tensors as a list; None for anything else that a user may have passed."""
    if isinstance(source, Tensor):
        return [source]
    if not isinstance(source, Sequence):
        return None
    items = cast("Sequence[object]", source)
    tensors = [t for t in items if isinstance(t, Tensor)]
    return tensors if len(tensors) == len(items) else None
