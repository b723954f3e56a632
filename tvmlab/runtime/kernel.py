"""Compiled kernels: callable on arrays, in place, without copies.

A call with the same arrays as the last one skips all checks but the cheap ones, so that a small
kernel in a loop costs a microsecond of Python.
"""

from __future__ import annotations

import ctypes
import weakref
from typing import Any

from numpy.typing import NDArray

from tvmlab.support import RuntimeFailure

from .arguments import BoundArguments, bind_arguments
from .engine import load_object
from .pool import Chunking, pool
from .signature import BufferParam, Signature
from .timing import Timing, measure_loop

_KERNEL_TYPE = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_void_p)
_REPEAT_TYPE = ctypes.CFUNCTYPE(
    ctypes.c_int32, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64
)
_FAILURES = {1: "a local buffer could not be allocated: memory is short"}


class Kernel:
    """Machine code with its signature.

    Parameters
    ----------
    object_bytes
        A relocatable object that defines the signature's symbol, with the kernel ABI:
        `i32 NAME(ptr args, ptr parallel_for)`.
    chunking
        How parallel loops deal out their iterations.
    """

    def __init__(
        self, object_bytes: bytes, signature: Signature, *, chunking: Chunking = "static"
    ) -> None:
        self.signature = signature
        self.object_bytes = object_bytes
        self._code = load_object(object_bytes, [signature.name])
        self._pool = pool()
        self._parallel_for = self._pool.parallel_for(chunking)
        self._call = _KERNEL_TYPE(self._code[signature.name])
        self._all_arrays = all(isinstance(p, BufferParam) for p in signature.params)
        self._last: _LastCall | None = None

    def __call__(self, *arguments: Any) -> None:
        """Run the kernel on arrays (NumPy, or anything with DLPack) and numbers."""
        last = self._last
        if last is not None and last.same(arguments):
            code = self._call(last.address, self._parallel_for)
        else:
            bound = self._bind(arguments)
            code = self._call(ctypes.addressof(bound.slots), self._parallel_for)
        if code:
            raise _failure(self.signature.name, code)

    def time(
        self,
        *arguments: Any,
        repeats: int = 10,
        min_repeat_ms: float = 1.0,
        flush_cache: bool = False,
        flops: float | None = None,
        bytes_moved: float | None = None,
    ) -> Timing:
        """Measure the kernel on these arguments; the loop around it runs in machine code."""
        bound = self._bind(arguments)
        repeat = _REPEAT_TYPE(self._pool.repeat)
        kernel, slots = self._code[self.signature.name], ctypes.addressof(bound.slots)

        def run(count: int) -> None:
            code = repeat(kernel, slots, self._parallel_for, count)
            if code:
                raise _failure(self.signature.name, code)

        return measure_loop(
            run,
            repeats=repeats,
            min_repeat_ms=min_repeat_ms,
            flush_cache=flush_cache,
            flops=flops,
            bytes_moved=bytes_moved,
        )

    def _bind(self, arguments: tuple[Any, ...]) -> BoundArguments:
        bound = bind_arguments(self.signature, arguments)
        given = len(arguments) == len(bound.arrays)
        if given and all(a is b for a, b in zip(arguments, bound.arrays, strict=True)):
            self._last = _LastCall(self.signature, bound)
        return bound

    def __repr__(self) -> str:
        return f"<Kernel {self.signature}>"


class _LastCall:
    """The arrays of a call that was checked, remembered without keeping them alive."""

    __slots__ = ("_outputs", "_refs", "_shapes", "address", "slots")

    def __init__(self, signature: Signature, bound: BoundArguments) -> None:
        self.slots = bound.slots
        self.address = ctypes.addressof(bound.slots)
        self._refs = [weakref.ref(array) for array in bound.arrays]
        self._shapes = [array.shape for array in bound.arrays]
        buffers = [p for p in signature.params if isinstance(p, BufferParam)]
        self._outputs = [n for n, p in enumerate(buffers) if p.written]

    def same(self, arguments: tuple[NDArray[Any], ...]) -> bool:
        """Whether these are the very same arrays, with the shape and the right to be written."""
        if len(arguments) != len(self._refs):
            return False
        for argument, ref, shape in zip(arguments, self._refs, self._shapes, strict=True):
            if ref() is not argument or argument.shape != shape:
                return False
        return all(arguments[n].flags.writeable for n in self._outputs)


def _failure(name: str, code: int) -> RuntimeFailure:
    what = _FAILURES.get(code, f"it returned the code {code}")
    return RuntimeFailure(f"kernel {name} failed: {what}")
