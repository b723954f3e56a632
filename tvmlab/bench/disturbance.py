"""The machine that was measured on, and what may have disturbed the measurement."""

from __future__ import annotations

import os
import platform
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from tvmlab.support import available_cpus
from tvmlab.target import machine_description, machine_id
from tvmlab.tune import Usage

from .peaks import clock_ghz

PACKAGES = ("numpy", "torch", "onnxruntime", "openvino", "numba", "llvmlite")


@dataclass(frozen=True, slots=True)
class Circumstances:
    """What a table must be read with.

    Attributes
    ----------
    clocks
        GHz before and after, as a chain of operations shows them: the system's own figures are
        missing in most virtual machines.
    loads
        The load average of a minute, before and after.
    disturbances
        What took the CPU away meanwhile, in words.
    """

    machine: str
    cpu: str
    cpus: int
    system: str
    versions: dict[str, str]
    clocks: tuple[float, float]
    loads: tuple[float, float]
    disturbances: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        return {
            "machine": self.machine,
            "cpu": self.cpu,
            "cpus": self.cpus,
            "system": self.system,
            "versions": self.versions,
            "clock_ghz": list(self.clocks),
            "load": list(self.loads),
            "disturbances": list(self.disturbances),
        }

    def lines(self) -> list[str]:
        """For people, to stand below a table."""
        packages = ", ".join(f"{name} {number}" for name, number in self.versions.items())
        clock = " to ".join(f"{ghz:.2f}" for ghz in self.clocks)
        load = " to ".join(f"{value:.1f}" for value in self.loads)
        said = list(self.disturbances) or ["nothing else took more than a tenth of the CPUs"]
        return [
            f"{self.cpu}, {self.cpus} CPUs, {self.system}",
            packages,
            f"clock {clock} GHz, load {load}",
            *said,
        ]


class Watch:
    """Looks at the machine before and after a benchmark.

    What the benchmark's own processes use is theirs: `own` sums it up.
    """

    def __init__(self) -> None:
        self._usage = _with_children()
        self._clock = clock_ghz()
        self._load = _load()

    def stop(self) -> Circumstances:
        """What was seen since the start."""
        now = _with_children()
        description = machine_description()
        return Circumstances(
            machine_id(),
            str(description["cpu"]),
            available_cpus(),
            f"{platform.system()} {platform.release()}, Python {platform.python_version()}",
            _versions(PACKAGES),
            (self._clock, clock_ghz()),
            (self._load, _load()),
            now.disturbances(self._usage),
        )


def _with_children() -> Usage:
    """CPU time with that of ended child processes, which is where rows are measured."""
    usage, times = Usage.now(), os.times()
    own = usage.own + times.children_user + times.children_system
    return Usage(usage.wall, own, usage.busy, usage.stolen)


def _load() -> float:
    return os.getloadavg()[0] if hasattr(os, "getloadavg") else float("nan")


def _versions(packages: Sequence[str]) -> dict[str, str]:
    found: dict[str, str] = {}
    for name in packages:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found
