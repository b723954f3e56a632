"""A program: parameters, intermediate buffers and one statement. An immutable value."""

from __future__ import annotations

from typing import TypeAlias, Union

from tvmlab.support import node

from .expr import Buffer, Var
from .stmt import Annotations, Stmt

Param: TypeAlias = Union[Buffer, Var]


@node
class Program:
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
