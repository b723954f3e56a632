"""Functions by name, shared between Python and programs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tvmlab.runtime import find_function, register_function
from tvmlab.support import UserError

from .nd import numpyasarray


class PackedFunc:
    """A registered function; programs hand it arrays, as `tvm.nd.NDArray`."""

    def __init__(self, name: str, function: Callable[..., Any]) -> None:
        self.name = name
        self.function = function

    def __call__(self, *args: Any) -> Any:
        return self.function(*args)

    def __repr__(self) -> str:
        return f"<PackedFunc {self.name}>"


_wrappers: dict[str, PackedFunc] = {}


def register_func(
    func_name: str | Callable[..., Any], f: Callable[..., Any] | None = None, override: bool = False
) -> Any:
    """Register a function under a name; also a decorator, with or without a name."""
    if callable(func_name):
        register_func(func_name.__name__, func_name, override)
        return func_name
    if f is None:
        return lambda function: register_func(func_name, function, override) or function  # pyright: ignore

    function = f

    def over_arrays(*args: Any) -> Any:
        return function(*(numpyasarray(a) if hasattr(a, "shape") else a for a in args))

    register_function(func_name, override=override)(over_arrays)
    _wrappers[func_name] = PackedFunc(func_name, function)
    return function


def get_global_func(name: str, allow_missing: bool = False) -> PackedFunc | None:
    """The function of a name; None if it may be missing and is."""
    if name in _wrappers:
        return _wrappers[name]
    found = find_function(name)
    if found is not None:
        return PackedFunc(name, found)
    if allow_missing:
        return None
    raise UserError(
        f"no function is registered as {name!r}", hint="register it with tvm.register_func"
    )


def remove_global_func(name: str) -> None:
    """Forget the name; programs that were built with it keep what they have."""
    _wrappers.pop(name, None)
