"""The short way into a kernel: NumPy arrays that fit exactly, checked by machine code.

A call costs about a tenth of a microsecond. Whatever does not fit at a glance (another kind of
object, a symbolic size, a mistake) is left to `bind_arguments`, which is thorough and explains.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable
from functools import cache, lru_cache
from math import prod
from struct import pack
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from .engine import keep_for_ever, load_ir
from .quick_ir import (
    BYTES_START,
    CLOSER_LOOK,
    DATA,
    DIMENSIONS,
    DTYPE,
    ENTRY,
    FLAGS,
    HEADER,
    MOST_PARAMETERS,
    NDIM,
    QUICK_IR,
)
from .signature import BufferParam, Signature

Enter: TypeAlias = Callable[..., int]
"""Runs a kernel on arguments and returns its code, or `CLOSER_LOOK` without having run it."""

_C_CONTIGUOUS, _ALIGNED, _WRITEABLE = 0x1, 0x100, 0x400
_METH_FASTCALL = 0x80
_API = ("PyLong_FromLong", "PyEval_SaveThread", "PyEval_RestoreThread")


class _MethodDef(ctypes.Structure):
    """CPython's `PyMethodDef`."""

    _fields_ = (
        ("name", ctypes.c_char_p),
        ("function", ctypes.c_void_p),
        ("flags", ctypes.c_int),
        ("doc", ctypes.c_char_p),
    )


def quick_entry(signature: Signature, kernel: int, parallel_for: int) -> Enter:
    """The short way to call the kernel at an address; always `CLOSER_LOOK` if there is none.

    There is none with scalars, with sizes known only at run time, for arrays whose elements lie
    apart, or where the layout of Python's objects is not the usual one.
    """
    buffers = [p for p in signature.params if isinstance(p, BufferParam)]
    known = all(isinstance(size, int) for p in buffers for size in p.shape)
    known = known and not any(p.strides for p in buffers)
    if not known or len(buffers) != len(signature.params) or len(buffers) > MOST_PARAMETERS:
        return _closer_look
    method = _method()
    if method is None:
        return _closer_look
    head = [_address(getattr(ctypes.pythonapi, name)) for name in _API]
    words = [*head, id(np.ndarray), kernel, parallel_for, len(buffers)]
    for param in buffers:
        words += _words(param)
    table = pack(f"{len(words)}Q", *words)
    return _new_function()(ctypes.addressof(method), table, None)


def _words(param: BufferParam) -> list[int]:
    """A parameter's part of the table."""
    sizes = [int(size) for size in param.shape]
    flags = _C_CONTIGUOUS | _ALIGNED | (_WRITEABLE if param.written else 0)
    alignment = param.alignment or param.dtype.itemsize
    size = prod(sizes) * param.dtype.itemsize
    dtype = _kept(param.dtype.numpy)
    return [len(sizes), id(dtype), flags, alignment - 1, size, int(param.written), *sizes]


@cache
def _kept(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """One object for equal types, alive for as long as the process, since tables name its place."""
    return dtype


@lru_cache(maxsize=1)
def _method() -> _MethodDef | None:
    """What Python must know of the function; None where it cannot be."""
    if not _layout_is_known():
        return None
    code = keep_for_ever(load_ir(QUICK_IR, [ENTRY]))
    return _MethodDef(b"kernel", code[ENTRY], _METH_FASTCALL, None)


@lru_cache(maxsize=1)
def _new_function() -> Any:
    make = ctypes.pythonapi.PyCFunction_NewEx
    make.restype = ctypes.py_object
    make.argtypes = (ctypes.c_void_p, ctypes.py_object, ctypes.c_void_p)
    return make


def _address(function: Any) -> int:
    return ctypes.cast(function, ctypes.c_void_p).value or 0


def _closer_look(*arguments: Any) -> int:
    """For kernels without a short way."""
    del arguments
    return CLOSER_LOOK


def address_of(array: NDArray[Any]) -> int:
    """The address of an array's first element."""
    return array.ctypes.data


@lru_cache(maxsize=1)
def _layout_is_known() -> bool:
    """Whether objects lie in memory as `quick_ir` says, seen on a sample."""
    usual = sys.implementation.name == "cpython" and object.__basicsize__ == HEADER
    if not usual or bytes.__basicsize__ != BYTES_START + 1:
        return False
    sample = np.zeros((3, 5), np.uint16)[1:]
    sample.flags.writeable = False
    at = id(sample) + HEADER

    def word(offset: int) -> int:
        return ctypes.c_uint64.from_address(at + offset).value

    sizes = (ctypes.c_int64 * 2).from_address(word(DIMENSIONS))
    flags = ctypes.c_int32.from_address(at + FLAGS).value
    return (
        ctypes.c_uint64.from_address(at - 8).value == id(np.ndarray)
        and word(DATA) == sample.ctypes.data
        and ctypes.c_int32.from_address(at + NDIM).value == 2
        and tuple(sizes) == sample.shape
        and word(DTYPE) == id(sample.dtype)
        and flags & (_C_CONTIGUOUS | _ALIGNED | _WRITEABLE) == _C_CONTIGUOUS | _ALIGNED
    )
