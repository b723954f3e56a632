"""Programs as text: Python-like, readable, and read back by `parse` without loss.

    def matmul(A: float32[64, 64], B: float32[64, 64], C: float32[64, 64]):
        for i in parallel(64):
            for j, ...

Loops are `range`, `parallel`, `vectorized` or `unrolled`; a block names its iteration variables
with kind, extent and binding; `where`, `reads`, `writes`, `annotate` and `init` stand at its head.
What a block reads and writes is printed only where it differs from what its body shows.
Intermediates of the program are assigned from `alloc(...)` at its top; an `Alloc` statement is a
`with`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any, TypeAlias, Union

from tvmlab.support import identifier

from .buffer import Region
from .expr import TRUE, Buffer, Expr, Var
from .naming import Names
from .print_expr import ExprPrinter
from .program import Param, Program
from .regions import infer_regions
from .stmt import Alloc, Annotations, Block, Evaluate, For, If, IterVar, LoopKind, Seq, Stmt, Store
from .structural import structural_equal
from .traverse import Node

Printable: TypeAlias = Union[Program, Node]

LOOP_WORDS: dict[LoopKind, str] = {
    "serial": "range",
    "parallel": "parallel",
    "vectorized": "vectorized",
    "unrolled": "unrolled",
}
"""How each kind of loop is written."""

_INDENT = "    "


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a printed program: its text, how far it is indented, and what it came from."""

    text: str
    depth: int
    node: Program | Node

    def __str__(self) -> str:
        return _INDENT * self.depth + self.text


def to_text(node: Printable) -> str:
    """The text of a program, statement or expression; `parse` reads a program back."""
    if isinstance(node, Expr):
        return ExprPrinter(Names(node)).text(node)
    if isinstance(node, Region):
        return ExprPrinter(Names(node)).region(node)
    if isinstance(node, IterVar):
        return f"{node.var.name}={node.kind}({to_text(node.extent)})"
    return "\n".join(str(line) for line in to_lines(node))


def to_lines(node: Program | Stmt, names: Names | None = None) -> list[Line]:
    """The lines of a program or statement, each with the node that it shows.

    Parameters
    ----------
    node
        What to print.
    names
        The names to use, for example those of the program that a statement is part of.
    """
    printer = _LinePrinter(names or Names(node))
    if isinstance(node, Program):
        printer.program(node)
    else:
        printer.stmt(node, 0)
    return printer.lines


def marked_text(program: Program, marked: Collection[object]) -> str:
    """The program's text with `>` before each line that shows one of the marked things.

    A thing is a loop, its variable, a block, its symbol, a store or any other statement: error
    messages point at a loop this way.
    """
    wanted = {id(thing) for thing in marked}
    rows: list[str] = []
    seen: set[int] = set()
    for line in to_lines(program):
        shown = wanted & {id(line.node), id(_symbol_of(line.node))}
        rows.append(f"{'>' if shown - seen else ' '} {line}")
        seen |= shown
    return "\n".join(rows)


def _symbol_of(node: object) -> object:
    if isinstance(node, For):
        return node.var
    return node.symbol if isinstance(node, Block) else None


