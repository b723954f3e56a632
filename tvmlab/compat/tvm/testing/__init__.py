"""Comparing results, and marks of tests."""

from __future__ import annotations

from typing import Any

import numpy as np

from tvmlab.arith import Bounds, simplify
from tvmlab.compat.tvm.device import Device, cpu
from tvmlab.compat.tvm.missing import missing
from tvmlab.ir import as_expr, structural_equal

from . import utils
from .marks import (
    fixture,
    main,
    parameter,
    parameters,
    parametrize_targets,
    requires_cuda,
    requires_gpu,
    requires_llvm,
    requires_metal,
    requires_opencl,
    requires_package,
    requires_rocm,
    requires_tensorcore,
    requires_vulkan,
    slow,
    uses_gpu,
)  # fmt: skip

__all__ = [
    "assert_allclose", "assert_prim_expr_equal", "device_enabled", "enabled_targets", "fixture",
    "main", "parameter", "parameters", "parametrize_targets", "requires_cuda", "requires_gpu",
    "requires_llvm", "requires_metal", "requires_opencl", "requires_package", "requires_rocm",
    "requires_tensorcore", "requires_vulkan", "slow", "uses_gpu", "utils",
]  # fmt: skip

__getattr__ = missing("tvm.testing")


def assert_allclose(
    actual: Any, desired: Any, rtol: float = 1e-7, atol: float = 1e-7, verbose: bool = True
) -> None:
    """Raise if two arrays differ by more than the tolerances."""
    del verbose
    left, right = np.asanyarray(actual), np.asanyarray(desired)
    np.testing.assert_allclose(left.shape, right.shape)
    np.testing.assert_allclose(left, right, rtol=rtol, atol=atol)


def assert_prim_expr_equal(lhs: Any, rhs: Any) -> None:
    """Raise unless the difference of two expressions is found to be zero."""
    left, right = as_expr(lhs), as_expr(rhs)
    gap = simplify(left - right.astype(left.dtype), Bounds.of({}))
    if not structural_equal(gap, as_expr(0, left.dtype)):
        raise AssertionError(f"{left} and {right} were not found to be equal")


def device_enabled(target: Any) -> bool:
    """Whether code for a target runs on this machine."""
    from tvmlab.compat.tvm.target import Target

    return Target.of(target).is_cpu


def enabled_targets() -> list[tuple[str, Device]]:
    """The targets whose code runs on this machine."""
    return [("llvm", cpu(0))]
