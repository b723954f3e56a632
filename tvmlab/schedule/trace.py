"""The steps of a schedule as data: printed as Python that repeats them, stored as JSON.

A step names loops by symbol. When a trace is written out, each loop gets a readable name: that of
the step which returned it, or of a `loops(block)` query put in just before its first use. Blocks
and buffers are named by their names, which are unique within a program.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias, Union

from tvmlab.arith import IndexMap
from tvmlab.ir import BlockSymbol, Buffer, Program, Var
from tvmlab.support import InternalError, Namer, ParseError, fields_of, items_of

from .index import index_of
from .registry import PRIMITIVES
from .rewrite import Output

FORMAT = "tvmlab-trace"
VERSION = 1

Plain: TypeAlias = Union[bool, int, float, str, list["Plain"], dict[str, "Plain"], None]


@dataclass(frozen=True, slots=True)
class Step:
    """One applied primitive: its arguments by name, what it returned, and the program before."""

    primitive: str
    args: Mapping[str, Any]
    outputs: tuple[Output, ...]
    before: Program


@dataclass(frozen=True, slots=True)
class Instruction:
    """A line of a written trace: a query for loops, or a primitive, with names for symbols.

    `listed` says that its method returns a list, even of one.
    """

    op: str
    args: dict[str, Any]
    outputs: tuple[str, ...]
    listed: bool = False

    def to_plain(self) -> dict[str, Plain]:
        """As data for JSON."""
        return {"op": self.op, "args": _plain_args(self.args), "out": list(self.outputs)}


@dataclass(frozen=True, slots=True)
class Trace:
    """The steps from the unscheduled program to a state."""

    steps: tuple[Step, ...]

    def __len__(self) -> int:
        return len(self.steps)

    def instructions(self) -> list[Instruction]:
        """The steps with names, and the loop queries that they need."""
        return list(StepWriter().write(self.steps))

    def to_python(self, schedule: str = "sch") -> str:
        """Python that repeats the steps on a fresh schedule of the same program."""
        return "\n".join(_python_line(i, schedule) for i in self.instructions())

    def lines_by_step(self, schedule: str = "sch") -> list[list[str]]:
        """The lines of `to_python`, those of each step by themselves."""
        writer = StepWriter()
        return [[_python_line(i, schedule) for i in writer.write((step,))] for step in self.steps]

    def to_json(self) -> str:
        """The trace as JSON text, for files and logs."""
        lines = [i.to_plain() for i in self.instructions()]
        return json.dumps({"format": FORMAT, "version": VERSION, "steps": lines})


def read_json(text: str) -> list[Instruction]:
    """The instructions of a trace written by `Trace.to_json`.

    Raises
    ------
    ParseError
        If the text is not JSON, not a trace, of a newer version, or names unknown primitives.
    """
    try:
        data = json.loads(text)
    except (ValueError, RecursionError, TypeError) as error:
        raise ParseError(f"the trace is not valid JSON: {error}") from error
    fields = fields_of(data)
    if fields is None or fields.get("format") != FORMAT:
        raise ParseError(
            "this JSON is not a tvmlab trace", hint="write one with sch.trace.to_json()"
        )
    if fields.get("version") != VERSION:
        raise ParseError(
            f"this trace has version {fields.get('version')!r}; this tvmlab reads version {VERSION}"
        )
    steps = items_of(fields.get("steps"))
    if steps is None:
        raise ParseError("the trace has no list of steps")
    return [read_step(number, step) for number, step in enumerate(steps)]


def read_step(number: int, step: object) -> Instruction:
    """One instruction from data that `Instruction.to_plain` made."""
    fields = fields_of(step)
    if fields is None:
        raise ParseError(f"step {number} of the trace is not an object")
    op, args, out = fields.get("op"), fields_of(fields.get("args")), items_of(fields.get("out"))
    names = tuple(name for name in out or () if isinstance(name, str))
    if not isinstance(op, str) or args is None or out is None or len(names) != len(out):
        raise ParseError(f"step {number} of the trace needs op, args and out")
    if op != "loops" and op not in PRIMITIVES:
        raise ParseError(f"step {number} of the trace names {op!r}, which is no schedule primitive")
    if op == "loops" and not isinstance(args.get("block"), str):
        raise ParseError(f"step {number} of the trace asks for loops without naming a block")
    return Instruction(op, args, names)


RETURN_ONE = ("fuse", "skew")
"""Primitives whose method returns one loop instead of a list of loops."""


class StepWriter:
    """Gives names to symbols while walking over steps; they hold for all that one writer saw."""

    def __init__(self) -> None:
        self.namer = Namer()

    def write(self, steps: Sequence[Step]) -> Iterator[Instruction]:
        for step in steps:
            yield from self._queries(step)
            args = {name: self._named(value) for name, value in _told(step).items()}
            outputs = tuple(self._output(o) for o in step.outputs)
            loops = all(isinstance(o, Var) for o in step.outputs)
            listed = loops and step.primitive not in RETURN_ONE
            yield Instruction(step.primitive, args, outputs, listed)

    def _queries(self, step: Step) -> Iterator[Instruction]:
        for var in _loops_in(step.args.values()):
            if var not in self.namer:
                yield self._query(step.before, var)

    def _query(self, program: Program, var: Var) -> Instruction:
        index = index_of(program)
        for block in index.blocks.values():
            loops = [lp.var for lp in index.loops_around(block)]
            if var in loops:
                names = tuple(self.namer.name(v, v.name) for v in loops)
                return Instruction("loops", {"block": block.name}, names, listed=True)
        raise InternalError(f"loop {var.name} of a recorded step is not in the program before it")

    def _named(self, value: Any) -> Any:
        if isinstance(value, Var):
            return _Name(self.namer.name(value, value.name))
        if isinstance(value, (BlockSymbol, Buffer)):
            return value.name
        if isinstance(value, IndexMap):
            return _Code(value)
        items = items_of(value)
        return value if items is None else [self._named(item) for item in items]

    def _output(self, symbol: Output) -> str:
        return self.namer.name(symbol, symbol.name)


def _told(step: Step) -> dict[str, Any]:
    """The arguments of a step, without those that only say what is usual."""
    usual = {
        spec.name: spec.default
        for spec in PRIMITIVES[step.primitive].params
        if not spec.required and spec.kind != "scope"
    }
    return {
        name: value
        for name, value in step.args.items()
        if name not in usual or value is not usual[name]
    }


class _Name(str):
    """The name of a Python variable, not a string literal."""

    __slots__ = ()


class _Code(str):
    """Text that is Python as it stands; in JSON a text like any other."""

    __slots__ = ()


def _loops_in(values: Iterable[object]) -> Iterator[Var]:
    for value in values:
        if isinstance(value, Var):
            yield value
        else:
            yield from _loops_in(items_of(value) or ())


def _python_line(instruction: Instruction, schedule: str) -> str:
    positional: list[str] = []
    expected = _parameters(instruction.op)
    for number, (name, value) in enumerate(instruction.args.items()):
        items = items_of(value)
        if items and all(isinstance(item, _Name) for item in items):
            positional += [_python(item) for item in items]
        elif expected[number : number + 1] in ([], [name]):
            positional.append(_python(value))
        else:
            positional.append(f"{name}={_python(value)}")
    call = f"{schedule}.{instruction.op}({', '.join(positional)})"
    if not instruction.outputs:
        return call
    targets = ", ".join(instruction.outputs)
    one_of_a_list = instruction.listed and len(instruction.outputs) == 1
    return f"{targets}{',' if one_of_a_list else ''} = {call}"


def _parameters(op: str) -> list[str]:
    return [spec.name for spec in PRIMITIVES[op].params] if op in PRIMITIVES else []


def _python(value: Any) -> str:
    if isinstance(value, (_Name, _Code)):
        return str(value)
    items = items_of(value)
    if items is not None:
        return "[" + ", ".join(_python(item) for item in items) + "]"
    return json.dumps(value) if isinstance(value, str) else repr(value)


def _plain_args(args: dict[str, Any]) -> dict[str, Plain]:
    return {name: _plain(value) for name, value in args.items()}


def _plain(value: Any) -> Plain:
    if isinstance(value, _Name):
        return {"loop": str(value)}
    items = items_of(value)
    return value if items is None else [_plain(item) for item in items]
