"""What is computed and on what machine, in a few words for the head of a view."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tvmlab.ir import Program, to_text
from tvmlab.schedule import index_of
from tvmlab.target import Target, devices

from .wording import listing, plural, size


@dataclass(frozen=True, slots=True)
class WorkloadReport:
    """The name of the kernel, and its sizes and types in one line."""

    name: str
    summary: str


@dataclass(frozen=True, slots=True)
class MachineReport:
    """A machine by its short name and in one line."""

    name: str
    summary: str


@dataclass(frozen=True, slots=True)
class DeviceReport:
    """One device of this machine: lines of (what, value), and what it lacks."""

    kind: str
    summary: str
    facts: tuple[tuple[str, str], ...]
    data: dict[str, Any]


def workload_report(program: Program) -> WorkloadReport:
    """The loop extents of the unscheduled program's largest nest, and the element types."""
    index = index_of(program)
    nests = [[loop.extent for loop in index.loops_around(b)] for b in index.blocks.values()]
    deepest = max(nests, key=len) if nests else []
    sizes = " × ".join(to_text(extent) for extent in deepest)
    types = list(dict.fromkeys(str(b.dtype) for b in program.buffers))
    return WorkloadReport(program.name, " · ".join(p for p in (sizes, ", ".join(types)) if p))


def machine_report(target: Target) -> MachineReport:
    """Such as `cpu · 2 cores · AVX-512`."""
    parts = [target.kind, plural(target.num_threads, "core"), vector_words(target)]
    return MachineReport(target.kind, " · ".join(p for p in parts if p))


def vector_words(target: Target) -> str:
    """The vector instructions by the name that people know."""
    if target.arch in ("x86_64", "i686"):
        return {512: "AVX-512", 256: "AVX2" if target.has("avx2") else "AVX", 128: "SSE"}.get(
            target.vector_bits, ""
        )
    if target.vector_bits:
        return f"{target.vector_bits}-bit vectors"
    return "no vectors"


def limit_facts(peaks: dict[str, Any] | None) -> list[tuple[str, str]]:
    """The measured limits of a machine as lines of (what, value)."""
    if peaks is None:
        return [("limits", "not measured yet: tvmlab devices --measure")]
    facts = [("clock", f"{peaks['clock']:.2f} GHz while one thread worked")]
    for dtype, rates in peaks["rates"].items():
        words = [f"{rate:.0f} on {plural(int(n), 'thread')}" for n, rate in rates.items()]
        facts.append((f"{dtype} products", f"{', '.join(words)}, in billions a second"))
    for entry in peaks["bandwidths"]:
        name = f"{entry['level']}, {plural(entry['threads'], 'thread')}"
        rates = (f"{kind} {entry[kind]:.0f}" for kind in ("read", "write", "copy"))
        facts.append((name, f"{', '.join(rates)} GB/s"))
    return facts


def device_reports() -> list[DeviceReport]:
    """The devices of this machine."""
    return [_device(data) for data in devices()]


def _device(data: dict[str, Any]) -> DeviceReport:
    there = [name for name, on in data["features"].items() if on]
    lacking = [name for name, on in data["features"].items() if not on]
    caches = ", ".join(f"L{c['level']} {size(c['bytes'])}" for c in data["caches"])
    facts = (
        ("architecture", data["triple"]),
        ("LLVM calls it", data["cpu"]),
        ("cores", str(data["cores"])),
        ("threads used", str(data["num_threads"])),
        ("vectors", f"{data['vector_registers']} registers of {data['vector_bits']} bits"),
        ("has", ", ".join(there) or "none of the extensions that tvmlab uses"),
        ("lacks", ", ".join(lacking) or "nothing that tvmlab uses"),
        ("caches", caches or "the system does not tell"),
        ("LLVM", data["llvm"]),
        *limit_facts(data["peaks"]),
    )
    summary = (
        f"{data['kind']}: {plural(data['cores'], 'core')}, {listing(there) or 'no extensions'}"
    )
    return DeviceReport(data["kind"], summary, facts, data)
