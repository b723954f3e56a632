"""What TVM's own documentation calls while it is built."""

from __future__ import annotations

from typing import Any

from tvmlab.compat.tvm.missing import missing

from .marks import requires_cuda, requires_gpu, requires_llvm, requires_package

__all__ = [
    "install_request_hook", "requires_cuda", "requires_gpu", "requires_llvm", "requires_package",
]  # fmt: skip

__getattr__ = missing("tvm.testing.utils")


def install_request_hook(depth: int = 0) -> None:
    """Nothing: no page is fetched."""
    del depth


def identity_after(x: Any, sleep: float = 0) -> Any:
    """The value itself."""
    del sleep
    return x
