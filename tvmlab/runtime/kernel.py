"""Compiled kernels: callable on arrays, in place, without copies.

Arguments are checked on every call: NumPy arrays that fit in a tenth of a microsecond, everything
else more slowly and with explanations.
"""

from __future__ import annotations

import ctypes
from typing import Any

from .arguments import bind_arguments
from .engine import LoadedCode, load_object
from .failure import fault_symbol, kernel_failure
from .library import SharedLibrary
from .pool import Chunking, pool
from .quick import quick_entry
from .quick_ir import CLOSER_LOOK
from .signature import Signature
from .timing import Timing, measure_loop

# The slots are handed over as bytes, of which ctypes passes the address.
_KERNEL_TYPE = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_char_p, ctypes.c_void_p)
_REPEAT_TYPE = ctypes.CFUNCTYPE(
    ctypes.c_int32, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64
)


class Kernel:
    """Machine code with its signature.

    Parameters
    ----------
    object_bytes
        A relocatable object that defines the signature's symbol, with the kernel ABI:
        `i32 NAME(ptr args, ptr parallel_for)`.
    chunking
        How parallel loops deal out their iterations.
    code
        The object, if it is in memory already.

    Attributes
    ----------
    enter
        The short way in: runs the kernel and returns its code, which `finish` takes if not 0.
    """

    def __init__(
        self,
        object_bytes: bytes,
        signature: Signature,
        *,
        chunking: Chunking = "static",
        code: LoadedCode | None = None,
    ) -> None:
        self.signature = signature
        self.object_bytes = object_bytes
        # A kernel with checks of indices has a symbol more: the record of a failure.
        fault = fault_symbol(signature.name)
        checked = fault.encode() in object_bytes
        symbols = [signature.name, *([fault] if checked else [])]
        self._code = load_object(object_bytes, symbols) if code is None else code
        self._fault = self._code.addresses.get(fault)
        self._pool = pool()
        self._parallel_for = self._pool.parallel_for(chunking)
        self._call = _KERNEL_TYPE(self._code[signature.name])
        self.enter = quick_entry(signature, self._code[signature.name], self._parallel_for)

    @staticmethod
    def of_library(library: SharedLibrary, signature: Signature) -> Kernel:
        """A kernel of a shared library."""
        found = {signature.name: library.address(signature.name)}
        fault = library.fault(signature.name)
        if fault is not None:
            found[fault_symbol(signature.name)] = fault
        return Kernel(b"", signature, code=LoadedCode(found, library))

    def __call__(self, *arguments: Any) -> None:
        """Run the kernel on arrays (NumPy, or anything with DLPack) and numbers."""
        code = self.enter(*arguments)
        if code:
            self.finish(code, arguments)

    def finish(self, code: int, arguments: tuple[Any, ...]) -> None:
        """What is left to do after `enter` returned a code: look closer and run, or raise."""
        if code == CLOSER_LOOK:
            bound = bind_arguments(self.signature, arguments)  # keeps what it converted alive
            code = self._call(bytes(bound.slots), self._parallel_for)
        if code:
            raise self._failure(code)

    def _failure(self, code: int) -> BaseException:
        return kernel_failure(self.signature.name, code, self._fault)

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
        bound = bind_arguments(self.signature, arguments)
        repeat = _REPEAT_TYPE(self._pool.repeat)
        kernel, slots = self._code[self.signature.name], ctypes.addressof(bound.slots)

        def run(count: int) -> None:
            code = repeat(kernel, slots, self._parallel_for, count)
            if code:
                raise self._failure(code)

        return measure_loop(
            run,
            repeats=repeats,
            min_repeat_ms=min_repeat_ms,
            flush_cache=flush_cache,
            flops=flops,
            bytes_moved=bytes_moved,
        )

    def __repr__(self) -> str:
        return f"<Kernel {self.signature}>"
