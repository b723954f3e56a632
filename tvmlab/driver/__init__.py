"""The public entry points: `lower` and `build`."""

from .build import Source, build, lower, program_of, warn_of_unwritten
from .executable import Executable, SourceKind
from .loops import Loops
from .strided import with_strides
from .work import count_flops

__all__ = [
    "Executable",
    "Loops",
    "Source",
    "SourceKind",
    "build",
    "count_flops",
    "lower",
    "program_of",
    "warn_of_unwritten",
    "with_strides",
]
