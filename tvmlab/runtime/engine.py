"""Machine code into memory, through LLVM's JIT linker.

One engine serves the process. Code stays loaded as long as its `LoadedCode` is referenced; the
thread pool's code stays for ever, because its workers run in it.
"""

from __future__ import annotations

import ctypes
import itertools
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, TypeVar

from tvmlab.support import InternalError, RuntimeFailure, llvm_binding

from .packed import provided_symbols
from .scratch_ir import GIVE, TAKE, scratch_ir

_T = TypeVar("_T")
_lock = threading.Lock()
_names = itertools.count()


@dataclass(frozen=True, slots=True)
class LoadedCode:
    """Addresses of loaded symbols; the code is unloaded when this object is gone."""

    addresses: dict[str, int]
    _tracker: Any = field(repr=False)

    def __getitem__(self, symbol: str) -> int:
        return self.addresses[symbol]


def load_object(data: bytes, symbols: Sequence[str]) -> LoadedCode:
    """Load a relocatable object for this machine and find symbols in it.

    Raises
    ------
    RuntimeFailure
        If the object is not for this machine, or a symbol is neither in it nor in the process.
    """
    builder = llvm_binding().JITLibraryBuilder()
    builder.add_object_img(data)
    for name, address in _kept_memory().items():
        builder.import_symbol(name, address)
    return _link(builder, symbols)


def load_ir(text: str, symbols: Sequence[str]) -> LoadedCode:
    """Compile IR text for this machine and load it."""
    builder = llvm_binding().JITLibraryBuilder()
    builder.add_ir(text)
    return _link(builder, symbols)


@lru_cache(maxsize=1)
def _kept_memory() -> dict[str, int]:
    """What kernels call in place of the C library's functions for large blocks of memory."""
    code = keep_for_ever(load_ir(scratch_ir(), (TAKE, GIVE)))
    return {"aligned_alloc": code[TAKE], "free": code[GIVE]}


def keep_for_ever(code: LoadedCode) -> LoadedCode:
    """Never unload the code, not even when the interpreter shuts down."""
    return _immortal(code)


def _immortal(thing: _T) -> _T:
    """One reference more than anybody knows of, so that no finaliser ever runs."""
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(thing))
    return thing


def _link(builder: Any, symbols: Sequence[str]) -> LoadedCode:
    engine = _engine()
    builder.add_current_process()
    for name, address in provided_symbols().items():
        builder.import_symbol(name, address)
    for symbol in symbols:
        builder.export_symbol(symbol)
    with _lock:
        try:
            tracker = builder.link(engine, f"tvmlab.{next(_names)}")
        except RuntimeError as error:
            raise RuntimeFailure(
                f"the machine code could not be loaded: {str(error).strip()}",
                hint="was it compiled for another machine?",
            ) from error
    return LoadedCode({symbol: _found(tracker, symbol) for symbol in symbols}, tracker)


def _found(tracker: Any, symbol: str) -> int:
    address = int(tracker[symbol])
    if address == 0:
        raise InternalError(f"symbol {symbol} has no address")
    return address


@lru_cache(maxsize=1)
def _engine() -> Any:
    """The process-wide engine. It is never disposed of: kernels may run until the very end."""
    llvm = llvm_binding()
    # Code that was written by hand may use instructions that only this very processor has.
    machine = llvm.Target.from_default_triple().create_target_machine(
        cpu=llvm.get_host_cpu_name(),
        features=llvm.get_host_cpu_features().flatten(),
        opt=2,
        reloc="pic",
        jit=True,
    )
    engine = llvm.create_lljit_compiler(machine, suppress_errors=True)
    return _immortal(engine)
