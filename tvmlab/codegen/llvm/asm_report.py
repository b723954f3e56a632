"""What the loops of an assembly text are made of: the check that a kernel is as good as it looks.

Counts are of x86-64 assembly in AT&T syntax as LLVM prints it. A reload or spill is a vector move
between a register and the stack.

>>> report = loop_reports(compiled.asm)[0]  # doctest: +SKIP
>>> report.fma, report.spills  # doctest: +SKIP
(28, 0)
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from .instructions import Instruction, parse_instruction
from .ports import bound_of, port_model, pressure_of

_LABEL = re.compile(r"^(\.?[\w.$]+):")
_JUMP = re.compile(r"^\tj\w+\t(\.LBB\S+)")


@dataclass(frozen=True, slots=True)
class LoopReport:
    """Instruction counts of one innermost loop.

    `loads` counts vector instructions that read memory (also as an operand of arithmetic),
    `broadcasts` those of them that spread one element over all lanes. `bytes_read` and
    `bytes_written` leave out the stack. `cycles` is the least that an iteration takes by ports and
    latencies of the processor's model, `bound_by` what it is that takes so long; `pressure` has the
    cycles that each resource alone would take, and the chain of values ("latency").
    """

    function: str
    label: str
    instructions: int
    fma: int
    loads: int
    broadcasts: int
    stores: int
    spills: int
    calls: int
    widest: int
    text: str
    arithmetic: int = 0
    shuffles: int = 0
    flops: int = 0
    bytes_read: int = 0
    bytes_written: int = 0
    cycles: float = 0.0
    bound_by: str = ""
    model: str = ""
    pressure: tuple[tuple[str, float], ...] = ()


def loop_reports(asm: str, cpu: str = "generic") -> tuple[LoopReport, ...]:
    """The innermost loops of an assembly text, in order.

    Parameters
    ----------
    cpu
        LLVM's name of the processor whose ports count.
    """
    lines = asm.splitlines()
    labels: dict[str, int] = {}
    function, found = "", list[LoopReport]()
    for number, line in enumerate(lines):
        label = _LABEL.match(line)
        if label:
            name = label.group(1)
            labels[name] = number
            if not name.startswith("."):
                function = name
            continue
        jump = _JUMP.match(line)
        if jump and jump.group(1) in labels:
            start = labels[jump.group(1)]
            if not _holds_loop(lines[start + 1 : number], lines[start]):
                found.append(_report(function, jump.group(1), lines[start : number + 1], cpu))
    return tuple(found)


def _holds_loop(body: list[str], own: str) -> bool:
    """Whether some jump in the lines goes back to a label among them."""
    seen: set[str] = {own.rstrip(":")}
    for line in body:
        label = _LABEL.match(line)
        if label:
            seen.add(label.group(1))
        jump = _JUMP.match(line)
        if jump and jump.group(1) in seen:
            return True
    return False


def _report(function: str, label: str, lines: list[str], cpu: str) -> LoopReport:
    parsed = [one for one in map(parse_instruction, lines) if one is not None]
    vectors = [one for one in parsed if one.is_vector]
    elsewhere = [one for one in vectors if not one.on_stack]
    loads = [one for one in elsewhere if one.reads_memory]
    stores = [one for one in elsewhere if one.writes_memory]
    model = port_model(cpu)
    pressure = pressure_of(parsed, model)
    cycles, bound_by = bound_of(pressure)
    return LoopReport(
        function,
        label,
        instructions=len(parsed),
        fma=_count(vectors, "fma"),
        loads=len(loads),
        broadcasts=sum(one.spreads for one in loads),
        stores=len(stores),
        spills=sum(one.on_stack and (one.reads_memory or one.writes_memory) for one in vectors),
        calls=_count(parsed, "call"),
        widest=max((one.bits for one in vectors), default=0),
        text="\n".join(lines),
        arithmetic=sum(one.kind in ("add", "multiply", "divide") for one in vectors),
        shuffles=_count(vectors, "shuffle"),
        flops=sum(one.flops for one in vectors),
        bytes_read=sum(one.bytes_moved for one in loads),
        bytes_written=sum(one.bytes_moved for one in stores),
        cycles=round(cycles, 2),
        bound_by=bound_by,
        model=model.name,
        pressure=tuple((name, round(cycles, 2)) for name, cycles in pressure.items() if cycles),
    )


def _count(instructions: Sequence[Instruction], kind: str) -> int:
    return sum(one.kind == kind for one in instructions)
