"""Programs written as Python functions: the body is read as text and never executed.

>>> @kernel
... def scale(A: "float32[N]", B: "float32[N]"):
...     for i in range(N):
...         B[i] = A[i] * 2
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from tvmlab.support import ParseError, UserError

from .expr import Scalar
from .parser import parse
from .program import Program
from .verify import verify


def kernel(function: Callable[..., Any]) -> Program:
    """The program that a function in the text form describes; use it as a decorator.

    Numbers known where the function stands (such as a global `N = 64`) may be used by name. Types
    of parameters are written in quotes, or plainly under `from __future__ import annotations`.

    Raises
    ------
    ParseError
        If the function is not in the text form or its source is not at hand.
    UserError
        If the program is not well-formed.
    """
    try:
        text = inspect.getsource(function)
    except (OSError, TypeError):
        raise ParseError(
            "the source of this function is not at hand",
            hint="define it in a file or a notebook cell, or pass its text to tvmlab.ir.parse",
        ) from None
    code = function.__code__
    program = parse(
        text, file=code.co_filename, first_line=code.co_firstlineno, constants=_numbers(function)
    )
    verify(program, error=UserError)
    return program


def _numbers(function: Callable[..., Any]) -> dict[str, Scalar]:
    """The numbers among the globals of a function and the locals around it."""
    cells = zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
    around: dict[str, Any] = {name: cell.cell_contents for name, cell in cells}
    known = {**function.__globals__, **around}
    return {name: v for name, v in known.items() if isinstance(v, (int, float))}
