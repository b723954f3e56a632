"""`tvm.build` and `tvm.lower`."""

from .build_module import build, lower, schedule_to_module

__all__ = ["build", "lower", "schedule_to_module"]
