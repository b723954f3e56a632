"""Kernels of a compiled graph, by symbol: objects in memory, or a shared library on disk."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Protocol

from tvmlab.support import RuntimeFailure

from .engine import LoadedCode, load_object
from .failure import fault_symbol


class KernelLibrary(Protocol):
    """Where kernels are found."""

    def address(self, kernel: str) -> int:
        """The address of a kernel."""
        ...

    def fault(self, kernel: str) -> int | None:
        """The address of a kernel's record of failures, if it has one."""
        ...


class ObjectLibrary:
    """Kernels as relocatable objects, loaded through LLVM when they are first asked for.

    Attributes
    ----------
    objects
        For each symbol the object that defines it.
    """

    def __init__(self, objects: Mapping[str, bytes]) -> None:
        self.objects = dict(objects)
        self._loaded: dict[str, LoadedCode] = {}

    def address(self, kernel: str) -> int:
        return self._code(kernel)[kernel]

    def fault(self, kernel: str) -> int | None:
        return self._code(kernel).addresses.get(fault_symbol(kernel))

    def _code(self, kernel: str) -> LoadedCode:
        if kernel not in self._loaded:
            data = self.objects.get(kernel)
            if data is None:
                raise RuntimeFailure(f"the library has no kernel {kernel}",
                                     hint="graph and library must come from one build")  # fmt: skip
            fault = fault_symbol(kernel)
            symbols = [kernel, *([fault] if fault.encode() in data else [])]
            self._loaded[kernel] = load_object(data, symbols)
        return self._loaded[kernel]

    def __repr__(self) -> str:
        size = sum(len(o) for o in self.objects.values())
        return f"<ObjectLibrary of {len(self.objects)} kernel(s), {size} bytes>"


class SharedLibrary:
    """Kernels in a shared library on disk.

    Raises
    ------
    RuntimeFailure
        If there is no such library, or it is for another machine.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            # Local: kernels of different modules may have the same symbols.
            self._library = ctypes.CDLL(str(path.resolve()), mode=ctypes.RTLD_LOCAL)
        except OSError as error:
            raise RuntimeFailure(
                f"the library {path} cannot be loaded: {error}",
                hint="was it compiled for another machine?",
            ) from None

    def address(self, kernel: str) -> int:
        found = self.find(kernel)
        if found is None:
            raise RuntimeFailure(f"the library {self.path} has no kernel {kernel}",
                                 hint="graph and library must come from one build")  # fmt: skip
        return found

    def fault(self, kernel: str) -> int | None:
        return self.find(fault_symbol(kernel))

    def find(self, symbol: str) -> int | None:
        """The address of a symbol, or None."""
        try:
            return ctypes.addressof(ctypes.c_char.in_dll(self._library, symbol))
        except ValueError:
            return None

    def __repr__(self) -> str:
        return f"<SharedLibrary {self.path}>"


def addresses(library: KernelLibrary, kernels: Sequence[str]) -> list[int]:
    """The addresses of kernels, which loads them."""
    return [library.address(kernel) for kernel in kernels]
