"""Code generation: what turns a program into results, by interpretation or as machine code."""

from .interpreter import InterpreterFailure, interpret

__all__ = ["InterpreterFailure", "interpret"]
