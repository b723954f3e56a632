"""Reads expressions of the text form.

A bare number takes the type that its place asks for: that of the other operand, or of the buffer
that is stored to. Where nothing asks, a whole number is of the index type and a number with a point
is float32. Beyond what the printer writes, `-x`, `a if c else b` and `0 <= i < n` are understood.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from typing import Any, cast

from tvmlab.support import BOOL, FLOAT32, INDEX, DType, ParseError, TvmlabError, TypeMismatch

from .buffer import Region
from .expr import (
    Binary,
    BinaryOp,
    Broadcast,
    Buffer,
    Call,
    Cast,
    Compare,
    CompareOp,
    Const,
    Expr,
    Load,
    Logic,
    Not,
    Ramp,
    Scalar,
    Select,
    Stride,
    as_size,
    const,
    const_int,
)
from .op_table import CALLS, SYMBOL
from .parse_literal import has_point, is_untyped, kind_name, typed_literal
from .parse_source import Source, near_miss
from .structural import structural_equal

Symbols = dict[str, "Expr | Buffer"]

_BINARY: dict[type[ast.operator], BinaryOp] = {
    ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.Div: "div", ast.FloorDiv: "floordiv",
    ast.Mod: "floormod", ast.BitAnd: "bitand", ast.BitOr: "bitor", ast.BitXor: "bitxor",
    ast.LShift: "shl", ast.RShift: "shr",
}  # fmt: skip
_COMPARE: dict[type[ast.cmpop], CompareOp] = {
    ast.Eq: "eq", ast.NotEq: "ne", ast.Lt: "lt", ast.LtE: "le", ast.Gt: "gt", ast.GtE: "ge",
}  # fmt: skip
_BINARY_CALLS: dict[str, BinaryOp] = {
    "min": "min", "max": "max", "truncdiv": "truncdiv", "truncmod": "truncmod",
    "bitand": "bitand", "bitor": "bitor", "bitxor": "bitxor", "add": "add", "sub": "sub",
    "mul": "mul", "div": "div", "floordiv": "floordiv", "floormod": "floormod",
    "shl": "shl", "shr": "shr",
}  # fmt: skip
_FUNCTIONS = (*_BINARY_CALLS, "select", "ramp", "broadcast", *CALLS, "float32", "int32", "int64")


class ExprParser:
    """Turns syntax nodes into expressions; `symbols` are the names that may be used."""

    def __init__(self, source: Source, symbols: Mapping[str, Expr | Buffer]) -> None:
        self.source = source
        self.symbols: Symbols = dict(symbols)

    def expr(self, node: ast.expr, like: DType | None = None) -> Expr:
        """The expression of a syntax node; `like` is the type that a bare number takes."""
        rule = _RULES.get(type(node))
        if rule is None:
            self.source.fail(
                node,
                f"{kind_name(node)} cannot be part of a tensor program",
                "expressions are made of numbers, variables, A[i, j], + - * / // %, "
                "comparisons, and, or, not, and functions such as min, select, exp",
            )
        try:
            return rule(self, node, like)
        except ParseError:
            raise
        except TvmlabError as error:
            self.source.fail(node, error.message, error.hint)

    def pair(
        self, whole: ast.expr, a: ast.expr, b: ast.expr, like: DType | None = None
    ) -> tuple[Expr, Expr]:
        """Two operands of one type; one that is only numbers takes the type of the other."""
        left, right = self._operands(a, b, like)
        if left.dtype != right.dtype:
            self.source.fail(
                whole,
                f"the two sides have different types, {left.dtype} and {right.dtype}",
                f"convert one of them, as in {right.dtype}({ast.unparse(a)})",
            )
        return left, right

    def _operands(self, a: ast.expr, b: ast.expr, like: DType | None) -> tuple[Expr, Expr]:
        if is_untyped(a) and not is_untyped(b):
            right = self.expr(b, like)
            return self.expr(a, right.dtype), right
        if is_untyped(a):
            like = like or (FLOAT32 if has_point(a) or has_point(b) else None)
            return self.expr(a, like), self.expr(b, like)
        left = self.expr(a, like)
        return left, self.expr(b, left.dtype)

    def number(self, node: ast.expr) -> Scalar | None:
        """The value of a literal number or truth value, with its sign, else None."""
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            value = self.number(node.operand)
            return None if value is None or isinstance(value, bool) else -value
        if isinstance(node, ast.Constant) and isinstance(node.value, (int, float)):
            return node.value
        return None

    def buffer(self, node: ast.expr) -> Buffer:
        """The buffer that a name stands for."""
        if not isinstance(node, ast.Name):
            self.source.fail(node, "only a buffer can be indexed with [...]")
        found = self.symbols.get(node.id)
        if isinstance(found, Buffer):
            return found
        buffers = [name for name, symbol in self.symbols.items() if isinstance(symbol, Buffer)]
        said = "is not a buffer" if found is not None else "is not defined here"
        self.source.fail(node, f"{node.id} {said}", near_miss(node.id, buffers))

    def access(self, node: ast.Subscript) -> tuple[Buffer, tuple[Expr, ...], Expr | None]:
        """`A[i, j]` or `A.masked(mask)[i, j]`: the buffer, the indices and the mask."""
        target, mask = node.value, None
        if isinstance(target, ast.Call) and isinstance(target.func, ast.Attribute):
            call, function = target, target.func
            if function.attr != "masked" or len(call.args) != 1 or call.keywords:
                self.source.fail(call, "only `.masked(condition)` may follow a buffer's name")
            mask, target = self.expr(call.args[0]), function.value
        buffer = self.buffer(target)
        indices = tuple(as_size(self.expr(self._no_slice(part))) for part in index_parts(node))
        return buffer, indices, mask

    def region(self, node: ast.expr) -> Region:
        """`A[i, 0:4]`: for each dimension one index, or a range with its end left out."""
        if not isinstance(node, ast.Subscript):
            self.source.fail(node, "a region is written A[i, 0:4]")
        buffer = self.buffer(node.value)
        ranges = [self._range(part) for part in index_parts(node)]
        if len(ranges) != len(buffer.shape):
            self.source.fail(
                node,
                f"this region of {buffer.name} has {len(ranges)} dimension(s), "
                f"{buffer.name} has {len(buffer.shape)}",
            )
        return Region(buffer, tuple(m for m, _ in ranges), tuple(n for _, n in ranges))

    def _range(self, node: ast.expr) -> tuple[Expr, Expr]:
        if not isinstance(node, ast.Slice):
            return self.expr(node), const(1)
        if node.lower is None or node.upper is None or node.step is not None:
            self.source.fail(node, "a range of a region has a first index and an end: 0:4")
        start, stop = self.pair(node, node.lower, node.upper)
        first, last = const_int(start), const_int(stop)
        if first == 0:
            return start, stop
        if first is not None and last is not None:
            return start, const(last - first, start.dtype)
        if isinstance(stop, Binary) and stop.op == "add" and structural_equal(stop.a, start):
            return start, stop.b
        return start, stop - start

    def _no_slice(self, node: ast.expr) -> ast.expr:
        if isinstance(node, ast.Slice):
            self.source.fail(node, "one element is read or written at a time, not a range")
        return node


def index_parts(node: ast.Subscript) -> list[ast.expr]:
    """The indices between the brackets."""
    return node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]


def _literal(p: ExprParser, node: ast.Constant, like: DType | None) -> Expr:
    value = node.value
    if isinstance(value, bool):
        return const(value)
    if not isinstance(value, (int, float)):
        p.source.fail(node, f"{value!r} is not a number")
    return typed_literal(p.source, node, value, like)


def _name(p: ExprParser, node: ast.Name, like: DType | None) -> Expr:
    found = p.symbols.get(node.id)
    if isinstance(found, Buffer):
        index = ", ".join("ijkl"[: len(found.shape)]) or "()"
        p.source.fail(
            node,
            f"{node.id} is a buffer; a value is one of its elements",
            f"index it, as in {node.id}[{index}]",
        )
    if found is None:
        p.source.fail(node, f"{node.id} is not defined here", near_miss(node.id, p.symbols))
    if isinstance(found, Const) and like is not None and found.dtype in (INDEX, FLOAT32):
        return typed_literal(p.source, node, found.value, like)
    return found


def _bin_op(p: ExprParser, node: ast.BinOp, like: DType | None) -> Expr:
    op = _BINARY.get(type(node.op))
    if op is None:
        said = "**" if isinstance(node.op, ast.Pow) else "@"
        hint = "write pow(a, b)" if said == "**" else "write the loops of the product out"
        p.source.fail(node, f"`{said}` is not part of the text form", hint)
    a, b = p.pair(node, node.left, node.right, like)
    if a.dtype.is_bool and op in ("bitand", "bitor"):
        return Logic("and" if op == "bitand" else "or", a, b)
    return _binary(op, a, b)


def _binary(op: BinaryOp, a: Expr, b: Expr) -> Expr:
    if op == "div" and a.dtype == b.dtype and not a.dtype.is_float:
        raise TypeMismatch(
            f"`/` is not defined for {a.dtype}",
            hint="use // (rounds down), truncdiv(a, b) (to zero), or float32(a) / float32(b)",
        )
    return Binary(op, a, b)


def _unary(p: ExprParser, node: ast.UnaryOp, like: DType | None) -> Expr:
    if isinstance(node.op, ast.Not):
        return Not(p.expr(node.operand))
    number = p.number(node)
    if number is not None:
        return typed_literal(p.source, node, number, like)
    operand = p.expr(node.operand, like)
    if isinstance(node.op, ast.USub):
        return const(0, operand.dtype) - operand
    return operand if isinstance(node.op, ast.UAdd) else ~operand


def _bool_op(p: ExprParser, node: ast.BoolOp, like: DType | None) -> Expr:
    del like
    result = p.expr(node.values[0])
    for value in node.values[1:]:
        result = Logic("and" if isinstance(node.op, ast.And) else "or", result, p.expr(value))
    return result


def _compare(p: ExprParser, node: ast.Compare, like: DType | None) -> Expr:
    del like
    result: Expr | None = None
    operands = [node.left, *node.comparators]
    for op, left, right in zip(node.ops, operands, operands[1:], strict=False):
        kind = _COMPARE.get(type(op))
        if kind is None:
            p.source.fail(node, "`in` and `is` are not part of the text form", "use == or !=")
        one = Compare(kind, *p.pair(node, left, right))
        result = one if result is None else Logic("and", result, one)
    return cast(Expr, result)


def _if_exp(p: ExprParser, node: ast.IfExp, like: DType | None) -> Expr:
    return Select(p.expr(node.test), *p.pair(node, node.body, node.orelse, like))


def _subscript(p: ExprParser, node: ast.Subscript, like: DType | None) -> Expr:
    del like
    return Load(*p.access(node))


def _call(p: ExprParser, node: ast.Call, like: DType | None) -> Expr:
    if not isinstance(node.func, ast.Name):
        if isinstance(node.func, ast.Attribute) and node.func.attr == "stride":
            return _stride(p, node, node.func)
        p.source.fail(
            node,
            f"{ast.unparse(node.func)}(...) is not a function of the text form",
            "write the bare name, such as exp(x) or max(a, b)",
        )
    name = node.func.id
    if name in CALLS:
        return _table_call(p, name, node, like)
    if name == "symbol":
        return _symbol(p, node)
    if any(keyword.arg is None for keyword in node.keywords) or node.keywords:
        p.source.fail(node, f"{name} takes no keyword arguments")
    if name in _BINARY_CALLS:
        left, right = _arguments(p, name, node, 2)
        a, b = p.pair(node, left, right, like)
        return Binary(_BINARY_CALLS[name], a, b)
    if name in _SPECIAL:
        return _SPECIAL[name](p, node, like)
    try:
        to = DType.of(name)
    except TypeMismatch:
        p.source.fail(
            node.func, f"{name} is not a function of the text form", near_miss(name, _FUNCTIONS)
        )
    return _conversion(p, node, to)


def _stride(p: ExprParser, node: ast.Call, function: ast.Attribute) -> Expr:
    buffer = p.buffer(function.value)
    (given,) = _arguments(p, "stride", node, 1)
    axis = p.number(given)
    if type(axis) is not int or not 0 <= axis < len(buffer.shape):
        p.source.fail(given, f"{buffer.name} has the dimensions 0 to {len(buffer.shape) - 1}")
    return Stride(buffer, axis)


def _arguments(p: ExprParser, name: str, node: ast.Call, count: int) -> list[ast.expr]:
    if len(node.args) != count:
        p.source.fail(node, f"{name} takes {count} argument(s), not {len(node.args)}")
    return node.args


def _conversion(p: ExprParser, node: ast.Call, to: DType) -> Expr:
    """`float32(x)` converts; of a bare number, or "inf" and the like, it is a literal."""
    (argument,) = _arguments(p, to.name, node, 1)
    number = p.number(argument)
    if isinstance(argument, ast.Constant) and argument.value in ("inf", "-inf", "nan"):
        number = float(argument.value)
    if number is None:
        return Cast(p.expr(argument), to)
    if to.is_bool and not isinstance(number, bool):
        return Const(bool(number), BOOL)
    return typed_literal(p.source, argument, number, to)


def _table_call(p: ExprParser, name: str, node: ast.Call, like: DType | None) -> Expr:
    info = CALLS[name]
    to: DType | None = None
    for keyword in node.keywords:
        if keyword.arg != "dtype" or not isinstance(keyword.value, ast.Constant):
            p.source.fail(keyword, f'{name} knows only the keyword argument dtype="..."')
        to = DType.of(cast(Any, keyword.value.value))
    given = _arguments(p, name, node, info.arity)
    guide = like if to is None and info.result == "same" else None
    alike = given if info.others is None else given[:1]
    known = [p.expr(a, guide) for a in alike if not is_untyped(a)]
    first = p.expr(given[0], known[0].dtype if known else guide)
    args = (first, *(p.expr(a, info.argument_type(first.dtype)) for a in given[1:]))
    return Call(name, args, to or info.result_type(args[0].dtype))


def _symbol(p: ExprParser, node: ast.Call) -> Expr:
    """`symbol("name", x, y, dtype="float32")`: a C function of numbers."""
    words = [k.value for k in node.keywords if k.arg == "dtype"]
    texts = [w.value if isinstance(w, ast.Constant) else None for w in (*node.args[:1], *words)]
    name, to = (*texts, None, None)[:2]
    if (
        len(node.keywords) != 1
        or len(node.args) < 2
        or not (isinstance(name, str) and isinstance(to, str) and name)
    ):
        p.source.fail(node, 'a C function is written symbol("name", x, dtype="float32")')
    return Call(SYMBOL + name, tuple(p.expr(a) for a in node.args[1:]), DType.of(to))


def _select(p: ExprParser, node: ast.Call, like: DType | None) -> Expr:
    cond, then, otherwise = _arguments(p, "select", node, 3)
    return Select(p.expr(cond), *p.pair(node, then, otherwise, like))


def _ramp(p: ExprParser, node: ast.Call, like: DType | None) -> Expr:
    base, stride, lanes = _arguments(p, "ramp", node, 3)
    return Ramp(*p.pair(node, base, stride, like and like.scalar), _lanes(p, lanes))


def _broadcast(p: ExprParser, node: ast.Call, like: DType | None) -> Expr:
    value, lanes = _arguments(p, "broadcast", node, 2)
    return Broadcast(p.expr(value, like and like.scalar), _lanes(p, lanes))


def _lanes(p: ExprParser, node: ast.expr) -> int:
    lanes = p.number(node)
    if type(lanes) is not int or lanes < 1:
        p.source.fail(node, "the number of lanes is a literal whole number of at least 1")
    return lanes


_SPECIAL: dict[str, Callable[[ExprParser, ast.Call, DType | None], Expr]] = {
    "select": _select,
    "ramp": _ramp,
    "broadcast": _broadcast,
}

_RULES: dict[type[ast.expr], Callable[[ExprParser, Any, DType | None], Expr]] = {
    ast.Constant: _literal,
    ast.Name: _name,
    ast.BinOp: _bin_op,
    ast.UnaryOp: _unary,
    ast.BoolOp: _bool_op,
    ast.Compare: _compare,
    ast.IfExp: _if_exp,
    ast.Subscript: _subscript,
    ast.Call: _call,
}
