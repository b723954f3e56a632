"""How machine code calls Python: one C entry, `tvmlab_call_packed`, for all functions.

Machine code hands over a text that describes the arguments and an array of 8-byte slots; see
`codegen/llvm/invoke`. An exception cannot pass through machine code: it is put aside, the kernel
ends with a code, and who called the kernel raises it.
"""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable
from functools import lru_cache
from math import prod
from typing import Any

import numpy as np

from tvmlab.support import DType

from .functions import packed_function

RAISED = 2
"""The code of a kernel that ended because a Python function raised."""

_raised: list[tuple[int, BaseException]] = []
_lock = threading.Lock()
Reader = Callable[[int], Any]


def take_exception() -> BaseException | None:
    """The exception that ended a kernel: this thread's, else the oldest of a worker thread.

    The others are forgotten: several iterations of a parallel loop may have raised.
    """
    own = threading.get_ident()
    with _lock:
        found = [error for thread, error in _raised if thread == own]
        found += [error for _, error in _raised]
        _raised.clear()
    return found[0] if found else None


def _call(text: bytes, slots: int) -> int:
    # Whatever goes wrong must not be raised here: ctypes would print it and forget it.
    try:
        name, readers = _description(text)
        packed_function(name)(*[read(slots) for read in readers])
    except BaseException as error:
        with _lock:
            _raised.append((threading.get_ident(), error))
        return RAISED
    return 0


_ENTRY_TYPE = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_char_p, ctypes.c_void_p)
_entry = _ENTRY_TYPE(_call)


def provided_symbols() -> dict[str, int]:
    """What the runtime offers to machine code, by name."""
    return {"tvmlab_call_packed": ctypes.cast(_entry, ctypes.c_void_p).value or 0}


@lru_cache(maxsize=4096)
def _description(text: bytes) -> tuple[str, tuple[Reader, ...]]:
    """The name of a function, and for each argument how to read it from the slots."""
    name, *lines = text.decode().split("\n")
    readers: list[Reader] = []
    offset = 0
    for line in lines:
        how, _, type_name = line.partition(":")
        dtype = DType.of(type_name)
        if how == "s":
            readers.append(_scalar(dtype, offset))
            offset += 8
        else:
            rank = int(how[1:])
            readers.append(_array(dtype, rank, offset, writeable=how[0] == "w"))
            offset += 8 * (1 + 2 * rank)
    return name, tuple(readers)


def _scalar(dtype: DType, offset: int) -> Reader:
    def read(slots: int) -> Any:
        raw = ctypes.string_at(slots + offset, dtype.itemsize)
        value = np.frombuffer(raw, dtype.numpy)[0]
        return value if dtype.is_float else value.item()

    return read


def _array(dtype: DType, rank: int, offset: int, *, writeable: bool) -> Reader:
    kind = dtype.numpy
    words = ctypes.c_int64 * (1 + 2 * rank)

    def read(slots: int) -> Any:
        address, *numbers = words.from_address(slots + offset)
        shape, strides = tuple(numbers[:rank]), numbers[rank:]
        if prod(shape) == 0:
            return np.empty(shape, kind)
        last = sum((size - 1) * step for size, step in zip(shape, strides, strict=True))
        memory: Any = (ctypes.c_char * ((last + 1) * kind.itemsize)).from_address(address)
        steps = tuple(step * kind.itemsize for step in strides)
        array: Any = np.ndarray(shape, kind, memory, 0, steps)
        array.flags.writeable = writeable
        return array

    return read
