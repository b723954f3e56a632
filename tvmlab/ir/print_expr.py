"""Expressions as text: Python's operators with as few parentheses as they need.

A bare whole number is of the index type, a bare number with a point is float32, `True` is bool; a
literal of any other type says so: `int8(3)`, `float64(0.5)`, `float32("inf")`. A masked access is
written `A.masked(mask)[index]`. An expression is printed from its leaves up, without recursion.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from tvmlab.support import FLOAT32, INDEX

from .buffer import Region
from .expr import (
    Binary,
    Broadcast,
    Buffer,
    Call,
    Cast,
    Compare,
    Const,
    Expr,
    Load,
    Logic,
    Not,
    Ramp,
    Select,
    Stride,
    Var,
    const,
    const_int,
    is_const,
)
from .naming import Names
from .op_table import CALLS, SYMBOL
from .traverse import post_order
from .type_table import TypeTable

Piece: TypeAlias = tuple[str, int]
"""A printed expression and how tightly its outermost operator binds."""

UNARY, ATOM = 11, 12
NOT, COMPARE = 3, 4

INFIX: dict[str, tuple[str, int]] = {
    "or": ("or", 1),
    "and": ("and", 2),
    "eq": ("==", COMPARE), "ne": ("!=", COMPARE), "lt": ("<", COMPARE),
    "le": ("<=", COMPARE), "gt": (">", COMPARE), "ge": (">=", COMPARE),
    "bitor": ("|", 5), "bitxor": ("^", 6), "bitand": ("&", 7),
    "shl": ("<<", 8), "shr": (">>", 8),
    "add": ("+", 9), "sub": ("-", 9),
    "mul": ("*", 10), "div": ("/", 10), "floordiv": ("//", 10), "floormod": ("%", 10),
}  # fmt: skip
"""Operators that Python has, with their precedence; all others are written as functions."""


class ExprPrinter:
    """Prints expressions with the names given."""

    def __init__(self, names: Names) -> None:
        self.names = names
        self._done: dict[int, Piece] = {}

    def text(self, e: Expr) -> str:
        """The text of one expression."""
        if type(e) is Var:
            return self.names[e]
        if type(e) is Const:
            return const_text(e)
        self._done = {}
        for node in post_order(e):
            self._done[id(node)] = _RULES[type(node)](self, node)
        return self._done[id(e)][0]

    def texts(self, exprs: Sequence[Expr]) -> str:
        """Expressions joined by commas."""
        return ", ".join(self.text(e) for e in exprs)

    def tuple(self, exprs: Sequence[Expr]) -> str:
        """Expressions as a tuple of Python."""
        return f"({self.texts(exprs)}{',' * (len(exprs) == 1)})"

    def access(self, buffer: Buffer, indices: Sequence[Expr], mask: Expr | None) -> str:
        """An element of a buffer, as the target of a store."""
        masked = "" if mask is None else f".masked({self.text(mask)})"
        return f"{self.names[buffer]}{masked}[{self.texts(indices) or '()'}]"

    def region(self, region: Region) -> str:
        """A box of a buffer: `A[i, 0:4]` is one row of four elements."""
        parts = [self._range(m, n) for m, n in zip(region.mins, region.extents, strict=True)]
        return f"{self.names[region.buffer]}[{', '.join(parts) or '()'}]"

    def _range(self, start: Expr, extent: Expr) -> str:
        if is_const(extent, 1):
            return self.text(start)
        first, count = const_int(start), const_int(extent)
        if first == 0:
            return f"0:{self.text(extent)}"
        if first is not None and count is not None and first + count <= start.dtype.max_value:
            return f"{self.text(start)}:{self.text(const(first + count, start.dtype))}"
        return f"{self.text(start)}:{self.text(Binary('add', start, extent))}"

    def piece(self, e: Expr) -> Piece:
        """The text and precedence of a part that is already printed."""
        return self._done[id(e)]

    def inner(self, e: Expr) -> str:
        """The text of a part where any operator may stand, such as an argument."""
        return self._done[id(e)][0]

    def joined(self, exprs: Sequence[Expr]) -> str:
        return ", ".join(self._done[id(e)][0] for e in exprs)


def const_text(e: Const, *, typed: bool = False) -> str:
    """A literal, with its type where it is not the usual one or where `typed` asks for it."""
    if e.dtype.is_bool:
        return f"bool({bool(e.value)})" if typed else str(bool(e.value))
    bare = repr(e.value)
    if e.dtype.is_float and not math.isfinite(e.value):
        return f'{e.dtype}("{bare}")'
    return bare if not typed and e.dtype in (INDEX, FLOAT32) else f"{e.dtype}({bare})"


def _const(_: ExprPrinter, e: Const) -> Piece:
    text = const_text(e)
    return text, UNARY if text.startswith("-") else ATOM


def _var(out: ExprPrinter, e: Var) -> Piece:
    return out.names[e], ATOM


def _binary(out: ExprPrinter, e: Binary | Compare | Logic) -> Piece:
    infix = INFIX.get(e.op)
    if infix is None or (isinstance(e, Binary) and e.dtype.is_bool):
        return f"{e.op}({out.joined((e.a, e.b))})", ATOM
    sign, level = infix
    left, left_level = out.piece(e.a)
    right, right_level = out.piece(e.b)
    # Python groups to the left, and chains comparisons instead of grouping them at all.
    if left_level < level or (left_level == level == COMPARE):
        left = f"({left})"
    if right_level <= level:
        right = f"({right})"
    return f"{left} {sign} {right}", level


def _not(out: ExprPrinter, e: Not) -> Piece:
    text, level = out.piece(e.a)
    return f"not {text}" if level >= NOT else f"not ({text})", NOT


def _select(out: ExprPrinter, e: Select) -> Piece:
    return f"select({out.joined((e.cond, e.then, e.otherwise))})", ATOM


def _cast(out: ExprPrinter, e: Cast) -> Piece:
    inner = e.value
    text = const_text(inner, typed=True) if isinstance(inner, Const) else out.inner(inner)
    return f"{e.dtype}({text})", ATOM


def _load(out: ExprPrinter, e: Load) -> Piece:
    masked = "" if e.mask is None else f".masked({out.inner(e.mask)})"
    return f"{out.names[e.buffer]}{masked}[{out.joined(e.indices) or '()'}]", ATOM


def _stride(out: ExprPrinter, e: Stride) -> Piece:
    return f"{out.names[e.buffer]}.stride({e.axis})", ATOM


def _call(out: ExprPrinter, e: Call) -> Piece:
    if e.op.startswith(SYMBOL):
        name = e.op.removeprefix(SYMBOL)
        return f'symbol("{name}", {out.joined(e.args)}, dtype="{e.dtype}")', ATOM
    usual = CALLS[e.op].result_type(e.args[0].dtype)
    extra = "" if e.dtype == usual else f', dtype="{e.dtype}"'
    return f"{e.op}({out.joined(e.args)}{extra})", ATOM


def _ramp(out: ExprPrinter, e: Ramp) -> Piece:
    return f"ramp({out.joined((e.base, e.stride))}, {e.lanes})", ATOM


def _broadcast(out: ExprPrinter, e: Broadcast) -> Piece:
    return f"broadcast({out.inner(e.value)}, {e.lanes})", ATOM


_RULES: TypeTable[Callable[[ExprPrinter, Any], Piece]] = TypeTable(
    {
        Const: _const,
        Var: _var,
        Binary: _binary,
        Compare: _binary,
        Logic: _binary,
        Not: _not,
        Select: _select,
        Cast: _cast,
        Load: _load,
        Stride: _stride,
        Call: _call,
        Ramp: _ramp,
        Broadcast: _broadcast,
    }
)
