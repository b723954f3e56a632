"""Python functions that programs call by name: `call("packed:NAME", ...)`.

>>> @register_function("my.sort")
... def sort(source, result):
...     result[...] = np.sort(source)

A function gets an array for each part of a buffer, which is the memory of the program itself and
not a copy (read-only where the program says that it is only read), and a number for each scalar.
What it returns is ignored.
"""

from __future__ import annotations

import difflib
import threading
from collections.abc import Callable
from typing import Any, TypeAlias, TypeVar

from tvmlab.support import RuntimeFailure, UserError

PackedFunction: TypeAlias = Callable[..., Any]
F = TypeVar("F", bound=PackedFunction)

_functions: dict[str, PackedFunction] = {}
_lock = threading.Lock()


def register_function(name: str, *, override: bool = False) -> Callable[[F], F]:
    """Make a Python function known to programs under a name; use it as a decorator.

    Raises
    ------
    UserError
        If another function has the name and `override` is not set.
    """

    def register(function: F) -> F:
        with _lock:
            known = _functions.get(name)
            if known is not None and known is not function and not override:
                raise UserError(
                    f"a function is already registered as {name}",
                    hint="choose another name, or pass override=True to replace it",
                )
            _functions[name] = function
        return function

    return register


def find_function(name: str) -> PackedFunction | None:
    """The function registered under a name, or None."""
    return _functions.get(name)


def packed_function(name: str) -> PackedFunction:
    """The function registered under a name.

    Raises
    ------
    RuntimeFailure
        If there is none.
    """
    found = _functions.get(name)
    if found is None:
        close = difflib.get_close_matches(name, _functions, n=1, cutoff=0.5)
        did_you_mean = f"; did you mean {close[0]}?" if close else ""
        raise RuntimeFailure(
            f"no function is registered as {name}",
            hint=f'register it first: @tvmlab.register_function("{name}"){did_you_mean}',
        )
    return found
