"""Code generation: what turns a program into results, by interpretation or as machine code."""

from .interpreter import InterpreterFailure, interpret
from .llvm import (
    CompiledObject,
    EmitOptions,
    FastMath,
    LoopReport,
    cache_key_parts,
    compile_c,
    compile_module,
    emit_module,
    kernel_name,
    kernel_signature,
    loop_reports,
    require_symbols,
    with_code,
)

__all__ = [
    "CompiledObject",
    "EmitOptions",
    "FastMath",
    "InterpreterFailure",
    "LoopReport",
    "cache_key_parts",
    "compile_c",
    "compile_module",
    "emit_module",
    "interpret",
    "kernel_name",
    "kernel_signature",
    "loop_reports",
    "require_symbols",
    "with_code",
]
