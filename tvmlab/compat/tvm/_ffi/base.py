"""The base of TVM's errors."""

from __future__ import annotations

from tvmlab.compat.tvm.error import TVMError

__all__ = ["TVMError"]
