"""Expressions: immutable trees of scalar or vector values.

Nodes hold data and check it; behavior (printing, evaluating, simplifying) lives elsewhere.
Operators on expressions fold two constants and nothing more: everything cleverer is asked for from
`arith`. `==` is a condition where one is wanted, and else compares objects (`Equality`).
"""

from __future__ import annotations

from dataclasses import field
from typing import Any, Literal, TypeAlias, Union

import numpy as np

from tvmlab.support import (
    BOOL,
    FLOAT32,
    INDEX,
    DType,
    Readable,
    TypeMismatch,
    node,
    set_derived,
    shown,
)

from .equality import Equality
from .folding import BinaryOp, CompareOp, Scalar, fold_compare, fold_int, wrap_int
from .mixed import RULE, is_whole, type_beside
from .number import Number
from .op_table import call_info

LogicOp = Literal["and", "or"]
Scope: TypeAlias = str
"""Where a buffer lives. "global", "shared" (the threads of one block), "warp", "local" (private to
one iteration of the loops around it: stack or registers), "register" (one SSA value made by
register promotion), or the name of an accelerator's memory such as "accel.input"."""
SCOPES = ("global", "shared", "warp", "local", "register")
ExprLike: TypeAlias = Union["Expr", Equality, int, float, bool, "np.generic[Any]"]


