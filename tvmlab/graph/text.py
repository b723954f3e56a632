"""Graphs as text that can be read back.

>>> print(to_text(graph))                                          # doctest: +SKIP
graph double(x: float32[n, 4]) -> (add):
    add: float32[n, 4] = add(x, x)

Names that are no words of a programming language are quoted. Parameters are declared by type; their
values are no part of the text.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

import numpy as np

from tvmlab.support import DType, ParseError

from .dims import as_dim
from .ir import Array, Attribute, Graph, Node, check
from .types import TensorType

_WORD = re.compile(r"[A-Za-z_]\w*\Z")
_TOKEN = re.compile(
    r'\s*(?:("(?:[^"\\]|\\.)*")|(->)|([A-Za-z_]\w*)|(-?(?:\d[\w.+-]*|inf|nan))|(.))'
)


def to_text(graph: Graph) -> str:
    """A graph as text; `parse` reads it back."""
    inputs = ", ".join(f"{_name(i)}: {graph.types[i]}" for i in graph.inputs)
    outputs = ", ".join(_name(o) for o in graph.outputs)
    lines = [f"graph {_name(graph.name)}({inputs}) -> ({outputs}):"]
    lines += [f"    param {_name(p)}: {graph.types[p]}" for p in graph.params]
    lines += [f"    {node_text(graph, node)}" for node in graph.nodes]
    return "\n".join(lines) + "\n"


def node_text(graph: Graph, node: Node) -> str:
    """One node, with the types of what it makes."""
    made = ", ".join(f"{_name(o)}: {graph.types[o]}" if o else "_" for o in node.outputs)
    inputs = [_name(i) if i else "_" for i in node.inputs]
    attrs = [f"{key}={_attribute(value)}" for key, value in node.attrs.items()]
    own = "" if node.name in ("", node.outputs[0]) else f" @ {_name(node.name)}"
    return f"{made} = {node.op}({', '.join([*inputs, *attrs])}){own}"


def parse(text: str, params: Mapping[str, Array] | None = None) -> Graph:
    """The graph of a text.

    Parameters
    ----------
    params
        Arrays of parameters; those that are missing are zeros.

    Raises
    ------
    ParseError
        It says what was expected, and in which line.
    """
    lines = [(n, line) for n, line in enumerate(text.splitlines(), 1) if line.strip()]
    if not lines:
        raise ParseError("the text of a graph is empty")
    reader = _Reader(*lines[0])
    reader.word("graph")
    name = reader.name()
    types: dict[str, TensorType] = {}
    inputs = [_declaration(reader, types) for _ in reader.items("(", ")")]
    reader.sign("->")
    outputs = [reader.name() for _ in reader.items("(", ")")]
    reader.sign(":")
    arrays: dict[str, Array] = {}
    nodes: list[Node] = []
    for number, line in lines[1:]:
        reader = _Reader(number, line)
        if line.split()[0] == "param" and "=" not in line:
            reader.word("param")
            declared = _declaration(reader, types)
            type_ = types[declared]
            given = (params or {}).get(declared)
            arrays[declared] = np.zeros(type_.sizes, type_.dtype.numpy) if given is None else given
        else:
            nodes.append(_node(reader, types))
        reader.end()
    return check(Graph(name, tuple(inputs), tuple(outputs), tuple(nodes), types, arrays))


def _declaration(reader: _Reader, types: dict[str, TensorType]) -> str:
    name = reader.name()
    reader.sign(":")
    dtype = DType.of(reader.name())
    types[name] = TensorType.of(dtype, [as_dim(s) for s in reader.sizes()])
    return name


def _node(reader: _Reader, types: dict[str, TensorType]) -> Node:
    outputs: list[str] = []
    while True:
        outputs.append("" if reader.taken("_") else _declaration(reader, types))
        if not reader.taken(","):
            break
    reader.sign("=")
    op = reader.name()
    inputs: list[str] = []
    attrs: dict[str, Attribute] = {}
    for _ in reader.items("(", ")"):
        name = "" if reader.taken("_") else reader.name()
        if name and reader.taken("="):
            attrs[name] = reader.value()
        else:
            inputs.append(name)
    own = reader.name() if reader.taken("@") else next((o for o in outputs if o), "")
    return Node(op, tuple(inputs), tuple(outputs), attrs, own)


class _Reader:
    """The words of one line, taken from the left."""

    def __init__(self, number: int, line: str) -> None:
        self.number, self.line = number, line
        found = [m for m in _TOKEN.finditer(line) if m.group().strip()]
        self.tokens = [m.group().strip() for m in found]
        self.places = [m.end() - len(m.group().strip()) for m in found]
        self.at = 0

    def fail(self, wanted: str) -> ParseError:
        here = repr(self.tokens[self.at]) if self.at < len(self.tokens) else "the end"
        return ParseError(f"line {self.number}: {wanted} was expected, not {here}: {self.line}")

    def taken(self, sign: str) -> bool:
        if self.at < len(self.tokens) and self.tokens[self.at] == sign:
            self.at += 1
            return True
        return False

    def sign(self, sign: str) -> None:
        if not self.taken(sign):
            raise self.fail(repr(sign))

    word = sign

    def name(self) -> str:
        token = self.tokens[self.at] if self.at < len(self.tokens) else ""
        if token.startswith('"'):
            self.at += 1
            return str(json.loads(token))
        if not _WORD.match(token):
            raise self.fail("a name")
        self.at += 1
        return token

    def items(self, opening: str, closing: str) -> Any:
        """Once for each item between two signs."""
        self.sign(opening)
        while not self.taken(closing):
            yield
            if not self.taken(","):
                self.sign(closing)
                return

    def sizes(self) -> list[str]:
        """The formulas of a shape."""
        self.sign("[")
        depth, start = 0, self.at
        while self.at < len(self.tokens) and not (depth == 0 and self.tokens[self.at] == "]"):
            depth += {"(": 1, ")": -1}.get(self.tokens[self.at], 0)
            self.at += 1
        inside = self.tokens[start : self.at]
        self.sign("]")
        return _split(inside)

    def value(self) -> Attribute:
        if self.at < len(self.tokens) and self.tokens[self.at] == "[":
            return tuple(self._scalar() for _ in self.items("[", "]"))
        return self._scalar()

    def _scalar(self) -> Any:
        token = self.tokens[self.at] if self.at < len(self.tokens) else ""
        self.at += 1
        if token.startswith('"'):
            return json.loads(token)
        if token in ("True", "False"):
            return token == "True"
        try:
            return int(token)
        except ValueError:
            pass
        try:
            return float(token)
        except ValueError:
            self.at -= 1
            raise self.fail("a number, a text or a truth value") from None

    def end(self) -> None:
        if self.at < len(self.tokens):
            raise self.fail("the end of the line")


def _split(tokens: list[str]) -> list[str]:
    """Formulas between commas that stand in no brackets."""
    parts, depth = [list[str]()], 0
    for token in tokens:
        depth += {"(": 1, ")": -1}.get(token, 0)
        if token == "," and depth == 0:
            parts.append([])
        else:
            parts[-1].append(token)
    return [" ".join(p) for p in parts if p]


def _name(name: str) -> str:
    return name if _WORD.match(name) and name not in ("_", "param") else json.dumps(name)


def _attribute(value: Attribute) -> str:
    if isinstance(value, tuple):
        return f"[{', '.join(_attribute(v) for v in value)}]"
    if isinstance(value, str):
        return json.dumps(value)
    return repr(value)
