"""Descriptions of the machines that code is generated for."""

from .caches import CacheLevel, host_caches
from .devices import devices
from .llvm_host import HostCpu, host_cpu
from .target import Target, TargetLike

__all__ = [
    "CacheLevel",
    "HostCpu",
    "Target",
    "TargetLike",
    "devices",
    "host_caches",
    "host_cpu",
]