class Expr(Readable):
    """Base of all expressions; gives them Python's arithmetic and ordering operators."""

    __slots__ = ()
    dtype: DType

    def astype(self, dtype: DType | str) -> Expr:
        """The value converted to another element type."""
        return cast(self, dtype)

    def __add__(self, other: ExprLike) -> Expr:
        return binary("add", self, other) if not is_whole(other) else NotImplemented

    def __radd__(self, other: ExprLike) -> Expr:
        return binary("add", other, self)

    def __sub__(self, other: ExprLike) -> Expr:
        return binary("sub", self, other) if not is_whole(other) else NotImplemented

    def __rsub__(self, other: ExprLike) -> Expr:
        return binary("sub", other, self)

    def __mul__(self, other: ExprLike) -> Expr:
        return binary("mul", self, other) if not is_whole(other) else NotImplemented

    def __rmul__(self, other: ExprLike) -> Expr:
        return binary("mul", other, self)

    def __truediv__(self, other: ExprLike) -> Expr:
        return binary("div", self, other) if not is_whole(other) else NotImplemented

    def __rtruediv__(self, other: ExprLike) -> Expr:
        return binary("div", other, self)

    def __floordiv__(self, other: ExprLike) -> Expr:
        return binary("floordiv", self, other)

    def __rfloordiv__(self, other: ExprLike) -> Expr:
        return binary("floordiv", other, self)

    def __mod__(self, other: ExprLike) -> Expr:
        return binary("floormod", self, other)

    def __rmod__(self, other: ExprLike) -> Expr:
        return binary("floormod", other, self)

    def __and__(self, other: ExprLike) -> Expr:
        return logic("and", self, other) if self.dtype.is_bool else binary("bitand", self, other)

    def __or__(self, other: ExprLike) -> Expr:
        return logic("or", self, other) if self.dtype.is_bool else binary("bitor", self, other)

    def __xor__(self, other: ExprLike) -> Expr:
        return binary("bitxor", self, other)

    def __lshift__(self, other: ExprLike) -> Expr:
        return binary("shl", self, other)

    def __rshift__(self, other: ExprLike) -> Expr:
        return binary("shr", self, other)

    def __rand__(self, other: ExprLike) -> Expr:
        return as_expr(other, self.dtype) & self

    def __ror__(self, other: ExprLike) -> Expr:
        return as_expr(other, self.dtype) | self

    def __rxor__(self, other: ExprLike) -> Expr:
        return binary("bitxor", other, self)

    def __rlshift__(self, other: ExprLike) -> Expr:
        return binary("shl", other, self)

    def __rrshift__(self, other: ExprLike) -> Expr:
        return binary("shr", other, self)

    def __pow__(self, other: ExprLike) -> Expr:
        # A small whole power is a few products, which are exact where the function only is close.
        if isinstance(other, int) and not isinstance(other, bool) and 1 <= other <= 4:
            square = self if other == 1 else self * self
            return square if other <= 2 else square * (self if other == 3 else square)
        return _power(self, as_expr(other, self.dtype))

    def __rpow__(self, other: ExprLike) -> Expr:
        return _power(as_expr(other, self.dtype), self)

    def __abs__(self) -> Expr:
        return Call("abs", (self,), self.dtype)

    def __pos__(self) -> Expr:
        return self

    def __invert__(self) -> Expr:
        return Not(self) if self.dtype.is_bool else binary("bitxor", self, const(-1, self.dtype))

    def __neg__(self) -> Expr:
        # Minus zero, so that the sign of a float zero is negated too.
        return binary("sub", as_expr(-0.0 if self.dtype.is_float else 0, self.dtype), self)

    def __lt__(self, other: ExprLike) -> Expr:
        return compare("lt", self, other)

    def __le__(self, other: ExprLike) -> Expr:
        return compare("le", self, other)

    def __gt__(self, other: ExprLike) -> Expr:
        return compare("gt", self, other)

    def __ge__(self, other: ExprLike) -> Expr:
        return compare("ge", self, other)

    def __eq__(self, other: object) -> Any:
        return Equality(compare, "eq", self, other)

    def __ne__(self, other: object) -> Any:
        return Equality(compare, "ne", self, other)

    __hash__ = object.__hash__

    def equal(self, other: ExprLike) -> Expr:
        """The condition that both are equal."""
        return compare("eq", self, other)

    def __bool__(self) -> bool:
        raise TypeMismatch(
            "a tensor-program condition has no truth value while the program is being written",
            hint="use te.if_then_else(cond, a, b), te.all(...) or te.any(...) instead of if/and/or",
        )

    def __iter__(self) -> object:
        raise TypeError(f"{type(self).__name__} is one value and cannot be iterated over")

    def __getitem__(self, index: object) -> Expr:
        raise TypeMismatch(
            f"an element of type {self.dtype} is one value and has no parts to index",
            hint="give all indices at once, as in A[i, j]; several values are a tuple of formulas",
        )

    def __int__(self) -> int:
        raise self._has_no_value("int")

    def __float__(self) -> float:
        raise self._has_no_value("float")

    def __index__(self) -> int:
        raise self._has_no_value("index")

    def __round__(self, digits: int | None = None) -> int:
        raise self._has_no_value("round")

    def _has_no_value(self, asked: str) -> TypeMismatch:
        return TypeMismatch(
            f"Python's {asked} needs a number, but this is a formula of type {self.dtype}, whose "
            f"value is known only when the program runs",
            hint='convert in the program: x.astype("int32"), te.round(x); a size for Python is a '
            "Python number, or tensor.const_shape",
        )


@node
class Const(Number, Expr):
    """A literal of a scalar type."""

    value: Scalar
    dtype: DType

    def __post_init__(self) -> None:
        if type(self.value) is int and self.dtype is INDEX:
            return  # As nearly all are.
        if self.dtype.lanes != 1:
            raise TypeMismatch("a Const is scalar; use Broadcast for a vector of equal lanes")
        cast = bool if self.dtype.is_bool else float if self.dtype.is_float else int
        set_derived(self, "value", cast(self.value))


@node
class Var(Expr):
    """A symbol: a loop variable, block iteration variable or size. Two Vars of one name differ."""

    name: str
    dtype: DType = INDEX


@node
class Binary(Expr):
    """Arithmetic on two operands of one type; integers wrap, floordiv rounds to minus infinity."""

    op: BinaryOp
    a: Expr
    b: Expr
    dtype: DType = field(init=False)

    def __post_init__(self) -> None:
        _same_type(self.op, self.a, self.b)
        set_derived(self, "dtype", self.a.dtype)


@node
class Compare(Expr):
    """A comparison of two operands of one type; the result is bool with as many lanes."""

    op: CompareOp
    a: Expr
    b: Expr
    dtype: DType = field(init=False)

    def __post_init__(self) -> None:
        _same_type(self.op, self.a, self.b)
        set_derived(self, "dtype", BOOL.with_lanes(self.a.dtype.lanes))


