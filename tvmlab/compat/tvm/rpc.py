"""Names of the remote procedure calls: there is no such device pool here."""

from __future__ import annotations

from .missing import missing

__getattr__ = missing(
    "tvm.rpc", otherwise="tvmlab.tune measures in worker processes of this machine"
)
