"""The short way into a kernel: NumPy arrays that fit exactly, checked in about a microsecond.

For each signature one Python function is written and compiled, as `dataclasses` does, because loops
and tables would cost more than the checks themselves. Whatever does not fit at a glance (another
kind of object, a symbolic size, a mistake) is left to `bind_arguments`, which is thorough and
explains.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from struct import Struct
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from .signature import BufferParam, Signature

Quick: TypeAlias = Callable[..., bytes | None]
"""From arguments to the bytes of the slots, or None if they need a closer look."""

_HEADER = object.__basicsize__


def quick_check(signature: Signature) -> Quick | None:
    """A quick check for a signature; None if it has scalars or sizes known only at run time."""
    buffers = [p for p in signature.params if isinstance(p, BufferParam)]
    known = all(isinstance(size, int) for p in buffers for size in p.shape)
    if not known or len(buffers) != len(signature.params) or not _POINTER_IS_FIRST:
        return None
    names: dict[str, Any] = {"ndarray": np.ndarray, "pointer": ctypes.c_void_p.from_address}
    names["pack"] = Struct(f"{max(1, len(buffers))}Q").pack
    lines = [f"def quick({', '.join([f'a{n}' for n in range(len(buffers))] + ['*more'])}):"]
    for n, param in enumerate(buffers):
        names[f"dtype{n}"], names[f"shape{n}"] = param.dtype.numpy, param.shape
        lines += _checks(n, param)
    lines += _overlaps(buffers)
    addresses = [f"p{n}" for n in range(len(buffers))] or ["0"]
    lines += ["    if more: return None", f"    return pack({', '.join(addresses)})"]
    exec("\n".join(lines), names)
    return names["quick"]


def _checks(n: int, param: BufferParam) -> list[str]:
    """Lines that check one argument and read its address into `p`."""
    flags = f"f{n}.c_contiguous and f{n}.writeable" if param.written else f"f{n}.c_contiguous"
    alignment = param.alignment or param.dtype.itemsize
    return [
        f"    if type(a{n}) is not ndarray or a{n}.shape != shape{n}: return None",
        f"    if a{n}.dtype is not dtype{n} and a{n}.dtype != dtype{n}: return None",
        f"    f{n} = a{n}.flags",
        f"    if not ({flags}): return None",
        f"    p{n} = pointer(id(a{n}) + {_HEADER}).value",
        f"    if p{n} is None or p{n} % {alignment}: return None",
    ]


def _overlaps(buffers: list[BufferParam]) -> list[str]:
    """Lines that find an output in another argument's memory."""
    lines: list[str] = []
    for i, first in enumerate(buffers):
        for j in range(i):
            if first.written or buffers[j].written:
                before = f"p{i} < p{j} + {_byte_count(buffers[j])}"
                after = f"p{j} < p{i} + {_byte_count(first)}"
                lines.append(f"    if {before} and {after}: return None")
    return lines


def _byte_count(param: BufferParam) -> int:
    size = param.dtype.itemsize
    for extent in param.shape:
        size *= int(extent)
    return size


def address_of(array: NDArray[Any]) -> int:
    """The address of an array's first element, read the fast way if there is one."""
    if _POINTER_IS_FIRST:
        return ctypes.c_void_p.from_address(id(array) + _HEADER).value or 0
    return array.ctypes.data


def _pointer_is_first() -> bool:
    """Whether NumPy's array object begins with the data pointer, as its C API promises.

    Reading it there takes a tenth of the time that the public attribute needs.
    """
    sample = np.zeros(9, np.uint8)[3:]
    return ctypes.c_void_p.from_address(id(sample) + _HEADER).value == sample.ctypes.data


_POINTER_IS_FIRST = _pointer_is_first()
