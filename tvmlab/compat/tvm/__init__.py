"""The part of TVM's Python interface that programs written in `te` use, on tvmlab.

What is not here raises an error that names it and, where there is one, the nearest way that works.
Numbers of different types are converted silently inside `te.compute`, as those programs expect.
"""

from __future__ import annotations

from typing import Any

from . import (
    _ffi,
    arith,
    container,
    contrib,
    driver,
    error,
    ir,
    nd,
    runtime,
    target,
    te,
    testing,
    tir,
    topi,
    transform,
)
from .device import cl, context, cpu, cuda, device, gpu, metal, opencl, rocm, vulkan
from .driver import build, lower
from .error import TVMError
from .finder import install as _install_finder
from .ir import IRModule
from .missing import missing
from .registry import get_global_func, register_func
from .runtime import convert
from .runtime.module import Module

_install_finder()
__version__ = "0.16.0"
ndarray = nd

__all__ = [
    "IRModule", "Module", "TVMError", "_ffi", "arith", "build", "cl", "container", "context",
    "contrib", "convert", "cpu", "cuda", "device", "driver", "error", "get_global_func", "gpu",
    "ir", "lower",
    "metal", "nd", "ndarray", "opencl", "register_func", "rocm", "runtime", "target", "te",
    "testing", "tir", "topi", "transform", "vulkan",
]  # fmt: skip

_missing = missing(
    "tvm",
    relay="import the model with tvmlab's graph compiler, or write the operators in te",
    autotvm="tvmlab.tune searches over tvmlab.Schedule with measured and predicted times",
    auto_scheduler="tvmlab.tune searches over tvmlab.Schedule with measured and predicted times",
    rpc="tvmlab.tune measures in worker processes of this machine",
    script="write loop programs with tvmlab.kernel",
)


def __getattr__(name: str) -> Any:
    """Names of the tensor language stood here before version 0.6."""
    if not name.startswith("_") and (hasattr(te, name) or name in _EARLY_TIR):
        return getattr(tir if name in _EARLY_TIR else te, name)
    return _missing(name)


_EARLY_TIR = ("const", "call_extern", "call_packed", "decl_buffer", "ir_builder", "select")
