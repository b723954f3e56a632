"""Names of TVM's errors; every error of tvmlab is a `TVMError`."""

from __future__ import annotations

from tvmlab.support import InternalError, TvmlabError, UserError

from .missing import MissingError, missing

TVMError = TvmlabError
OpError = UserError
OpNotImplemented = MissingError
DiagnosticError = UserError

__all__ = ["DiagnosticError", "InternalError", "OpError", "OpNotImplemented", "TVMError"]

__getattr__ = missing("tvm.error")
