"""Helpers around compiling, saving and drawing."""

from __future__ import annotations

from tvmlab.compat.tvm.missing import missing

from . import cc, clang, tedd, utils

util = utils

__all__ = ["cc", "clang", "tedd", "util", "utils"]

__getattr__ = missing("tvm.contrib", cblas="use te.compute: the schedule makes the kernel")
