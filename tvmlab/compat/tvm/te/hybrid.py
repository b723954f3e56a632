"""Names of the hybrid script: each says what to use here."""

from __future__ import annotations

from tvmlab.compat.tvm.missing import missing

_KERNEL = "write the loops as a Python function under tvmlab.kernel"

__getattr__ = missing(
    "tvm.te.hybrid",
    otherwise=_KERNEL,
    script=_KERNEL,
    build="tvmlab.build takes what tvmlab.kernel makes",
)