@node
class Logic(Expr):
    """`and` / `or` of two bools, as in Python: the right side counts only where the left one leaves
    the result open, so `i >= 1 and A[i - 1] > 0` reads nothing outside of A.
    """

    op: LogicOp
    a: Expr
    b: Expr
    dtype: DType = field(init=False)

    def __post_init__(self) -> None:
        _need_bool(self.op, self.a)
        _same_type(self.op, self.a, self.b)
        set_derived(self, "dtype", self.a.dtype)


@node
class Not(Expr):
    """Negation of a bool."""

    a: Expr
    dtype: DType = field(init=False)

    def __post_init__(self) -> None:
        _need_bool("not", self.a)
        set_derived(self, "dtype", self.a.dtype)


@node
class Select(Expr):
    """`then` where the condition holds, else `otherwise`; the branch not taken is not evaluated.

    So a padded read may stand in a branch although its index would leave the buffer elsewhere.
    """

    cond: Expr
    then: Expr
    otherwise: Expr
    dtype: DType = field(init=False)

    def __post_init__(self) -> None:
        _need_bool("select", self.cond)
        _same_type("select", self.then, self.otherwise)
        if self.cond.dtype.lanes not in (1, self.then.dtype.lanes):
            raise TypeMismatch(
                f"select on {self.cond.dtype} cannot choose between {self.then.dtype} values"
            )
        set_derived(self, "dtype", self.then.dtype)


@node
class Cast(Expr):
    """Value converted to another type; float to int truncates, int to narrower int wraps."""

    value: Expr
    dtype: DType

    def __post_init__(self) -> None:
        if self.value.dtype.lanes != self.dtype.lanes:
            raise TypeMismatch(f"cast from {self.value.dtype} to {self.dtype} changes the lanes")


@node
class Buffer(Readable):
    """A symbol for storage: row-major and compact, unless lowering has flattened it.

    Two buffers with one name differ. A 0-d buffer has the shape `()` and one element.
    """

    name: str
    shape: tuple[Expr, ...]
    dtype: DType
    scope: Scope = "global"

    @property
    def const_shape(self) -> tuple[int, ...] | None:
        """The shape as integers if all of it is known, else None."""
        sizes = [const_int(s) for s in self.shape]
        return None if any(s is None for s in sizes) else tuple(s for s in sizes if s is not None)


@node
class Load(Expr):
    """An element of a buffer, or a vector of elements when an index is a vector.

    Lanes whose mask is false read nothing and yield zero.
    """

    buffer: Buffer
    indices: tuple[Expr, ...]
    mask: Expr | None = None
    dtype: DType = field(init=False)

    def __post_init__(self) -> None:
        lanes = access_lanes(self.buffer, self.indices, self.mask)
        set_derived(self, "dtype", self.buffer.dtype.with_lanes(lanes))


@node
class Stride(Expr):
    """Elements between neighbors along an axis of a buffer; known once memory is flat."""

    buffer: Buffer
    axis: int
    dtype: DType = field(default=INDEX, init=False)


@node
class Call(Expr):
    """A function of the op table (`exp`, `fma` ...), or "symbol:NAME" of C, applied to values."""

    op: str
    args: tuple[Expr, ...]
    dtype: DType

    def __post_init__(self) -> None:
        arity = call_info(self.op).arity
        if len(self.args) != arity and not (self.args and arity < 0):
            raise TypeMismatch(f"{self.op} takes {abs(arity)} argument(s), not {len(self.args)}")


@node
class Ramp(Expr):
    """The vector `base, base + stride, ..., base + (lanes - 1) * stride` of integers."""

    base: Expr
    stride: Expr
    lanes: int
    dtype: DType = field(init=False)

    def __post_init__(self) -> None:
        _same_type("ramp", self.base, self.stride)
        set_derived(self, "dtype", self.base.dtype.with_lanes(self.lanes))


