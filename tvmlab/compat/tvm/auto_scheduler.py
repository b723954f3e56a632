"""Names of the auto-scheduler: each says what to use here."""

from __future__ import annotations

from .missing import missing

__getattr__ = missing(
    "tvm.auto_scheduler",
    otherwise="tvmlab.tune searches over tvmlab.Schedule with measured and predicted times",
    register_workload="a workload is a function that returns tensors; pass it to tvmlab.tune",
)
