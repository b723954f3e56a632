"""`build`: from a schedule to a kernel, through lowering, LLVM and the cache of machine code."""

from __future__ import annotations

import time
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal, cast, overload

import tvmlab.codegen as codegen
from tvmlab.ir import For, Program, Var, verify, walk
from tvmlab.lower import LowerOptions
from tvmlab.runtime import ObjectCache
from tvmlab.schedule import Schedule, TeSchedule
from tvmlab.support import OptionError, UserError, items_of, require_option, shown
from tvmlab.target import Target
from tvmlab.te import Tensor, create_program

from .executable import Executable
from .job import Job
from .loops import READABLE_BEFORE, Loops
from .strided import Strides, with_strides

if TYPE_CHECKING:
    from tvmlab.codegen import EmitOptions
    from tvmlab.lower import Lowered

Source = Schedule | TeSchedule | Program | Tensor | Sequence[Tensor]
Arguments = Sequence[Tensor | Var]


@overload
def lower(
    source: Source,
    args: Arguments | Target | str | None = None,
    target: Target | str = "cpu",
    options: LowerOptions | None = None,
    *,
    name: str | None = None,
    simple_mode: Literal[False] = False,
) -> Lowered: ...
@overload
def lower(
    source: Source,
    args: Arguments | Target | str | None = None,
    target: Target | str = "cpu",
    options: LowerOptions | None = None,
    *,
    name: str | None = None,
    simple_mode: Literal[True],
) -> Loops: ...
def lower(
    source: Source,
    args: Arguments | Target | str | None = None,
    target: Target | str = "cpu",
    options: LowerOptions | None = None,
    *,
    name: str | None = None,
    simple_mode: bool = False,
) -> Lowered | Loops:
    """Run the passes: the lowered program, and a record of what each pass did.

    Parameters
    ----------
    source
        A schedule, a program, or output tensors (which are then unscheduled).
    args
        The parameters, for a te schedule or tensors; the target may stand in their place.
    target
        The machine to lower for.
    name
        The kernel's name, for a te schedule or tensors.
    simple_mode
        Return the loops in readable form instead, as they are before the main parts of loops are
        cut off and vectors made.
    """
    # Here, because with the passes a plain `import tvmlab` would take a quarter longer.
    from tvmlab.lower import lower as lower_program

    arguments, machine = _arguments(args, target)
    program = program_of(source, arguments, name)
    verify(program, error=UserError)
    if options is not None:
        require_option(options, LowerOptions, "options")
    chosen, described = options or LowerOptions(), Target.of(machine)
    if simple_mode is True:
        return Loops(lower_program(program, described, chosen, before=READABLE_BEFORE).program)
    return lower_program(program, described, chosen)


def _codes(link: Sequence[str | bytes | Path]) -> Sequence[str | bytes | Path]:
    """Codes to be linked in, which callers may have given as anything."""
    codes = [link] if isinstance(link, (str, bytes, Path)) else items_of(link)
    if codes is None or not all(isinstance(code, (str, bytes, Path)) for code in codes):
        raise OptionError(
            f"link must be a list of LLVM IR texts, bitcode and paths, not {shown(link)}",
            hint='for example link=["kernel.ll"] or link=[Path("kernel.c")]',
        )
    return cast("Sequence[str | bytes | Path]", codes)


def _arguments(
    args: Arguments | Target | str | None, target: Target | str
) -> tuple[Arguments | None, Target | str]:
    """Arguments and target, of which the target may have been given first."""
    return (None, args) if isinstance(args, (Target, str)) else (args, target)


def build(
    source: Source,
    args: Arguments | Target | str | None = None,
    target: Target | str = "cpu",
    *,
    name: str | None = None,
    options: LowerOptions | None = None,
    emit_options: EmitOptions | None = None,
    cache: bool = True,
    link: Sequence[str | bytes | Path] = (),
    strides: Strides | None = None,
) -> Executable:
    """Compile a schedule to a kernel for this machine.

    Parameters
    ----------
    source
        A schedule, a program, or output tensors (which are then unscheduled).
    args
        The parameters, for a te schedule or tensors; the target may stand in their place.
    target
        "cpu", "llvm -mcpu=...", or a `Target`.
    name
        The kernel's name, for a te schedule or tensors.
    cache
        Whether machine code of equal LLVM IR may come from, and go to, the cache on disk.
    link
        Code to link the kernel with, for calls of `symbol:NAME`: LLVM IR as text, bitcode as
        bytes, or paths of `.ll`, `.bc` or `.c` files.
    strides
        Arrays that may be views: for a parameter's name how far neighbors lie apart along each
        axis, in elements, None where the call decides. `{"A": (None, 1)}` takes parts of a
        matrix, `{"A": (1, None)}` transposed ones, `{"A": None}` any view.

    Returns
    -------
    Executable
        Called on arrays in the order of the program's parameters.
    """
    arguments, wanted = _arguments(args, target)
    machine = Target.of(wanted)
    start = time.perf_counter()
    program = program_of(source, arguments, name)
    warn_of_unwritten(source, arguments)
    _require_cpu_loops(program)
    if options is not None:
        require_option(options, LowerOptions, "options")
    if emit_options is not None:
        require_option(emit_options, codegen.EmitOptions, "emit_options")
    for code in _codes(link):
        program = codegen.with_code(program, code)
    if strides is not None:
        program = with_strides(program, strides)
    job = Job(program, machine, options, emit_options)
    if not cache:
        return job.built(None, None)
    store, key = ObjectCache(), job.key()
    known = None if key is None else job.recalled(store, key, start)
    return known or job.built(store, key)


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


def program_of(source: Source, args: Arguments | None = None, name: str | None = None) -> Program:
    """The program that a schedule, tensors or a program itself stand for."""
    if isinstance(source, TeSchedule):
        program = source.replay(args, name).program
        for code in source.linked:
            program = codegen.with_code(program, code)
        return program
    if isinstance(source, (Schedule, Program)):
        if args is not None or name is not None:
            raise UserError(
                "a program has its arguments and its name already",
                hint="say them when the schedule is made: tl.Schedule(C, args=[A, C], name=...)",
            )
        return source.program if isinstance(source, Schedule) else source
    tensors = _tensors(source)
    if tensors is not None:
        return create_program(tensors, args=args, name=name)
    raise UserError(
        f"cannot build {type(source).__name__}: it is no schedule, program or tensor",
        hint="pass a tvmlab.Schedule, for example tl.build(tl.Schedule(C))",
    )


def warn_of_unwritten(source: object, args: Arguments | None, stacklevel: int = 3) -> None:
    """Warn of arguments that a kernel leaves as they come, since their values are inlined."""
    for tensor in source.unwritten(args or ()) if isinstance(source, TeSchedule) else ():
        warnings.warn(
            f"the kernel does not write {tensor.name}, which is among its arguments: its values "
            f"are computed where they are read (compute_inline). Leave it out of the arguments, "
            f"or call s[{tensor.name}].compute_root() to have it written",
            stacklevel=stacklevel,
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
