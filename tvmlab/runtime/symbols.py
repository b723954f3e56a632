"""C functions that programs call by name: `call("symbol:NAME", ...)`.

A name is looked for in the process and in the libraries loaded by `load_library`. A part of a
buffer is handed over as a pointer to its first element, a scalar by value.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

from tvmlab.support import DType, RuntimeFailure

C_TYPES: dict[str, Any] = {
    "bool": ctypes.c_bool, "float32": ctypes.c_float, "float64": ctypes.c_double,
    "int8": ctypes.c_int8, "int16": ctypes.c_int16, "int32": ctypes.c_int32,
    "int64": ctypes.c_int64, "uint8": ctypes.c_uint8, "uint16": ctypes.c_uint16,
    "uint32": ctypes.c_uint32, "uint64": ctypes.c_uint64,
}  # fmt: skip
"""The types of which C takes values."""


def load_library(path: str | Path) -> ctypes.CDLL:
    """Load a shared library, whose functions programs may call from then on.

    Raises
    ------
    RuntimeFailure
        If there is no such library, or it is for another machine.
    """
    try:
        return _library(str(path))
    except OSError as error:
        raise RuntimeFailure(f"the library {path} cannot be loaded: {error}") from None


@cache
def _library(path: str) -> ctypes.CDLL:
    # Global, so that code linked later finds its symbols; kept, so that it is never unloaded.
    return ctypes.CDLL(path, mode=ctypes.RTLD_GLOBAL)


def find_symbol(name: str) -> int | None:
    """The address of a function in the process, or None."""
    try:
        function = getattr(_library_of_process(), name)
    except AttributeError:
        return None
    return ctypes.cast(function, ctypes.c_void_p).value


@lru_cache(maxsize=1)
def _library_of_process() -> ctypes.CDLL:
    return ctypes.CDLL(None)


def call_symbol(
    name: str, values: Sequence[Any], types: Sequence[DType | None], address: int | None = None
) -> None:
    """Call a C function; a value without a type is a pointer.

    Raises
    ------
    RuntimeFailure
        If there is no such function, or it cannot be given a value.
    """
    _function(name, types, None, address)(*values)


def value_of_symbol(
    name: str, types: Sequence[DType], result: DType, address: int | None = None
) -> Callable[..., Any]:
    """A C function of numbers that gives a number.

    Raises
    ------
    RuntimeFailure
        If there is no such function, or it takes or gives no such value.
    """
    return _function(name, types, result, address)


def _function(
    name: str, types: Sequence[DType | None], result: DType | None, address: int | None
) -> Callable[..., Any]:
    where = address or find_symbol(name)
    if where is None:
        raise RuntimeFailure(
            f"the program calls the C function {name}, which is not in this process",
            hint="load the library that has it by tvmlab.load_library, or link its code in",
        )
    kinds = [ctypes.c_void_p if t is None else _c_type(name, t) for t in types]
    gives = None if result is None else _c_type(name, result)
    return ctypes.CFUNCTYPE(gives, *kinds)(where)


def _c_type(name: str, dtype: DType) -> Any:
    found = C_TYPES.get(dtype.name)
    if found is None:
        raise RuntimeFailure(
            f"{name} is a C function, which takes no {dtype} by value",
            hint="convert the value to float32, or hand over a buffer that holds it",
        )
    return found
