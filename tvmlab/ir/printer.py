"""Programs as text: Python-like, readable, and read back by `parse` without loss.

    def matmul(A: float32[64, 64], B: float32[64, 64], C: float32[64, 64]):
        for i in parallel(64):
            for j, ...

Loops are `range`, `parallel`, `vectorized` or `unrolled`; a block names its iteration variables
with kind, extent and binding; `where`, `reads`, `writes`, `annotate` and `init` stand at its head.
What a block reads and writes is printed only where it differs from what its body shows.
Intermediates of the program are assigned from `alloc(...)` at its top. A name for a value,
`x: float32 = A[i]`, and storage, `T = alloc(float32[4])`, hold for the rest of their suite; where
they end before it does, they are a `with`. A call of outside code lists what it touches,
`call("packed:sort", read(A[0:8]), write(B[0:8]), n)`, and what it means as a `def` inside a `with`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any, TypeAlias, Union

from tvmlab.support import deep, identifier

from .buffer import Region
from .expr import TRUE, Buffer, Expr, Var
from .naming import Names
from .print_expr import ExprPrinter
from .program import Param, Program
from .regions import infer_regions
from .stmt import (
    Alloc,
    Annotations,
    Attribute,
    Barrier,
    Block,
    Combiner,
    Evaluate,
    For,
    If,
    Invoke,
    IterVar,
    Let,
    LoopKind,
    Operand,
    Seq,
    Stmt,
    Store,
)
from .structural import structural_equal
from .traverse import Node

Printable: TypeAlias = Union[Program, Node]

LOOP_WORDS: dict[LoopKind, str] = {
    "serial": "range",
    "parallel": "parallel",
    "vectorized": "vectorized",
    "unrolled": "unrolled",
    "thread": "thread",
    "virtual": "virtual",
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


@deep
def to_text(node: Printable) -> str:
    """The text of a program, statement or expression; `parse` reads a program back."""
    if isinstance(node, Expr):
        return ExprPrinter(Names(node)).text(node)
    if isinstance(node, Region):
        return ExprPrinter(Names(node)).region(node)
    if isinstance(node, IterVar):
        return f"{node.var.name}={node.kind}({to_text(node.extent)})"
    if isinstance(node, Operand):
        return operand_text(ExprPrinter(Names(node)), node)
    if isinstance(node, Combiner):
        return combiner_text(ExprPrinter(Names(node)), node)
    return "\n".join(str(line) for line in to_lines(node))


def to_brief_text(program: Program) -> str:
    """The text of a program to be read by people: code that it carries along is left out.

    A tensor intrinsic brings pages of LLVM IR; its annotation reads `import_llvm=...` here. Only
    the text of `to_text` can be read back then.
    """
    return "\n".join(str(line) for line in to_lines(program, brief=True))


@deep
def to_lines(
    node: Program | Stmt, names: Names | None = None, *, brief: bool = False
) -> list[Line]:
    """The lines of a program or statement, each with the node that it shows.

    Parameters
    ----------
    node
        What to print.
    names
        The names to use, for example those of the program that a statement is part of.
    brief
        Leave out annotations of several lines, which are code.
    """
    printer = _LinePrinter(names or Names(node), brief)
    if isinstance(node, Program):
        printer.program(node)
    else:
        printer.suite(node, 0)
    return printer.lines


def marked_text(program: Program, marked: Collection[object]) -> str:
    """The program's text with `>` before each line that shows one of the marked things.

    A thing is a loop, its variable, a block, its symbol, a store or any other statement: error
    messages point at a loop this way.
    """
    wanted = {id(thing) for thing in marked}
    rows: list[str] = []
    seen: set[int] = set()
    for line in to_lines(program, brief=True):
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

    def __init__(self, names: Names, brief: bool) -> None:
        self.names = names
        self.brief = brief
        self.exprs = ExprPrinter(names)
        self.lines: list[Line] = []

    def add(self, text: str, depth: int, node: Program | Node) -> None:
        self.lines.append(Line(text, depth, node))

    def program(self, p: Program) -> None:
        params = ", ".join(f"{self.names[x]}: {self._param_type(x)}" for x in p.params)
        self.add(f"def {identifier(p.name)}({params}):", 0, p)
        if p.annotations:
            self.add(f"annotate({_arguments(p.annotations, self.brief)})", 1, p)
        for buffer in p.allocs:
            self.add(f"{self.names[buffer]} = {self._alloc_call(buffer)}", 1, p)
        # What is allocated by an assignment at the top is an intermediate of the program.
        (self.stmt if isinstance(p.body, Alloc) else self.suite)(p.body, 1)

    def suite(self, s: Stmt, depth: int) -> None:
        """Print a statement after which its suite ends."""
        while True:
            if isinstance(s, Seq) and s.stmts:
                for child in s.stmts[:-1]:
                    self.stmt(child, depth)
                s = s.stmts[-1]
            elif isinstance(s, Let):
                value = self.exprs.text(s.value)
                self.add(f"{self.names[s.var]}: {s.var.dtype} = {value}", depth, s)
                s = s.body
            elif isinstance(s, Alloc):
                self.add(f"{self.names[s.buffer]} = {self._alloc_call(s.buffer)}", depth, s)
                s = s.body
            else:
                self.stmt(s, depth)
                return

    def stmt(self, s: Stmt, depth: int) -> None:
        """Print a statement that others may follow."""
        _RULES[type(s)](self, s, depth)

    def empty(self, s: Seq, depth: int) -> None:
        self.add("pass", depth, s)

    def let(self, s: Let, depth: int) -> None:
        self.add(f"with let({self.exprs.text(s.value)}) as {self.names[s.var]}:", depth, s)
        self.suite(s.body, depth + 1)

    def barrier(self, s: Barrier, depth: int) -> None:
        self.add(f"barrier({_quoted(s.scope)})", depth, s)

    def invoke(self, s: Invoke, depth: int) -> None:
        parts = [_quoted(s.callee)]
        for arg in s.args:
            is_part = isinstance(arg, Operand)
            parts.append(operand_text(self.exprs, arg) if is_part else self.exprs.text(arg))
        call = f"call({', '.join(parts)})"
        if s.meaning is None:
            self.add(call, depth, s)
            return
        self.add(f"with {call}:", depth, s)
        params = ", ".join(f"{self.names[x]}: {self._param_type(x)}" for x in s.meaning.params)
        self.add(f"def meaning({params}):", depth + 1, s)
        self.suite(s.meaning.body, depth + 2)

    def store(self, s: Store, depth: int) -> None:
        target = self.exprs.access(s.buffer, s.indices, s.mask)
        self.add(f"{target} = {self.exprs.text(s.value)}", depth, s)

    def evaluate(self, s: Evaluate, depth: int) -> None:
        self.add(self.exprs.text(s.value), depth, s)

    def if_(self, s: If, depth: int, word: str = "if") -> None:
        self.add(f"{word} {self.exprs.text(s.cond)}:", depth, s)
        self.suite(s.then, depth + 1)
        if isinstance(s.otherwise, If):
            self.if_(s.otherwise, depth, "elif")
        elif s.otherwise is not None:
            self.add("else:", depth, s)
            self.suite(s.otherwise, depth + 1)

    def for_(self, s: For, depth: int) -> None:
        extras = f", {_quoted(s.thread)}" if s.thread else ""
        if s.annotations:
            extras += f", {_arguments(s.annotations, self.brief)}"
        domain = f"{LOOP_WORDS[s.kind]}({self.exprs.text(s.extent)}{extras})"
        self.add(f"for {self.names[s.var]} in {domain}:", depth, s)
        self.suite(s.body, depth + 1)

    def alloc(self, s: Alloc, depth: int) -> None:
        self.add(f"with {self._alloc_call(s.buffer)} as {self.names[s.buffer]}:", depth, s)
        self.suite(s.body, depth + 1)

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
            self.add(f"annotate({_arguments(s.annotations, self.brief)})", depth + 1, s)
        if s.combiner is not None:
            self.add(combiner_text(self.exprs, s.combiner), depth + 1, s)
        if s.init is not None:
            self.add("with init():", depth + 1, s)
            self.suite(s.init, depth + 2)
        self.suite(s.body, depth + 1)

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
    Seq: _LinePrinter.empty,
    Store: _LinePrinter.store,
    Evaluate: _LinePrinter.evaluate,
    Let: _LinePrinter.let,
    Invoke: _LinePrinter.invoke,
    Barrier: _LinePrinter.barrier,
    If: _LinePrinter.if_,
    For: _LinePrinter.for_,
    Alloc: _LinePrinter.alloc,
    Block: _LinePrinter.block,
}


def _arguments(annotations: Annotations, brief: bool) -> str:
    """Annotations as keyword arguments; a key that is no name goes into a `**{...}`."""
    parts: list[str] = []
    for key, value in annotations:
        long = brief and isinstance(value, str) and "\n" in value
        text = "..." if long else _literal(value)
        parts.append(f"{key}={text}" if identifier(key) == key else f"**{{{_quoted(key)}: {text}}}")
    return ", ".join(parts)


def operand_text(exprs: ExprPrinter, operand: Operand) -> str:
    """A part of a buffer with what is done to it: `read(A[0:4, i])`."""
    view = ""
    if operand.shape or operand.strides:
        view = f", shape={exprs.tuple(operand.shape)}, strides={exprs.tuple(operand.strides)}"
    return f"{operand.access}({exprs.region(operand.region)}{view})"


def combiner_text(exprs: ExprPrinter, combiner: Combiner) -> str:
    """How partial results are joined: `combine(lambda a, b: a + b, 0.0)`."""
    names = ", ".join(exprs.names[v] for v in (*combiner.left, *combiner.right))
    if len(combiner.results) == len(combiner.identity) == 1:
        joined, identity = exprs.text(combiner.results[0]), exprs.text(combiner.identity[0])
    else:
        joined, identity = exprs.tuple(combiner.results), exprs.tuple(combiner.identity)
    lawful = "" if combiner.lawful else ", lawful=False"
    return f"combine(lambda {names}: {joined}, {identity}{lawful})"


def _literal(value: Attribute) -> str:
    if isinstance(value, tuple):
        return f"({', '.join(map(_literal, value))}{',' * (len(value) == 1)})"
    if isinstance(value, str):
        return _quoted(value)
    if isinstance(value, float) and not math.isfinite(value):
        return f'float("{value!r}")'
    return repr(value)


def _quoted(text: str) -> str:
    """A Python string literal in double quotes wherever that needs no escape."""
    shown = repr(text)
    return f'"{text}"' if shown == f"'{text}'" and '"' not in text else shown
