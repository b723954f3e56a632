"""How many cycles an iteration of a loop of x86-64 assembly takes at least: ports and latencies.

Each instruction asks for slots of a few resources, of which a processor has so many a cycle; the
busiest one bounds the loop. So does the longest chain of values from one iteration to the next.
Both are estimates: the tables say what matters for arithmetic loops, not everything that is known.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from .instructions import Instruction

_REGISTER = re.compile(r"%([a-z0-9]+)")


@dataclass(frozen=True, slots=True)
class PortModel:
    """Slots a cycle of a processor, for vectors of `bits` bits; wider ones take more of them.

    Attributes
    ----------
    slots
        By resource: "multiply", "add", "vector" (any vector operation), "shuffle", "load", "store",
        and "decode" for everything.
    latency
        Cycles until the result of an operation can be used.
    """

    name: str
    bits: int
    slots: dict[str, float]
    latency: dict[str, int]


_LATENCY = {"fma": 4, "multiply": 4, "add": 3, "shuffle": 2, "divide": 12}

ZEN4 = PortModel(
    "Zen 4",
    256,
    {"multiply": 2, "add": 2, "shuffle": 2, "load": 2, "store": 1, "vector": 4, "decode": 6},
    {**_LATENCY, "multiply": 3},
)
INTEL_512 = PortModel(
    "Intel with AVX-512",
    512,
    {"multiply": 2, "add": 2, "shuffle": 1, "load": 2, "store": 1, "vector": 2, "decode": 6},
    {**_LATENCY, "add": 4},
)
GENERIC = PortModel(
    "any x86-64 with AVX2",
    256,
    {"multiply": 2, "add": 2, "shuffle": 1, "load": 2, "store": 1, "vector": 3, "decode": 4},
    {**_LATENCY, "add": 4},
)
_DIVIDE_SLOTS = 5
"""Slots of the multiplier that a division or root takes for each vector."""


def port_model(cpu: str) -> PortModel:
    """The model for a processor, by LLVM's name for it."""
    if cpu.startswith("znver"):
        return ZEN4
    known = ("skylake-avx512", "cascadelake", "icelake", "sapphirerapids", "graniterapids")
    return INTEL_512 if cpu.startswith(known) else GENERIC


def pressure_of(instructions: Sequence[Instruction], model: PortModel) -> dict[str, float]:
    """Cycles of an iteration that each resource asks for; those of "latency" come last."""
    asked: Counter[str] = Counter()
    for one in instructions:
        for resource, amount in _needs(one, model):
            asked[resource] += amount
    found = {r: asked[r] / slots for r, slots in model.slots.items() if r in asked}
    return {**found, "latency": _chain(instructions, model)}


def bound_of(pressure: Mapping[str, float]) -> tuple[float, str]:
    """Cycles of an iteration at least, and what bounds it: a resource, or "latency"."""
    # Of two that are equally busy the one that says more: it comes first in the model.
    busiest = max(pressure, key=lambda r: pressure[r])
    if pressure[busiest] == 0:
        return 0.0, "decode"
    return pressure[busiest], busiest


def _needs(one: Instruction, model: PortModel) -> list[tuple[str, int]]:
    """The slots that an instruction takes."""
    wide = max(1, one.bits // model.bits)
    needs = [("decode", 1)]
    if one.reads_memory:
        needs.append(("load", wide if one.is_vector else 1))
    if one.writes_memory:
        needs.append(("store", wide if one.is_vector else 1))
    if not one.is_vector or one.kind == "move":
        return needs
    needs.append(("vector", wide))
    if one.kind in ("fma", "multiply"):
        needs.append(("multiply", wide))
    elif one.kind == "divide":
        needs.append(("multiply", wide * _DIVIDE_SLOTS))
    elif one.kind in ("add", "shuffle"):
        needs.append((one.kind, wide))
    return needs


def _chain(instructions: Sequence[Instruction], model: PortModel) -> float:
    """Cycles by which values grow later from one iteration to the next, without other limits."""
    ready: dict[str, float] = {}
    ends: list[float] = []
    for _ in range(4):
        for one in instructions:
            names = [_whole(name) for name in _REGISTER.findall(one.operands)]
            if not names or one.writes_memory:
                continue
            *sources, result = names
            if one.updates:
                sources.append(result)
            start = max((ready.get(name, 0.0) for name in sources), default=0.0)
            known = 1 if one.kind in ("integer", "other") else 0
            ready[result] = start + model.latency.get(one.kind, known)
        ends.append(max(ready.values(), default=0.0))
    return ends[-1] - ends[-2]


def _whole(register: str) -> str:
    """One name for all widths of a vector register."""
    return re.sub(r"^[xyz]mm", "v", register)
