"""Integer arithmetic of formulas: division, remainders, shifts, bits.

Integers of a type wrap around when a result does not fit, signed and unsigned alike. Division by
zero is an error of the program: the interpreter reports it. `//` and `%` round to minus infinity as
Python's do, `truncdiv` and `truncmod` to zero as C's do; for numbers that are not negative they
agree. Shifting right keeps the sign of a signed integer.
"""

from __future__ import annotations

from tvmlab.ir import BinaryOp, Expr, ExprLike, as_expr, binary, logic
from tvmlab.ir import Not as LogicalNot
from tvmlab.support import TypeMismatch


def floordiv(a: ExprLike, b: ExprLike) -> Expr:
    """Division rounding to minus infinity, as Python's `//`."""
    return _integers("floordiv", a, b)


def floormod(a: ExprLike, b: ExprLike) -> Expr:
    """Remainder with the divisor's sign, as Python's `%`."""
    return _integers("floormod", a, b)


def truncdiv(a: ExprLike, b: ExprLike) -> Expr:
    """Integer division rounding to zero, as C's `/`."""
    return _integers("truncdiv", a, b)


def truncmod(a: ExprLike, b: ExprLike) -> Expr:
    """Remainder with the dividend's sign, as C's `%`."""
    return _integers("truncmod", a, b)


def ceildiv(a: ExprLike, b: ExprLike) -> Expr:
    """Integer division rounding up: how many parts of `b` cover `a`, for a positive `b`."""
    x, y = as_expr(a), as_expr(b)
    if isinstance(a, Expr):
        y = as_expr(b, a.dtype)
    elif isinstance(b, Expr):
        x = as_expr(a, b.dtype)
    return floordiv(x + (y - 1), y)


indexdiv = floordiv
indexmod = floormod


def div(a: ExprLike, b: ExprLike) -> Expr:
    """C's division: floats divide, integers divide rounding to zero."""
    typed = a if isinstance(a, Expr) else b
    is_float = typed.dtype.is_float if isinstance(typed, Expr) else isinstance(a, float)
    return binary("div", a, b) if is_float else truncdiv(a, b)


def shift_left(a: ExprLike, b: ExprLike) -> Expr:
    """Bits of `a` moved up by `b` places; those that leave the type are lost."""
    return _integers("shl", a, b)


def shift_right(a: ExprLike, b: ExprLike) -> Expr:
    """Bits of `a` moved down by `b` places, the sign kept: a division rounding down."""
    return _integers("shr", a, b)


def bitwise_and(a: ExprLike, b: ExprLike) -> Expr:
    """Bits that are one in both."""
    return _integers("bitand", a, b)


def bitwise_or(a: ExprLike, b: ExprLike) -> Expr:
    """Bits that are one in either."""
    return _integers("bitor", a, b)


def bitwise_xor(a: ExprLike, b: ExprLike) -> Expr:
    """Bits that differ."""
    return _integers("bitxor", a, b)


def bitwise_not(a: ExprLike) -> Expr:
    """Each bit the other way; for a condition, its opposite."""
    return ~as_expr(a)


def logical_and(a: ExprLike, b: ExprLike) -> Expr:
    """Whether both conditions hold."""
    return logic("and", a, b)


def logical_or(a: ExprLike, b: ExprLike) -> Expr:
    """Whether one of two conditions holds."""
    return logic("or", a, b)


def logical_not(a: ExprLike) -> Expr:
    """Whether a condition does not hold."""
    return LogicalNot(as_expr(a))


def _integers(op: BinaryOp, a: ExprLike, b: ExprLike) -> Expr:
    for x in (a, b):
        value = x if isinstance(x, Expr) else as_expr(x)
        whole = value.dtype.is_int or (value.dtype.is_bool and op.startswith("bit"))
        if not whole and not (op.startswith("floor") and value.dtype.is_float):
            raise TypeMismatch(
                f"{_WORDS[op]} is for integers, not for {value.dtype}",
                hint='cast it first: x.astype("int32")',
            )
    return binary(op, a, b)


_WORDS: dict[str, str] = {
    "floordiv": "te.floordiv", "floormod": "te.floormod", "truncdiv": "te.truncdiv",
    "truncmod": "te.truncmod", "shl": "te.shift_left", "shr": "te.shift_right",
    "bitand": "te.bitwise_and", "bitor": "te.bitwise_or", "bitxor": "te.bitwise_xor",
}  # fmt: skip
