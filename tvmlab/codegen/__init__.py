"""Code generation: what turns a program into results, by interpretation or as machine code.

Both load at their first use.
"""

from typing import TYPE_CHECKING

from tvmlab.support import on_demand

if TYPE_CHECKING:
    from .interpreter import InterpreterFailure, interpret
    from .llvm import (
        CompiledObject,
        EmitOptions,
        FastMath,
        Located,
        LoopReport,
        cache_key_parts,
        compile_c,
        compile_module,
        emit_module,
        kernel_name,
        kernel_signature,
        located_asm,
        located_ir,
        loop_reports,
        outside_symbols,
        require_symbols,
        with_code,
    )

__all__ = [
    "CompiledObject",
    "EmitOptions",
    "FastMath",
    "InterpreterFailure",
    "Located",
    "LoopReport",
    "cache_key_parts",
    "compile_c",
    "compile_module",
    "emit_module",
    "interpret",
    "kernel_name",
    "kernel_signature",
    "located_asm",
    "located_ir",
    "loop_reports",
    "outside_symbols",
    "require_symbols",
    "with_code",
]

__getattr__ = on_demand(
    __name__,
    {
        "interpreter": ["InterpreterFailure", "interpret"],
        "llvm": [
            "CompiledObject",
            "EmitOptions",
            "FastMath",
            "Located",
            "LoopReport",
            "cache_key_parts",
            "compile_c",
            "compile_module",
            "emit_module",
            "kernel_name",
            "kernel_signature",
            "located_asm",
            "located_ir",
            "loop_reports",
            "outside_symbols",
            "require_symbols",
            "with_code",
        ],
    },
)
