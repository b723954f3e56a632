"""Questions about programs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tvmlab.compat.tvm.missing import missing
from tvmlab.ir import structural_equal
from tvmlab.lower import device_uses

__getattr__ = missing("tvm.tir.analysis")


def verify_gpu_code(func: Any, constraints: Mapping[str, int]) -> bool:
    """Whether the kernels of a function ask for no more than some limits.

    The limits are those of threads in a group (in all, and along x, y and z) and of bytes of shared
    and local memory.
    """
    for use in device_uses(func.program):
        threads = {tag[-1]: extent for tag, extent in use.threads.items()}
        asked = {
            "max_threads_per_block": use.group_size,
            "max_shared_memory_per_block": use.shared_bytes,
            "max_local_memory_per_block": use.local_bytes,
            **{f"max_thread_{axis}": threads.get(axis, 1) for axis in "xyz"},
        }
        if any(asked[name] > int(limit) for name, limit in constraints.items() if name in asked):
            return False
    return True


def expr_deep_equal(lhs: Any, rhs: Any) -> bool:
    """Whether two expressions are the same over the same variables."""
    return bool(structural_equal(lhs, rhs))
