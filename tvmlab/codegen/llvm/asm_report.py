"""What the loops of an assembly text are made of: the check that a kernel is as good as it looks.

Counts are of x86-64 assembly in AT&T syntax as LLVM prints it. A reload or spill is a vector move
between a register and the stack.

>>> report = loop_reports(compiled.asm)[0]  # doctest: +SKIP
>>> report.fma, report.spills  # doctest: +SKIP
(28, 0)
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_LABEL = re.compile(r"^(\.?[\w.$]+):")
_JUMP = re.compile(r"^\tj\w+\t(\.LBB\S+)")
_INSTRUCTION = re.compile(r"^\t([a-z]\w*)(?:\t([^#]*))?")
_STACK = re.compile(r"\(%r[sb]p\)")
_VECTOR = re.compile(r"%[xyz]mm\d+")
_MEMORY = re.compile(r"\(%")


@dataclass(frozen=True, slots=True)
class LoopReport:
    """Instruction counts of one innermost loop.

    `loads` counts vector instructions that read memory (also as an operand of arithmetic),
    `broadcasts` those of them that spread one element over all lanes.
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


def loop_reports(asm: str) -> tuple[LoopReport, ...]:
    """The innermost loops of an assembly text, in order."""
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
                found.append(_report(function, jump.group(1), lines[start : number + 1]))
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


def _report(function: str, label: str, lines: list[str]) -> LoopReport:
    counts = {key: 0 for key in ("fma", "loads", "broadcasts", "stores", "spills", "calls")}
    widest = instructions = 0
    for line in lines:
        match = _INSTRUCTION.match(line)
        if match is None or line.startswith("\t."):
            continue
        instructions += 1
        name, operands = match.group(1), match.group(2) or ""
        counts["calls"] += name.startswith("call")
        if not _VECTOR.search(operands):
            continue
        widest = max(widest, 512 if "%zmm" in operands else 256 if "%ymm" in operands else 128)
        counts["fma"] += name.startswith(("vfmadd", "vfmsub", "vfnmadd", "vfnmsub", "fmla"))
        for key in _memory_kinds(name, operands):
            counts[key] += 1
    return LoopReport(function, label, instructions, **counts, widest=widest, text="\n".join(lines))


def _memory_kinds(name: str, operands: str) -> list[str]:
    """How a vector instruction touches memory."""
    if not _MEMORY.search(operands):
        return []
    if _STACK.search(operands):
        return ["spills"]
    if _MEMORY.search(operands.rsplit(", %", 1)[-1]) and name.startswith(("vmov", "mov")):
        return ["stores"]
    spread = "broadcast" in name or "{1to" in operands
    return ["loads", "broadcasts"] if spread else ["loads"]
