"""LLVM IR as text: a module and its functions under construction.

Text is written directly, not through `llvmlite.ir`: it is several times faster to make, knows every
instruction of the LLVM in use, and reads like what a person would write, which matters because the
explorer shows it.
"""

from __future__ import annotations

import re
from typing import TypeAlias

Available: TypeAlias = tuple[dict[str, str], dict[object, str]]

NO_MEMORY = 1
"""What a kernel returns when a local buffer could not be allocated."""

OUTSIDE = 3
"""What a kernel returns when an index was outside its buffer; `NAME.fault` tells which."""

HELPER = " #2 {"
"""How the head of a function ends that is to be put in place where it is called."""
UNROLL = "llvm.loop.unroll.count"
RECURRENCE = "; a loop loads what its earlier rounds stored\n"
"""Stands in a module where that may be so."""

PLAIN = "; loops, sums and products alone\n"
"""Stands in a module where that is so: few passes do for it."""

_PURE = frozenset(
    {
        *("add", "sub", "mul", "sdiv", "udiv", "srem", "urem", "and", "or", "xor", "shl", "ashr"),
        *("lshr", "fadd", "fsub", "fmul", "fdiv", "frem", "icmp", "fcmp", "select", "zext", "sext"),
        *("trunc", "bitcast", "getelementptr", "insertelement", "shufflevector"),
    }
)
"""Instructions whose result depends on their operands alone: written once where one will do."""

_NOT_NAME = re.compile(r"[^A-Za-z0-9_.]")


