"""A report on the devices of this machine, as plain data for the command line and the views."""

from __future__ import annotations

from typing import Any

from tvmlab.support import available_cpus

from .caches import host_caches
from .llvm_host import host_cpu
from .peaks import read_peaks
from .target import Target

# What a kernel author asks about, by LLVM's feature names.
_INTERESTING: dict[str, tuple[str, ...]] = {
    "AVX2": ("avx2",),
    "FMA": ("fma",),
    "F16C": ("f16c",),
    "AVX512": ("avx512f", "avx512bw", "avx512dq", "avx512vl"),
    "AVX512_VNNI": ("avx512vnni",),
    "AVX_VNNI": ("avxvnni",),
    "AVX512_BF16": ("avx512bf16",),
    "AVX512_FP16": ("avx512fp16",),
    "AMX_INT8": ("amx-tile", "amx-int8"),
    "AMX_BF16": ("amx-tile", "amx-bf16"),
    "NEON": ("neon",),
    "DOTPROD": ("dotprod",),
    "SVE": ("sve",),
}
_X86 = ("x86_64", "i686")
_ARM_ONLY = ("NEON", "DOTPROD", "SVE")


def devices() -> list[dict[str, Any]]:
    """One entry per device: what it is, what it can do, and if something is missing, what."""
    target, cpu, peaks = Target.host(), host_cpu(), read_peaks()
    on_x86 = target.arch in _X86
    features = {
        label: all(name in cpu.features for name in names)
        for label, names in _INTERESTING.items()
        if (label not in _ARM_ONLY) == on_x86
    }
    return [
        {
            "kind": "cpu",
            "triple": target.triple,
            "cpu": target.cpu,
            "cores": available_cpus(),
            "num_threads": target.num_threads,
            "vector_bits": target.vector_bits,
            "vector_registers": target.num_registers,
            "features": features,
            "caches": [
                {"level": c.level, "bytes": c.size, "line": c.line, "shared_by": c.shared_by}
                for c in host_caches()
            ],
            "llvm": cpu.llvm_version,
            "peaks": None if peaks is None else peaks.to_json(),
        }
    ]
