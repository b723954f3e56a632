"""Code whose lines know which lines of the loop nest they come from.

A line of any stage names the lines of the nest that it belongs to, its own first, then those
around it. Loops and blocks are followed by identity where a pass kept them, and by name or by the
buffer that they write where it did not; machine code by the locations that LLVM carried along.
How much of a listing is covered is stated, not assumed.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import tvmlab.codegen as codegen
from tvmlab.ir import (
    Block,
    BlockSymbol,
    Buffer,
    For,
    Line,
    Program,
    Store,
    Var,
    to_lines,
)
from tvmlab.lower import lower
from tvmlab.schedule import History, index_of
from tvmlab.target import Target

from .inner_loops import InnerLoopLines, lines_of_loops
from .symbols import Symbol, SymbolIds

Family: TypeAlias = tuple[Symbol, ...]


@dataclass(frozen=True, slots=True)
class LinkedCode:
    """A listing, and the lines of the nest that each of its lines belongs to.

    Attributes
    ----------
    groups
        Lists of lines of the nest: its own first, then those around it, innermost first.
    lines
        For each line of the text the number of its group; -1 where that is not known.
    coverage
        The share of lines (for machine code, of instructions) whose origin is known.
    remark
        What is worth saying of the listing as a whole.
    inner
        For assembly its innermost loops, where they stand and what bounds them.
    """

    text: str
    groups: tuple[tuple[str, ...], ...]
    lines: tuple[int, ...]
    coverage: float
    remark: str = ""
    inner: tuple[InnerLoopLines, ...] = ()


def linked_loops(program: Program, ids: SymbolIds) -> LinkedCode:
    """The scheduled program, line by line."""
    shown = to_lines(program)
    families = _Finder(program).families(shown)
    return _linked("\n".join(str(line) for line in shown), families, ids)


def linked_lowered(program: Program, target: Target, ids: SymbolIds) -> LinkedCode:
    """What the passes made of a scheduled program."""
    lowered = lower(program, target).program
    shown = to_lines(lowered)
    families = _Finder(program).families(shown)
    return _linked("\n".join(str(line) for line in shown), families, ids)


def linked_machine(program: Program, target: Target, kind: str, ids: SymbolIds) -> LinkedCode:
    """LLVM IR after optimization ("llvm"), or assembly ("asm")."""
    lowered = lower(program, target).program
    families = _Finder(program).families(to_lines(lowered))
    text = codegen.emit_module(lowered, target, codegen.EmitOptions(locate=True))
    compiled = codegen.compile_module(text, target)
    reports: tuple[codegen.LoopReport, ...] = ()
    if kind == "llvm":
        found = codegen.located_ir(compiled.llvm_text_optimized)
    else:
        found = codegen.located_asm(compiled.asm)
        reports = codegen.loop_reports(found.text, target.cpu)
    rows = [families[line - 1] if line else () for line in found.lines]
    linked = _linked(found.text, rows, ids)
    return replace(
        linked,
        coverage=found.coverage,
        remark=_loop_words(reports),
        inner=lines_of_loops(found.text, reports, linked.lines, linked.groups, target),
    )


def linked_python(history: History, ids: SymbolIds) -> LinkedCode:
    """The steps as Python; a step belongs to the lines that it made or changed, as far as they
    are left, or to what later steps made of them.
    """
    trace = history.trace()
    after = index_of(history.node.program)
    left = {*after.loops, *after.blocks}
    heirs: dict[Symbol, list[Symbol]] = {symbol: [symbol] for symbol in left}
    of_step: list[Family] = []
    for step in reversed(trace.steps):
        made: list[Symbol] = list(step.outputs)
        taken = _symbols(step.args.values())
        follows = [h for s in made for h in heirs.get(s, [])]
        for symbol in taken:
            heirs.setdefault(symbol, follows)
        found = follows or [h for s in taken for h in heirs[s]]
        of_step.append(tuple(dict.fromkeys(found)))
    steps = iter(reversed(of_step))
    families: list[Family] = [() if i.op == "loops" else next(steps) for i in trace.instructions()]
    return _linked(trace.to_python(), families, ids)


def _symbols(values: Iterable[object]) -> list[Symbol]:
    found: list[Symbol] = []
    for value in values:
        if isinstance(value, (Var, BlockSymbol)):
            found.append(value)
        elif isinstance(value, (list, tuple)):
            found += _symbols(value)  # pyright: ignore[reportUnknownArgumentType]
    return found


def _linked(text: str, families: Sequence[Family], ids: SymbolIds) -> LinkedCode:
    groups: dict[Family, int] = {}
    lines = tuple(groups.setdefault(f, len(groups)) if f else -1 for f in families)
    names = tuple(tuple(ids.of(symbol) for symbol in family) for family in groups)
    told = sum(1 for line in lines if line >= 0)
    return LinkedCode(text, names, lines, told / len(lines) if lines else 1.0)


def _loop_words(reports: Sequence[codegen.LoopReport]) -> str:
    """What the busiest innermost loop is made of."""
    if not reports:
        return ""
    most = max(reports, key=lambda r: (r.fma, r.instructions))
    spills = "no spill" if most.spills == 0 else f"{most.spills} spills or reloads"
    return (
        f"inner loop {most.label}: {most.instructions} instructions, {most.fma} multiply-adds, "
        f"{most.loads} loads ({most.broadcasts} broadcast), {most.stores} stores, {spills}"
    )


class _Finder:
    """Finds the lines of one scheduled program that nodes of any later stage come from."""

    def __init__(self, program: Program) -> None:
        index = index_of(program)
        self._around: dict[Symbol, Family] = {}
        for var, loop in index.loops.items():
            self._around[var] = (var, *_vars(index.loops_around(loop)))
        self._writers: dict[Buffer, list[Symbol]] = {}
        self._by_name: dict[str, list[Symbol]] = {}
        for symbol, block in index.blocks.items():
            self._around[symbol] = (symbol, *_vars(index.loops_around(block)))
            for region in block.writes:
                self._writers.setdefault(region.buffer, []).append(symbol)
        for symbol in index.loops:
            self._by_name.setdefault(symbol.name, []).append(symbol)
        self._buffers = {b.name: b for b in self._writers}

    def families(self, lines: Iterable[Line]) -> list[Family]:
        """For each line its lines of the nest, own first; what stands in a loop is at least its."""
        found: list[Family] = []
        around: list[tuple[int, Family]] = []
        for line in lines:
            while around and around[-1][0] >= line.depth:
                around.pop()
            outer = around[-1][1] if around else ()
            family = self._family(line.node, outer) or outer
            found.append(family)
            around.append((line.depth, family))
        return found

    def _family(self, node: object, outer: Family) -> Family:
        match node:
            case For():
                return self._of_loop(node.var)
            case Block():
                return self._around.get(node.symbol, ())
            case Store():
                return self._of_buffer(node.buffer, outer)
            case _:
                return ()

    def _of_loop(self, var: Var) -> Family:
        if var in self._around:
            return self._around[var]
        named = self._by_name.get(var.name, [])
        return self._around[named[0]] if len(named) == 1 else ()

    def _of_buffer(self, buffer: Buffer, outer: Family) -> Family:
        """The block that writes a buffer within the given loops; else the loops that all have."""
        named = self._named_writers(buffer)
        writers = [w for w in named if not outer or outer[0] in self._around[w]]
        if len(writers) == 1:
            return self._around[writers[0]]
        if not writers:
            return ()
        families = [self._around[w] for w in writers]
        return tuple(s for s in families[0][1:] if all(s in f for f in families))

    def _named_writers(self, buffer: Buffer) -> list[Symbol]:
        """Writers of the buffer that passes made this one of: its name begins with that one's."""
        if buffer in self._writers:
            return self._writers[buffer]
        name = buffer.name
        while name:
            known = self._buffers.get(name)
            if known is not None:
                return self._writers[known]
            name = name.rpartition("_")[0]
        return []


def _vars(loops: Sequence[For]) -> tuple[Var, ...]:
    return tuple(loop.var for loop in reversed(loops))