class FunctionText:
    """One kernel function that returns an `i32` code: 0, or what went wrong.

    Instructions go to the current block. Stack slots and heap blocks are made in the entry block;
    every way out leads through the block `leave`, which frees the heap blocks.

    Attributes
    ----------
    nodes
        Formulas that have a value in this block, so that they need not be written again.
    effects
        Counts what may give another result the next time; equal counts before and after emitting
        a formula say that its value can be used again.
    """

    def __init__(self, header: str) -> None:
        self.header = header
        self._slots: list[str] = []
        self._heap: list[tuple[str, int]] = []
        self._lines: list[str] = []
        self._exits: list[tuple[str, str]] = []
        self._closing: dict[str, None] = {}
        self._taken: dict[str, int] = dict.fromkeys(
            ("entry", "start", "leave", "no_memory", "code"), 1
        )
        self.block = "start"
        self.nodes: dict[object, str] = {}
        self.effects = 0
        # Buffers and addresses that the innermost loop around loads from and stores to.
        self.loads: set[tuple[str, str]] = set()
        self.stores: set[tuple[str, str]] = set()
        # Values that the current block can use, by the instruction that made them.
        self._known: dict[str, str] = {}
        self.stack_bytes = 0
        # Metadata that ties instructions to the line of the program that they come from.
        self.location = ""

    def fresh(self, wish: str) -> str:
        """A local name not used before, without its sign."""
        base = _NOT_NAME.sub("_", wish)
        if base[:1].isdigit():
            base = f"v{base}"  # LLVM takes names that begin so for its own numbers
        number = self._taken.get(base, 0)
        name = base if number == 0 else f"{base}.{number}"
        while name in self._taken:
            number += 1
            name = f"{base}.{number}"
        self._taken[base] = number + 1
        self._taken.setdefault(name, 1)
        return name

    def value(self, instruction: str, wish: str = "v", *, steady: bool = False) -> str:
        """Append an instruction that yields a value; returns the value's name.

        Where an instruction that depends on its operands alone stands already, its value serves
        again. `steady` says this of another one, such as a load of what nobody writes.
        """
        known = self._known.get(instruction)
        if known is not None:
            return known
        name = "%" + self.fresh(wish)
        self._lines.append(f"  {name} = {instruction}{self.location}")
        if steady or instruction[: instruction.find(" ")] in _PURE:
            self._known[instruction] = name
        else:
            self.effects += 1
        return name

    def effect(self, instruction: str) -> None:
        """Append an instruction that yields nothing."""
        self.effects += 1
        self._lines.append(f"  {instruction}{self.location}")

    def recurs(self) -> bool:
        """Whether a buffer is loaded from where it is not stored to in the same round."""
        stored = {buffer for buffer, _ in self.stores}
        return any(buffer in stored for buffer, _ in self.loads - self.stores)

    def reserve(self) -> int:
        """Keep a place for an instruction that is known only later, such as a loop's phi."""
        self._lines.append("")
        return len(self._lines) - 1

    def fill(self, place: int, instruction: str) -> None:
        """Write the instruction that a place was reserved for."""
        self._lines[place] = f"  {instruction}{self.location}"

    def label(self, wish: str) -> str:
        """A name for a block to be started later."""
        return self.fresh(wish)

    def available(self) -> Available:
        """The values that any block reached through this one alone can use."""
        return dict(self._known), dict(self.nodes)

    def start(self, label: str, available: Available = ({}, {})) -> None:
        """Begin a block; the previous one must have ended with a branch or return.

        `available` was asked for in a block that every way here leads through.
        """
        self.effects += 1
        self._known, self.nodes = dict(available[0]), dict(available[1])
        self._lines.append(f"{label}:")
        self.block = label

    def jump(self, label: str) -> None:
        """End the block with an unconditional branch."""
        self.effect(f"br label %{label}")

    def branch(self, cond: str, then: str, otherwise: str) -> None:
        """End the block with a branch on an `i1`."""
        self.effect(f"br i1 {cond}, label %{then}, label %{otherwise}")

    def slot(self, type_text: str, align: int, size: int, wish: str) -> str:
        """A stack slot that lives as long as the function runs."""
        name = "%" + self.fresh(wish)
        self._slots.append(f"  {name} = alloca {type_text}, align {align}")
        self.stack_bytes += size
        return name

    def heap(self, size: int, wish: str) -> str:
        """A heap block that lives as long as the function runs."""
        name = "%" + self.fresh(wish)
        self._heap.append((name, size))
        return name

    def leave(self, code: str) -> None:
        """End the block by returning a code."""
        self._exits.append((code, self.block))
        self.jump("leave")

    def at_leave(self, instruction: str) -> None:
        """Have an instruction run on every way out, once."""
        self._closing.setdefault(f"  {instruction}")

    def render(self) -> str:
        """The whole function; the last block must have been left."""
        heads, oom = self._entry()
        codes = ", ".join(f"[ {code}, %{block} ]" for code, block in self._exits)
        frees = [f"  call void @free(ptr {name})" for name, _ in self._heap]
        tail = ["leave:", f"  %code = phi i32 {codes}", *self._closing, *frees, "  ret i32 %code"]
        lines = [*heads, "start:", *self._lines, *tail, *oom]
        return f"{self.header} {{\nentry:\n" + "\n".join(lines) + "\n}\n"

    def _entry(self) -> tuple[list[str], list[str]]:
        """The entry block, and the block for the case that memory ran out."""
        if not self._heap:
            return [*self._slots, "  br label %start"], []
        lines = list(self._slots)
        missing = "false"
        for name, size in self._heap:
            lines.append(f"  {name} = call noalias ptr @aligned_alloc(i64 64, i64 {size})")
            lines.append(f"  {name}.null = icmp eq ptr {name}, null")
            lines.append(f"  {name}.missing = or i1 {missing}, {name}.null")
            missing = f"{name}.missing"
        lines.append(f"  br i1 {missing}, label %no_memory, label %start")
        frees = [f"  call void @free(ptr {name})" for name, _ in self._heap]
        return lines, ["no_memory:", *frees, f"  ret i32 {NO_MEMORY}"]


