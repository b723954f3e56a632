"""Programs written as Python functions: the body is read as text and never executed.

>>> @kernel
... def scale(A: "float32[N]", B: "float32[N]"):
...     for i in range(N):
...         B[i] = A[i] * 2
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, cast

import numpy as np

from tvmlab.support import ParseError, UserError

from .expr import Scalar
from .folding_tree import fold
from .parser import parse
from .program import Program
from .traverse import with_body
from .verify import verify


def kernel(function: Callable[..., Any]) -> Program:
    """The program that a function in the text form describes; use it as a decorator.

    Numbers known where the function stands (such as a global `N = 64`) may be used by name. Types
    of parameters are written in quotes, or plainly under `from __future__ import annotations`.
    Blocks are optional: a `Schedule` of plain loops puts each statement into one. So what no tensor
    expression states can be written and scheduled: stencils in place, prefix sums, triangles.

    >>> @kernel
    ... def prefix(A: "float32[64]", S: "float32[64]"):
    ...     S[0] = A[0]
    ...     for i in range(1, 64):
    ...         S[i] = S[i - 1] + A[i]

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
    program = with_body(program, fold(program.body))
    verify(program, error=UserError)
    return program


def _numbers(function: Callable[..., Any]) -> dict[str, Scalar]:
    """The numbers among the globals of a function and the locals around it."""
    cells = zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
    around: dict[str, Any] = {name: cell.cell_contents for name, cell in cells}
    known = {**function.__globals__, **around}
    found: dict[str, Scalar] = {}
    for name, value in known.items():
        number = cast(Any, value).item() if isinstance(value, np.generic) else value
        if isinstance(number, (int, float)):
            found[name] = number
    return found
