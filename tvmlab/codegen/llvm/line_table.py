"""Which line of the printed program an instruction comes from, as LLVM's debug locations.

The table makes the metadata; LLVM keeps locations through its passes as well as it can, and drops
them where it has merged code of several lines. Reading them back is `located`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from weakref import WeakKeyDictionary

from tvmlab.ir import Program, Stmt, to_lines

from .builder import FunctionText, ModuleText

_USE = re.compile(r",? !dbg !(\d+)")
_LOCATION = re.compile(r"^!(\d+) = !DILocation\(line: (\d+)")
_DEBUG_NODE = re.compile(
    r"^!\d+ = (?:distinct )?!DI|^!llvm\.(?:dbg|module\.flags)|^!\d+ = !\{i32 \d, !"
)
_LOC = re.compile(r"^\t\.loc\t\d+ (\d+)")
_NOISE = re.compile(r"^\.?L(?:tmp|func_begin|func_end|debug_)\w*:|^\t\.(?:file|cfi_\w+)\b")
_END = re.compile(r"^\t\.section\t\.debug_")


class LineTable:
    """Gives statements of one program their lines, and functions their scopes."""

    def __init__(self, module: ModuleText, program: Program) -> None:
        self._module = module
        self._lines: dict[int, int] = {}
        for number, line in enumerate(to_lines(program), 1):
            self._lines.setdefault(id(line.node), number)
        self._known: dict[tuple[str, int], str] = {}
        self._scopes: WeakKeyDictionary[FunctionText, str] = WeakKeyDictionary()
        file = module.metadata('!DIFile(filename: "program", directory: "")')
        self._unit = module.metadata(
            f"distinct !DICompileUnit(language: DW_LANG_C99, file: {file}, isOptimized: true, "
            "runtimeVersion: 0, emissionKind: LineTablesOnly)"
        )
        self._file = file
        flags = module.metadata('!{i32 2, !"Debug Info Version", i32 3}')
        self._types = module.metadata("!DISubroutineType(types: null)")
        module.define_text(f"!llvm.dbg.cu = !{{{self._unit}}}\n!llvm.module.flags = !{{{flags}}}\n")

    def scope(self, function: FunctionText, name: str) -> str:
        """Make a function a scope of locations; returns what its header says of that."""
        self._scopes[function] = self._module.metadata(
            f'distinct !DISubprogram(name: "{name}", file: {self._file}, line: 1, '
            f"type: {self._types}, unit: {self._unit}, spFlags: DISPFlagDefinition)"
        )
        return f" !dbg {self._scopes[function]}"

    def location(self, stmt: Stmt, function: FunctionText) -> str:
        """What an instruction of a statement says; empty for one that no line shows."""
        line = self._lines.get(id(stmt))
        if line is None:
            return ""
        scope = self._scopes[function]
        known = self._known.get((scope, line))
        if known is None:
            node = f"!DILocation(line: {line}, column: 1, scope: {scope})"
            known = self._known[scope, line] = f", !dbg {self._module.metadata(node)}"
        return known


@dataclass(frozen=True, slots=True)
class Located:
    """A listing with, for each of its lines, the line of the program; 0 where that is not known."""

    text: str
    lines: tuple[int, ...]
    instructions: int
    """How many lines are instructions; those without a line were merged or made by LLVM."""

    @property
    def coverage(self) -> float:
        """The share of instructions whose line is known."""
        known = sum(1 for line in self.lines if line)
        return known / self.instructions if self.instructions else 1.0


def located_ir(text: str) -> Located:
    """Optimized IR without its debug metadata, and the lines that this told."""
    table = {m[1]: int(m[2]) for m in map(_LOCATION.match, text.splitlines()) if m}
    shown: list[str] = []
    lines: list[int] = []
    instructions = 0
    for row in text.splitlines():
        if _DEBUG_NODE.match(row):
            continue
        use = _USE.search(row)
        inside = row.startswith("  ")
        instructions += inside
        shown.append(_USE.sub("", row) if use else row)
        lines.append(table.get(use[1], 0) if use and inside else 0)
    return _located(shown, lines, instructions)


def located_asm(text: str) -> Located:
    """Assembly without its debug directives, and the lines that these told."""
    shown: list[str] = []
    lines: list[int] = []
    instructions = line = 0
    for row in text.splitlines():
        if _END.match(row):
            break
        loc = _LOC.match(row)
        if loc:
            line = int(loc[1])
            continue
        if _NOISE.match(row):
            continue
        if not row.startswith(("\t", ".L", " ")) and row.endswith(":"):
            line = 0  # another function
        code = row.startswith("\t") and not row.startswith("\t.")
        instructions += code
        shown.append(row)
        lines.append(line if code else 0)
    return _located(shown, lines, instructions)


def _located(shown: list[str], lines: list[int], instructions: int) -> Located:
    """A listing without the empty lines at its end."""
    while shown and not shown[-1].strip():
        shown.pop()
    return Located("\n".join(shown), tuple(lines[: len(shown)]), instructions)
