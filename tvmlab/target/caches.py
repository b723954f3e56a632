"""Data cache sizes of the host, from the operating system."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

_SYSFS = Path("/sys/devices/system/cpu/cpu0/cache")
_UNITS = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}


@dataclass(frozen=True, slots=True)
class CacheLevel:
    """One data or unified cache: level (1 is nearest), size in bytes, line size, sharers."""

    level: int
    size: int
    line: int
    shared_by: int


@lru_cache(maxsize=1)
def host_caches() -> tuple[CacheLevel, ...]:
    """The caches that hold data, nearest first; empty if the system does not tell."""
    return _from_sysfs(_SYSFS) or _from_sysconf()


def _from_sysfs(root: Path) -> tuple[CacheLevel, ...]:
    levels: list[CacheLevel] = []
    for index in sorted(root.glob("index*")):
        try:
            if _read(index, "type") == "Instruction":
                continue
            levels.append(
                CacheLevel(
                    int(_read(index, "level")),
                    _bytes(_read(index, "size")),
                    int(_read(index, "coherency_line_size")),
                    _count_cpus(_read(index, "shared_cpu_list")),
                )
            )
        except (OSError, ValueError):
            continue
    return tuple(sorted(levels, key=lambda c: c.level))


def _from_sysconf() -> tuple[CacheLevel, ...]:
    names = os.sysconf_names if hasattr(os, "sysconf_names") else {}
    found: list[CacheLevel] = []
    for level, key in ((1, "LEVEL1_DCACHE"), (2, "LEVEL2_CACHE"), (3, "LEVEL3_CACHE")):
        if f"SC_{key}_SIZE" in names:
            size = os.sysconf(f"SC_{key}_SIZE")
            line = os.sysconf(f"SC_{key}_LINESIZE")
            if size > 0:
                found.append(CacheLevel(level, size, line if line > 0 else 64, 1))
    return tuple(found)


def _read(folder: Path, name: str) -> str:
    return (folder / name).read_text().strip()


def _bytes(text: str) -> int:
    unit = _UNITS.get(text[-1:], 0)
    return int(text[:-1]) * unit if unit else int(text)


def _count_cpus(text: str) -> int:
    """The number of CPUs in a list such as `0-3,8`."""
    total = 0
    for part in text.split(","):
        first, _, last = part.partition("-")
        total += int(last or first) - int(first) + 1
    return total
