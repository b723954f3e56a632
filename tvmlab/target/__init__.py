"""Descriptions of the machines that code is generated for."""

from tvmlab.support import THREADS_VARIABLE, available_cpus, default_num_threads

from .caches import CacheLevel, host_caches
from .devices import devices
from .llvm_host import HostCpu, host_cpu
from .machine import machine_description, machine_id
from .peaks import Bandwidth, MachinePeaks, peaks_path, read_peaks
from .target import Target, TargetLike

__all__ = [
    "THREADS_VARIABLE",
    "Bandwidth",
    "CacheLevel",
    "HostCpu",
    "MachinePeaks",
    "Target",
    "TargetLike",
    "available_cpus",
    "default_num_threads",
    "devices",
    "host_caches",
    "host_cpu",
    "machine_description",
    "machine_id",
    "peaks_path",
    "read_peaks",
]
