"""Bare numbers of the text form, and the type that each takes from its place."""

from __future__ import annotations

import ast

from tvmlab.support import FLOAT32, INDEX, DType

from .expr import Broadcast, Const, Expr, Scalar
from .parse_source import Source


def is_untyped(node: ast.expr) -> bool:
    """Whether an expression is made of bare numbers only, so that its place decides its type."""
    if isinstance(node, ast.BinOp):
        return is_untyped(node.left) and is_untyped(node.right)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return is_untyped(node.operand)
    return isinstance(node, ast.Constant) and type(node.value) in (int, float)


def has_point(node: ast.expr) -> bool:
    """Whether some number of an expression is written with a point."""
    return any(isinstance(n, ast.Constant) and isinstance(n.value, float) for n in ast.walk(node))


def kind_name(node: ast.expr) -> str:
    """What a reader calls a kind of Python expression."""
    names: dict[type[ast.expr], str] = {
        ast.Lambda: "a lambda", ast.List: "a list", ast.Dict: "a dictionary", ast.Set: "a set",
        ast.ListComp: "a comprehension", ast.GeneratorExp: "a comprehension",
        ast.Attribute: "an attribute", ast.Tuple: "a tuple", ast.JoinedStr: "an f-string",
        ast.Slice: "a range", ast.NamedExpr: "an assignment", ast.Starred: "a starred value",
    }  # fmt: skip
    return names.get(type(node), f"Python's {type(node).__name__}")


def typed_literal(source: Source, node: ast.expr, value: Scalar, like: DType | None) -> Expr:
    """A number as a literal of the type that its place asks for, or of the usual one."""
    to = like or (FLOAT32 if isinstance(value, float) else INDEX)
    if to.is_int:
        if isinstance(value, float):
            source.fail(
                node,
                f"{value!r} is not a whole number, and a value of type {to} is needed here",
                "convert the other side to a float type first, as in float32(x)",
            )
        if not to.min_value <= value <= to.max_value:
            source.fail(node, f"{value} does not fit into {to} ({to.min_value} to {to.max_value})")
    scalar = Const(value, to.scalar)
    return scalar if to.lanes == 1 else Broadcast(scalar, to.lanes)