class ModuleText:
    """A module: functions, declarations, and metadata, each written once."""

    def __init__(self, name: str, triple: str) -> None:
        self._head = (
            f'; ModuleID = "{name}"\nsource_filename = "{name}"\ntarget triple = "{triple}"\n'
        )
        self._functions: list[str] = []
        self._declarations: dict[str, str] = {}
        self._helpers: dict[str, str] = {}
        self._metadata: list[str] = []
        self._names: dict[str, int] = {}
        self._texts: dict[str, str] = {}
        self._shared_nodes: dict[str, str] = {}
        self.recurs = False
        self.reloads = False
        self.plain = False
        self.past_caches = False
        self.attributes = ""

    def unique(self, wish: str) -> str:
        """A function name not given out before, without its sign."""
        base = _NOT_NAME.sub("_", wish)
        if base[:1].isdigit():
            base = f"v{base}"  # LLVM takes names that begin so for its own numbers
        number = self._names.get(base, 0)
        self._names[base] = number + 1
        return base if number == 0 else f"{base}.{number}"

    def declare(self, name: str, result: str, arguments: str, attributes: str = "") -> str:
        """Declare an external function or intrinsic; returns its name with the sign."""
        text = f"declare {result} @{name}({arguments}) {attributes}".rstrip()
        return self.declare_text(name, text)

    def declare_text(self, name: str, declaration: str) -> str:
        """Add a declaration once; returns the name with the sign."""
        self._declarations.setdefault(name, declaration)
        return f"@{name}"

    def helper(self, name: str, text: str) -> str:
        """Define an internal helper function once; returns its name with the sign."""
        self._helpers.setdefault(name, text)
        return f"@{name}"

    def has_helper(self, name: str) -> bool:
        return name in self._helpers

    def text_constant(self, text: str) -> str:
        """A constant text that ends with a zero byte; returns its name with the sign."""
        if text not in self._texts:
            data = text.encode() + b"\0"
            shown = "".join(chr(c) if chr(c).isalnum() and c < 128 else f"\\{c:02X}" for c in data)
            name = f"@.text.{len(self._texts)}"
            kind = f"[{len(data)} x i8]"
            self._head += f'{name} = private unnamed_addr constant {kind} c"{shown}"\n'
            self._texts[text] = name
        return self._texts[text]

    def metadata(self, node: str) -> str:
        """Add a node of metadata; returns its number with the sign."""
        self._metadata.append(f"!{len(self._metadata)} = {node}")
        return f"!{len(self._metadata) - 1}"

    def shared_metadata(self, node: str) -> str:
        """The number, with the sign, of a node of metadata that is written once."""
        if node not in self._shared_nodes:
            self._shared_nodes[node] = self.metadata(node)
        return self._shared_nodes[node]

    def define(self, function: FunctionText) -> None:
        """Add a finished function."""
        self._functions.append(function.render())

    def define_text(self, text: str) -> None:
        """Add a function written out by hand."""
        self._functions.append(text)

    def loop_metadata(self, unroll: int | None = None) -> str:
        """Metadata for a loop's back edge: vectors and unrolling are the schedule's business."""
        number = len(self._metadata)
        count = f"!{number + 2}"
        control = (
            '!{!"llvm.loop.unroll.disable"}'
            if unroll is None
            else f'!{{!"{UNROLL}", i32 {unroll}}}'
        )
        self._metadata += [
            f"!{number} = distinct !{{!{number}, !{number + 1}, {count}}}",
            f'!{number + 1} = !{{!"llvm.loop.vectorize.enable", i1 false}}',
            f"{count} = {control}",
        ]
        return f"!llvm.loop !{number}"

    def render(self) -> str:
        mark = RECURRENCE if self.recurs else PLAIN if self.plain and not self.reloads else ""
        parts = [mark + self._head, *self._functions, *self._helpers.values()]
        parts.append("\n".join(self._declarations.values()))
        parts += [self.attributes, "\n".join(self._metadata)]
        return "\n".join(part for part in parts if part) + "\n"