@node
class Broadcast(Expr):
    """A vector whose lanes are all the same scalar value."""

    value: Expr
    lanes: int
    dtype: DType = field(init=False)

    def __post_init__(self) -> None:
        set_derived(self, "dtype", self.value.dtype.with_lanes(self.lanes))


AnyExpr: TypeAlias = Union[
    Const, Var, Binary, Compare, Logic, Not, Select, Cast, Load, Stride, Call, Ramp, Broadcast
]
"""The closed union of expressions, for exhaustive matches."""

TRUE = Const(True, BOOL)
FALSE = Const(False, BOOL)


def const(value: Scalar | np.generic[Any], dtype: DType | str | None = None) -> Const:
    """A literal; without a type, bool is bool, int is the index type and float is float32."""
    value = _python_number(value)
    if dtype is not None:
        return Const(value, DType.of(dtype))
    if isinstance(value, bool):
        return TRUE if value else FALSE
    return Const(value, INDEX if isinstance(value, int) else FLOAT32)


def as_expr(value: ExprLike, like: DType | None = None) -> Expr:
    """An expression from a Python number (of type `like` if it fits) or an expression itself."""
    if isinstance(value, Expr):
        return value
    if isinstance(value, Equality):
        return value.formula
    value = _python_number(value)
    if like is None or (isinstance(value, float) and not like.is_float):
        return const(value)
    scalar = const(value, like.scalar)
    return scalar if like.lanes == 1 else Broadcast(scalar, like.lanes)


def binary(op: BinaryOp, a: ExprLike, b: ExprLike) -> Expr:
    """Arithmetic node, with a Python number taking the other operand's type."""
    x, y = _pair(a, b)
    _need_numbers(op, x)
    if op == "div" and not x.dtype.is_float:
        raise TypeMismatch(
            f"`/` is not defined for {x.dtype}",
            hint="use // (rounds down), te.truncdiv (rounds to zero), or "
            "cast to a float type first",
        )
    if isinstance(x, Const) and isinstance(y, Const):
        folded = _fold(op, x, y)
        if folded is not None:
            return folded
    return Binary(op, x, y)


def compare(op: CompareOp, a: ExprLike, b: ExprLike) -> Expr:
    """Comparison node, with a Python number taking the other operand's type."""
    x, y = _pair(a, b)
    if isinstance(x, Const) and isinstance(y, Const):
        return const(fold_compare(op, x.value, y.value))
    return Compare(op, x, y)


def logic(op: LogicOp, a: ExprLike, b: ExprLike) -> Expr:
    """`and` / `or` of two conditions; a literal side decides at once."""
    x, y = as_expr(a), as_expr(b)
    for this, that in ((x, y), (y, x)):
        if isinstance(this, Const):
            return this if bool(this.value) == (op == "or") else that
    return Logic(op, x, y)


def minimum(a: ExprLike, b: ExprLike) -> Expr:
    """The smaller of two values."""
    return binary("min", a, b)


def maximum(a: ExprLike, b: ExprLike) -> Expr:
    """The larger of two values."""
    return binary("max", a, b)


def cast(value: ExprLike, dtype: DType | str) -> Expr:
    """Convert a value; a literal is converted at once."""
    to = DType.of(dtype)
    x = as_expr(value)
    if x.dtype == to:
        return x
    if isinstance(x, Const) and to.is_float and to.lanes == 1:
        return Const(float(x.value), to)
    return Cast(x, to)


def as_size(value: Expr) -> Expr:
    """A whole number in the type of sizes, loops and indices; anything else as it is."""
    return cast(value, INDEX) if value.dtype.is_int and value.dtype.lanes == 1 else value


def is_scope(name: str) -> bool:
    """Whether a name is a memory scope: one of `SCOPES` or an accelerator's memory."""
    return name in SCOPES or name.startswith("accel.")


def is_const(e: Expr, value: Scalar | None = None) -> bool:
    """Whether an expression is a literal (of the given value)."""
    return isinstance(e, Const) and (value is None or e.value == value)


def const_int(e: Expr) -> int | None:
    """The value of an integer literal, else None."""
    return int(e.value) if isinstance(e, Const) and e.dtype.is_int else None


