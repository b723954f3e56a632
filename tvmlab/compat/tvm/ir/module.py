"""Functions of the loop program, and modules of them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from tvmlab.ir import Buffer, Program, Stmt, Var, to_text


@dataclass(eq=False)
class PrimFunc:
    """A function: its loops, and the scheduled program that they were made of."""

    program: Program
    scheduled: Program
    attrs: dict[str, Any] = field(default_factory=dict[str, Any])

    @property
    def body(self) -> Stmt:
        return self.program.body

    @property
    def params(self) -> tuple[Buffer | Var, ...]:
        return self.program.params

    @property
    def buffer_map(self) -> dict[Any, Buffer]:
        """The parameters that are buffers, each by itself."""
        return {p: p for p in self.program.params if isinstance(p, Buffer)}

    def with_attr(self, key: str, value: Any) -> PrimFunc:
        """The function with one more attribute."""
        return PrimFunc(self.program, self.scheduled, {**self.attrs, key: value})

    def script(self, **options: Any) -> str:
        """The loops as text."""
        del options
        return to_text(self.program)

    def __str__(self) -> str:
        return to_text(self.program)

    __repr__ = __str__


@dataclass(eq=False)
class IRModule:
    """Functions by name."""

    functions: dict[str, PrimFunc] = field(default_factory=dict[str, PrimFunc])

    @staticmethod
    def from_expr(function: PrimFunc) -> IRModule:
        """A module of one function, named main."""
        return IRModule({"main": function})

    def __getitem__(self, name: str) -> PrimFunc:
        return self.functions[str(name)]

    def get_global_vars(self) -> list[str]:
        """The names of the functions."""
        return list(self.functions)

    def script(self, **options: Any) -> str:
        """The functions as text."""
        del options
        return str(self)

    def __str__(self) -> str:
        return "\n".join(str(f) for f in self.functions.values())

    __repr__ = __str__
