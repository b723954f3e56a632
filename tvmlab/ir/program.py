"""A program: parameters, intermediate buffers and one statement. An immutable value."""

from __future__ import annotations

from typing import TypeAlias, Union

from tvmlab.support import Readable, node

from .expr import Buffer, Var
from .stmt import Annotations, Stmt

Param: TypeAlias = Union[Buffer, Var]


IMPORT_LLVM = "import_llvm"
"""The annotation that holds code to be linked into the kernel: a text, or several in a tuple."""


STRIDES = "strides"
"""The annotation that tells for some parameters how far neighbors lie apart along each axis, by
numbers and names of scalar parameters."""


@node
class Program(Readable):
    """A named function over buffers (and scalar sizes).

    `allocs` are intermediate buffers that still have their full shape; lowering gives each its
    place and its tight size. A parameter that the body writes is an output.
    """

    name: str
    params: tuple[Param, ...]
    body: Stmt
    allocs: tuple[Buffer, ...] = ()
    annotations: Annotations = ()

    @property
    def buffers(self) -> tuple[Buffer, ...]:
        """Parameter buffers and intermediates, in order."""
        return (*(p for p in self.params if isinstance(p, Buffer)), *self.allocs)

    @property
    def imported_code(self) -> tuple[str, ...]:
        """The code that the kernel is to be linked with."""
        found = dict(self.annotations).get(IMPORT_LLVM, ())
        codes = found if isinstance(found, tuple) else (found,)
        return tuple(code for code in codes if isinstance(code, str))
