"""Names of Relay: graphs of operators are another part of tvmlab."""

from __future__ import annotations

from .missing import missing

__getattr__ = missing(
    "tvm.relay",
    otherwise="import the model with tvmlab's graph compiler, or write the operators in te",
)