def access_lanes(buffer: Buffer, indices: tuple[Expr, ...], mask: Expr | None) -> int:
    """Check the indices of an access and return how many lanes it moves."""
    if len(indices) != len(buffer.shape):
        raise TypeMismatch(
            f"{buffer.name} has {len(buffer.shape)} dimension(s) but is indexed with {len(indices)}"
        )
    lanes = 1
    for index in indices:
        if not index.dtype.is_int:
            raise TypeMismatch(f"an index of {buffer.name} has type {index.dtype}, not an integer")
        if index.dtype.lanes != 1:
            if lanes not in (1, index.dtype.lanes):
                raise TypeMismatch(f"indices of {buffer.name} have different numbers of lanes")
            lanes = index.dtype.lanes
    if mask is not None and mask.dtype != BOOL.with_lanes(lanes):
        raise TypeMismatch(f"mask of an access to {buffer.name} is {mask.dtype} for {lanes} lanes")
    return lanes


def _python_number(value: Any) -> Scalar:
    """A Python number from one of Python or NumPy; nothing else may stand in a formula."""
    plain: Any = value
    if isinstance(value, np.generic):
        plain = plain.item()
    if isinstance(plain, (int, float)):
        return plain
    raise TypeMismatch(
        f"{shown(plain)} cannot stand in a formula: it is of type {type(plain).__name__}",
        hint="a formula is made of numbers, indices and elements of tensors, such as A[i, j]",
    )


def _fold(op: BinaryOp, a: Const, b: Const) -> Const | None:
    """Evaluate an operation on two integer literals with the type's arithmetic; else None."""
    if not a.dtype.is_int or a.dtype != b.dtype:
        return None
    result = fold_int(op, int(a.value), int(b.value))
    return None if result is None else Const(wrap_int(result, a.dtype), a.dtype)


def _pair(a: ExprLike, b: ExprLike) -> tuple[Expr, Expr]:
    a = a.formula if isinstance(a, Equality) else a
    if isinstance(a, Expr):
        x, y = a, as_expr(b, type_beside(b, a.dtype))
    elif isinstance(b, Expr):
        x, y = as_expr(a, type_beside(a, b.dtype)), b
    else:
        return as_expr(a), as_expr(b)
    if x.dtype is not y.dtype and x.dtype != y.dtype:
        rule = RULE.get()
        return (x, y) if rule is None else rule(x, y)
    return x, y


def _power(base: Expr, exponent: Expr) -> Expr:
    _same_type("**", base, exponent)
    _need_numbers("pow", base)
    return Call("pow", (base, exponent), base.dtype)


def _need_numbers(op: str, x: Expr) -> None:
    if x.dtype.is_float and op in ("bitand", "bitor", "bitxor", "shl", "shr"):
        raise TypeMismatch(
            f"{op} works on the bits of integers, not on a value of type {x.dtype}",
            hint='cast it first: x.astype("int32"); conditions are joined by te.all and te.any',
        )
    if x.dtype.is_bool and op in ("add", "sub", "mul", "div", "shl", "shr", "pow"):
        raise TypeMismatch(
            f"{op} works on numbers, not on a condition",
            hint='count conditions as (a > b).astype("int32"), or join them by te.all and te.any',
        )


def _same_type(op: str, a: Expr, b: Expr) -> None:
    if a.dtype is not b.dtype and a.dtype != b.dtype:
        raise TypeMismatch(
            f"{op} of {a.dtype} and {b.dtype}: the operands must have one type",
            hint='convert one side, for example x.astype("float32") or te.cast(x, "float32")',
        )


def _need_bool(op: str, a: Expr) -> None:
    if not isinstance(a, Expr):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise TypeMismatch(
            f"{op} needs a condition of the program, not {shown(a)}",
            hint="a Python bool is decided while the program is written; for one of the program "
            "write te.eq(a, b) or te.ne(a, b)",
        )
    if not a.dtype.is_bool:
        raise TypeMismatch(f"{op} needs a condition, not a value of type {a.dtype}")
