"""One line of x86-64 assembly in AT&T syntax: what it does and which memory it touches."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

Kind = Literal[
    "fma", "multiply", "add", "divide", "shuffle", "move", "logic", "integer", "call", "other"
]

_INSTRUCTION = re.compile(r"^\t([a-z]\w*)(?:\t([^#]*))?")
_VECTOR = re.compile(r"%([xyz])mm\d+")
_MEMORY = re.compile(r"\(%")
# With an index it is an array there, not a register that found no room.
_STACK = re.compile(r"\(%r[sb]p\)")
_BITS = {"x": 128, "y": 256, "z": 512}
_FMA = ("vfmadd", "vfmsub", "vfnmadd", "vfnmsub", "fmla", "vdpbf16", "vpdpbusd")
_SHUFFLE = ("vperm", "vpshuf", "vshuf", "vunpck", "vpunpck", "vinsert", "vextract", "vpalignr",
            "valign", "vpack", "vpmov", "vpinsr", "vpextr", "vcompress", "vexpand", "shuf",
            "unpck", "vmovhlps", "vmovlhps", "vmovshdup", "vmovsldup", "vmovddup")  # fmt: skip
_ADD = ("vadd", "vsub", "vmax", "vmin", "vcmp", "addp", "addss", "subp", "subss", "vhadd",
        "vrndscale", "vround", "maxp", "minp", "vcvt")  # fmt: skip
_MULTIPLY = ("vmul", "mulp", "mulss", "vpmul", "vscalef", "vreduce")
_DIVIDE = ("vdiv", "vsqrt", "divp", "divs", "sqrt")
_MOVE = ("vmov", "vbroadcast", "vpbroadcast", "mov")
_FLOAT_ENDS = ("ps", "pd", "ss", "sd")
_FLOPS = ("vadd", "vsub", "vmul", "vdiv", "vmax", "vmin", "vsqrt")


@dataclass(frozen=True, slots=True)
class Instruction:
    """One instruction.

    Attributes
    ----------
    bits
        Width of the vectors that it works on; 0 for scalars in general registers.
    updates
        Whether its result depends on what the result's register held before.
    """

    name: str
    operands: str
    kind: Kind
    bits: int
    reads_memory: bool
    writes_memory: bool
    on_stack: bool
    spreads: bool
    updates: bool

    @property
    def is_vector(self) -> bool:
        return self.bits > 0

    @property
    def _is_scalar(self) -> bool:
        return self.name.endswith(("ss", "sd")) and not self.name.startswith("vp")

    @property
    def lanes(self) -> int:
        """Elements of floating-point arithmetic; 1 for a scalar in a vector register."""
        if self._is_scalar:
            return 1
        return self.bits // (64 if self.name.endswith("pd") else 32)

    @property
    def flops(self) -> int:
        """Floating-point operations, a multiply-add counted as two."""
        if self.kind == "fma":
            groups = 4 if self.name.startswith("vpdpbusd") else 2 if "bf16" in self.name else 1
            return 2 * groups * self.lanes
        counts = self.name.startswith(_FLOPS) and self.name.endswith(_FLOAT_ENDS)
        return self.lanes if counts else 0

    @property
    def bytes_moved(self) -> int:
        """Bytes of the memory operand."""
        if not (self.reads_memory or self.writes_memory):
            return 0
        if self.spreads or self._is_scalar:
            return 8 if self.name.endswith(("sd", "pd", "q")) else 4
        return self.bits // 8 if self.bits else 8


def parse_instruction(line: str) -> Instruction | None:
    """The instruction of a line; None for labels, directives and remarks."""
    match = _INSTRUCTION.match(line)
    if match is None or line.startswith("\t."):
        return None
    name, operands = match.group(1), (match.group(2) or "").strip()
    widths = [_BITS[letter] for letter in _VECTOR.findall(operands)]
    bits = max(widths, default=0)
    memory = bool(_MEMORY.search(operands)) and not name.startswith(("lea", "prefetch", "nop"))
    ends_in_memory = memory and "(" in _last_operand(operands)
    compares = name.startswith(("cmp", "test", "vucomi", "vcomi"))
    writes = ends_in_memory and not compares
    kind = _kind(name, bits)
    return Instruction(
        name,
        operands,
        kind,
        bits,
        reads_memory=memory and (not writes or not name.startswith(_MOVE)),
        writes_memory=writes,
        on_stack=bool(_STACK.search(operands)),
        spreads="broadcast" in name or "{1to" in operands,
        updates=kind == "fma"
        or "{%k" in _last_operand(operands)
        or (not name.startswith("v") and bits == 0),
    )


def _last_operand(operands: str) -> str:
    """The text after the last comma that is outside of parentheses."""
    depth = 0
    for at in range(len(operands) - 1, -1, -1):
        if operands[at] == ")":
            depth += 1
        elif operands[at] == "(":
            depth -= 1
        elif operands[at] == "," and not depth:
            return operands[at + 1 :]
    return operands


def _kind(name: str, bits: int) -> Kind:
    if name.startswith("call"):
        return "call"
    if not bits:
        return "other" if name.startswith(("j", "prefetch", "nop", "ret")) else "integer"
    for kind, names in _KINDS:
        if name.startswith(names):
            return kind
    return "logic"


_KINDS: tuple[tuple[Kind, tuple[str, ...]], ...] = (
    ("fma", _FMA),
    ("shuffle", _SHUFFLE),
    ("divide", _DIVIDE),
    ("multiply", _MULTIPLY),
    ("add", _ADD),
    ("move", _MOVE),
)
