"""The public entry points: `lower` and `build`."""

from .build import build, lower, program_of
from .executable import Executable, SourceKind
from .work import count_flops

__all__ = ["Executable", "SourceKind", "build", "count_flops", "lower", "program_of"]
