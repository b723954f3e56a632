"""Kernels for other processors in tests: run by qemu, or skipped where that is not installed."""

from __future__ import annotations

import pytest

from tvmlab.bench.emulator import MACHINES, Emulated, missing, run

__all__ = ["MACHINES", "Emulated", "require", "run"]


def require(machine: Emulated) -> None:
    """Skip the test if programs for this processor cannot be linked or run here."""
    reason = missing(machine)
    if reason:
        pytest.skip(reason)