class _LinePrinter:
    """Collects the lines of statements."""

    def __init__(self, names: Names) -> None:
        self.names = names
        self.exprs = ExprPrinter(names)
        self.lines: list[Line] = []

    def add(self, text: str, depth: int, node: Program | Node) -> None:
        self.lines.append(Line(text, depth, node))

    def program(self, p: Program) -> None:
        params = ", ".join(f"{self.names[x]}: {self._param_type(x)}" for x in p.params)
        self.add(f"def {identifier(p.name)}({params}):", 0, p)
        if p.annotations:
            self.add(f"annotate({_arguments(p.annotations)})", 1, p)
        for buffer in p.allocs:
            self.add(f"{self.names[buffer]} = {self._alloc_call(buffer)}", 1, p)
        self.stmt(p.body, 1)

    def stmt(self, s: Stmt, depth: int) -> None:
        _RULES[type(s)](self, s, depth)

    def seq(self, s: Seq, depth: int) -> None:
        for child in s.stmts:
            self.stmt(child, depth)
        if not s.stmts:
            self.add("pass", depth, s)

    def store(self, s: Store, depth: int) -> None:
        target = self.exprs.access(s.buffer, s.indices, s.mask)
        self.add(f"{target} = {self.exprs.text(s.value)}", depth, s)

    def evaluate(self, s: Evaluate, depth: int) -> None:
        self.add(self.exprs.text(s.value), depth, s)

    def if_(self, s: If, depth: int, word: str = "if") -> None:
        self.add(f"{word} {self.exprs.text(s.cond)}:", depth, s)
        self.stmt(s.then, depth + 1)
        if isinstance(s.otherwise, If):
            self.if_(s.otherwise, depth, "elif")
        elif s.otherwise is not None:
            self.add("else:", depth, s)
            self.stmt(s.otherwise, depth + 1)

    def for_(self, s: For, depth: int) -> None:
        extras = f", {_arguments(s.annotations)}" if s.annotations else ""
        domain = f"{LOOP_WORDS[s.kind]}({self.exprs.text(s.extent)}{extras})"
        self.add(f"for {self.names[s.var]} in {domain}:", depth, s)
        self.stmt(s.body, depth + 1)

    def alloc(self, s: Alloc, depth: int) -> None:
        self.add(f"with {self._alloc_call(s.buffer)} as {self.names[s.buffer]}:", depth, s)
        self.stmt(s.body, depth + 1)

    def block(self, s: Block, depth: int) -> None:
        parts = [_quoted(self.names[s.symbol])]
        for it, binding in zip(s.iters, s.bindings, strict=True):
            domain = f"{it.kind}({self.exprs.texts((it.extent, binding))})"
            parts.append(f"{self.names[it.var]}={domain}")
        self.add(f"with block({', '.join(parts)}):", depth, s)
        if s.predicate is not TRUE and not structural_equal(s.predicate, TRUE):
            self.add(f"where({self.exprs.text(s.predicate)})", depth + 1, s)
        self._regions(s, depth + 1)
        if s.annotations:
            self.add(f"annotate({_arguments(s.annotations)})", depth + 1, s)
        if s.init is not None:
            self.add("with init():", depth + 1, s)
            self.stmt(s.init, depth + 2)
        self.stmt(s.body, depth + 1)

    def _regions(self, s: Block, depth: int) -> None:
        reads, writes = infer_regions(s.iters, s.init, s.body)
        for word, given, inferred in (("reads", s.reads, reads), ("writes", s.writes, writes)):
            if not structural_equal(given, inferred):
                boxes = ", ".join(self.exprs.region(r) for r in given)
                self.add(f"{word}({boxes})", depth, s)

    def _param_type(self, param: Param) -> str:
        if isinstance(param, Var):
            return str(param.dtype)
        shaped = self._shaped(param)
        if param.scope == "global":
            return shaped
        return f"buffer({shaped}, scope={_quoted(param.scope)})"

    def _alloc_call(self, buffer: Buffer) -> str:
        scope = "" if buffer.scope == "global" else f", scope={_quoted(buffer.scope)}"
        return f"alloc({self._shaped(buffer)}{scope})"

    def _shaped(self, buffer: Buffer) -> str:
        return f"{buffer.dtype}[{self.exprs.texts(buffer.shape) or '()'}]"


_RULES: dict[type, Callable[[_LinePrinter, Any, int], None]] = {
    Seq: _LinePrinter.seq,
    Store: _LinePrinter.store,
    Evaluate: _LinePrinter.evaluate,
    If: _LinePrinter.if_,
    For: _LinePrinter.for_,
    Alloc: _LinePrinter.alloc,
    Block: _LinePrinter.block,
}


def _arguments(annotations: Annotations) -> str:
    """Annotations as keyword arguments; a key that is no name goes into a `**{...}`."""
    parts: list[str] = []
    for key, value in annotations:
        text = _literal(value)
        parts.append(f"{key}={text}" if identifier(key) == key else f"**{{{_quoted(key)}: {text}}}")
    return ", ".join(parts)


def _literal(value: float | str | bool) -> str:
    if isinstance(value, str):
        return _quoted(value)
    if isinstance(value, float) and not math.isfinite(value):
        return f'float("{value!r}")'
    return repr(value)


def _quoted(text: str) -> str:
    """A Python string literal in double quotes wherever that needs no escape."""
    shown = repr(text)
    return f'"{text}"' if shown == f"'{text}'" and '"' not in text else shown
