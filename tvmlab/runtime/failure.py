"""What a kernel that did not finish has to say."""

from __future__ import annotations

import ctypes

from tvmlab.support import RuntimeFailure

from .packed import RAISED, take_exception

_OUTSIDE = 3
_FAILURES = {1: "a local buffer could not be allocated: memory is short"}


class _Fault(ctypes.Structure):
    """What a kernel notes when an index is outside its buffer."""

    _fields_ = (
        ("text", ctypes.c_char_p),
        ("index", ctypes.c_int64),
        ("limit", ctypes.c_int64),
    )
    text: bytes
    index: int
    limit: int


def fault_symbol(kernel: str) -> str:
    """The symbol of the record of a failure, which kernels with checks of indices have."""
    return f"{kernel}.fault"


def kernel_failure(name: str, code: int, fault: int | None) -> BaseException:
    """What ended a kernel: an error of its own, or that of a Python function it called.

    Parameters
    ----------
    fault
        The address of its record of failures, if it has one.
    """
    if code == _OUTSIDE and fault is not None:
        record = _Fault.from_address(fault)
        if record.limit < 0:  # no index: a fact about sizes that does not hold
            return RuntimeFailure(
                f"kernel {name} failed: {record.text.decode()}",
                hint="call it with sizes that fit, or schedule it without assuming that",
            )
        return RuntimeFailure(
            f"kernel {name} failed: {record.text.decode()} is {record.index}, "
            f"but the size there is {record.limit}",
            hint="check the sizes, scalars and indices that it was called with; outputs are "
            "incomplete",
        )
    error = take_exception() if code == RAISED else None
    if error is not None:
        return error
    what = _FAILURES.get(code, f"it returned the code {code}")
    return RuntimeFailure(f"kernel {name} failed: {what}")
