"""From IR text to machine code: parse, optimize, emit an object, each step timed.

LLVM's own vectorizers and unrollers stay off: vectors and unrolling are decided by the schedule and
stand in the text already. What is wanted of LLVM is the rest: registers, common subexpressions,
loop-invariant code, address arithmetic, instruction selection.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Any, Literal

from tvmlab.support import InternalError, llvm_binding, llvm_version
from tvmlab.target import Target

from .builder import HELPER, PLAIN, RECURRENCE, UNROLL
from .link import CARRIED, link_carried


@dataclass(frozen=True)
class CompiledObject:
    """The machine code of a module; its optimized text and assembly are made when asked for."""

    object_bytes: bytes
    ir_text: str
    target: Target
    opt_level: int = 3
    seconds: Mapping[str, float] = field(default_factory=dict[str, float])

    @cached_property
    def llvm_text_optimized(self) -> str:
        """The IR after optimization."""
        module, _ = _optimized(self.ir_text, self.target, self.opt_level, {})
        return str(module)

    @cached_property
    def asm(self) -> str:
        """The assembly of the object."""
        module, machine = _optimized(self.ir_text, self.target, self.opt_level, {})
        return machine.emit_assembly(module)


def compile_module(ir_text: str, target: Target, opt_level: int = 3) -> CompiledObject:
    """Compile IR text to a relocatable object for a target.

    Raises
    ------
    InternalError
        If LLVM rejects the text: the emitter must not write such text.
    """
    seconds: dict[str, float] = {}
    module, machine = _optimized(ir_text, target, opt_level, seconds)
    start = time.perf_counter()
    data = machine.emit_object(module)
    seconds["codegen"] = time.perf_counter() - start
    return CompiledObject(data, ir_text, target, opt_level, seconds)


def cache_key_parts(ir_text: str, target: Target, opt_level: int = 3) -> tuple[str, ...]:
    """Everything that decides what the object looks like, for a cache's key."""
    machine = (target.triple, target.cpu, target.features)
    return (ir_text, *machine, llvm_version(), str(opt_level))


def _optimized(
    ir_text: str, target: Target, opt_level: int, seconds: dict[str, float]
) -> tuple[Any, Any]:
    llvm = llvm_binding()
    start = time.perf_counter()
    try:
        module = llvm.parse_assembly(ir_text)
        module.verify()
    except RuntimeError as error:
        raise InternalError(
            f"LLVM rejects the generated code: {error}", notes=(_excerpt(ir_text, str(error)),)
        ) from error
    parsed = time.perf_counter()
    machine = _machine(target, opt_level)
    module.data_layout = str(machine.target_data)
    link_carried(module, ir_text)
    _run_passes(module, machine, opt_level, _extent(ir_text, opt_level))
    seconds["parse"] = parsed - start
    seconds["optimize"] = time.perf_counter() - parsed
    return module, machine


_WHOLE = (HELPER, CARRIED, UNROLL, RECURRENCE)
"""What only the passes over a whole module deal with: functions to be put in place, loops to be
unrolled in part, and values that a loop stores for its next round to load."""


def _extent(ir_text: str, opt_level: int) -> Literal["whole", "functions", "few"]:
    """How much is to be done to a module."""
    if opt_level == 0 or any(mark in ir_text for mark in _WHOLE):
        return "whole"
    return "few" if ir_text.startswith(PLAIN) else "functions"


def _run_passes(
    module: Any, machine: Any, opt_level: int, extent: Literal["whole", "functions", "few"]
) -> None:
    """LLVM's own order of passes over the whole module or for each function, or a few of them.

    The first take a third longer than the second and change nothing in most kernels; the last take
    a sixth of the time, which is too little for most.
    """
    llvm = llvm_binding()
    options = llvm.create_pipeline_tuning_options(speed_level=opt_level)
    options.loop_vectorization = False
    options.slp_vectorization = False
    options.loop_interleaving = False
    options.loop_unrolling = True  # loops forbid it by metadata unless the schedule allowed it
    builder = llvm.create_pass_builder(machine, options)
    if extent == "whole":
        builder.getModulePassManager().run(module, builder)
        return
    passes = _few_passes() if extent == "few" else builder.getFunctionPassManager()
    for function in module.functions:
        if not function.is_declaration and not _stays(function):
            passes.run(function, builder)


def _few_passes() -> Any:
    """What a plain program needs: registers as values, simpler arithmetic, no empty blocks.

    Code that does not change with a loop leaves it in code generation.
    """
    passes = llvm_binding().create_new_function_pass_manager()
    passes.add_sroa_pass()
    passes.add_instruction_combine_pass()
    passes.add_simplify_cfg_pass()
    return passes


def _stays(function: Any) -> bool:
    """Whether a function is to be left as it is."""
    return any(b"optnone" in group for group in function.attributes)


def _machine(target: Target, opt_level: int) -> Any:
    return _known_machine(target.triple, target.arch, target.cpu, target.features, opt_level)


@lru_cache(maxsize=8)
def _known_machine(triple: str, arch: str, cpu: str, features: str, opt_level: int) -> Any:
    """LLVM's machine: its tables of registers and instructions take a millisecond to make.

    One serves all threads, because LLVM's binding lets them in one at a time.
    """
    return (
        llvm_binding()
        .Target.from_triple(triple)
        .create_target_machine(
            cpu=cpu,
            features=features,
            opt=opt_level,
            reloc="pic",
            codemodel="small" if arch not in ("x86_64", "aarch64") else "default",
            abiname="lp64d" if arch == "riscv64" else "",
        )
    )


def _excerpt(ir_text: str, message: str) -> str:
    """The lines around the place that LLVM complains about."""
    for part in message.split(":"):
        if part.strip().isdigit():
            line = int(part)
            return "\n".join(ir_text.splitlines()[max(0, line - 3) : line + 2])
    return ""
