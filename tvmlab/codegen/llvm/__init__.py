"""Machine code for CPUs through LLVM."""

from .compile import CompiledObject, cache_key_parts, compile_module
from .emit import emit_module, kernel_name
from .interface import kernel_signature
from .options import EmitOptions, FastMath

__all__ = [
    "CompiledObject",
    "EmitOptions",
    "FastMath",
    "cache_key_parts",
    "compile_module",
    "emit_module",
    "kernel_name",
    "kernel_signature",
]
