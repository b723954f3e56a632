"""Machine code for CPUs through LLVM."""

from .asm_report import LoopReport, loop_reports
from .compile import CompiledObject, cache_key_parts, compile_module
from .emit import emit_module, kernel_name
from .interface import kernel_signature
from .line_table import Located, located_asm, located_ir
from .link import compile_c, outside_symbols, require_symbols, with_code
from .options import EmitOptions, FastMath
from .shared import c_compiler, link_shared

__all__ = [
    "CompiledObject",
    "EmitOptions",
    "FastMath",
    "Located",
    "LoopReport",
    "c_compiler",
    "cache_key_parts",
    "compile_c",
    "compile_module",
    "emit_module",
    "kernel_name",
    "kernel_signature",
    "link_shared",
    "located_asm",
    "located_ir",
    "loop_reports",
    "outside_symbols",
    "require_symbols",
    "with_code",
]
