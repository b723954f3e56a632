"""Which machine a number was measured on, as a short stable id and a description.

Measurements compare only within one machine; the id is what ties them together.

>>> machine_id()
'EPYC-2cpu-1f3a'
"""

from __future__ import annotations

import hashlib
import json
import platform
from functools import lru_cache
from pathlib import Path
from typing import Any

from tvmlab.support import available_cpus

from .caches import host_caches
from .llvm_host import host_cpu
from .registers import vector_registers


@lru_cache(maxsize=1)
def machine_description() -> dict[str, Any]:
    """What decides how fast code runs here: CPU, features, caches, CPUs this process may use."""
    host = host_cpu()
    bits, _ = vector_registers(host.triple.split("-", 1)[0], host.features)
    return {
        "cpu": _cpu_model(),
        "llvm_cpu": host.name,
        "triple": host.triple,
        "features": sorted(host.features),
        "vector_bits": bits,
        "cpus": available_cpus(),
        "caches": [
            {"level": c.level, "bytes": c.size, "line": c.line, "shared_by": c.shared_by}
            for c in host_caches()
        ],
    }


@lru_cache(maxsize=1)
def machine_id() -> str:
    """A name for this machine that stays the same as long as its description does."""
    description = machine_description()
    digest = hashlib.sha256(json.dumps(description, sort_keys=True).encode()).hexdigest()
    words = [w for w in description["cpu"].split() if w.isalnum() and w.lower() not in _NOISE]
    name = "-".join(words[-2:]) or description["triple"].split("-")[0]
    return f"{name}-{description['cpus']}cpu-{digest[:4]}"


_NOISE = {"amd", "intel", "cpu", "processor", "core"}


def _cpu_model() -> str:
    """The name that the system gives the CPU. Virtual machines may get it wrong."""
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()
