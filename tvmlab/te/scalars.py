"""Values of formulas that are no mathematics: variables, literals, conversions, choices, limits."""

from __future__ import annotations

from tvmlab.ir import Call, Equality, Expr, ExprLike, Select, Var, as_expr, const
from tvmlab.ir import cast as cast_expr
from tvmlab.support import BOOL, INDEX, DType, TypeMismatch, shown


def var(name: str = "n", dtype: DType | str = INDEX) -> Var:
    """A scalar known only when the kernel is called, such as a size."""
    return Var(name, DType.of(dtype))


def size_var(name: str = "n", dtype: DType | str = INDEX) -> Var:
    """A size known only when the kernel is called; a size is never negative.

    A variable that stands in a shape is a size in any case, so this is `te.var` under the name
    that says what it is for.
    """
    made = var(name, dtype)
    if not made.dtype.is_int:
        raise TypeMismatch(f"the size {name} must be an integer, not {made.dtype}")
    return made


def cast(value: ExprLike, dtype: DType | str) -> Expr:
    """The value converted to another element type.

    A float becomes an integer by dropping its fraction; an integer that does not fit wraps around,
    as two's complement does. See `saturating_cast` for the nearest value that fits.
    """
    return cast_expr(value, dtype)


def saturating_cast(value: ExprLike, dtype: DType | str) -> Expr:
    """The value of another integer type that is nearest: limits instead of wrapping around.

    A float loses its fraction first; not-a-number becomes 0. For a type of floats this is `cast`.
    """
    to = DType.of(dtype)
    source = as_expr(value)
    if to.is_bool:
        raise TypeMismatch("te.saturating_cast converts to numbers, not to bool")
    if not to.is_int or source.dtype == to:
        return cast_expr(source, to)
    if source.dtype.is_bool:
        return cast_expr(source, to)
    return Call(f"saturate_{to.scalar}", (source,), to.with_lanes(source.dtype.lanes))


def if_then_else(cond: ExprLike, then: ExprLike, otherwise: ExprLike) -> Expr:
    """`then` where `cond` holds, else `otherwise`; the other one is not evaluated.

    This is how a convolution reads padding: the read stands in a branch that is only taken when
    its index lies inside the tensor.
    """
    choice = _condition(cond)
    if isinstance(then, Expr):
        return Select(choice, then, as_expr(otherwise, then.dtype))
    if isinstance(otherwise, Expr):
        return Select(choice, as_expr(then, otherwise.dtype), otherwise)
    return Select(choice, as_expr(then), as_expr(otherwise))


def _condition(cond: object) -> Expr:
    cond = cond.formula if isinstance(cond, Equality) else cond
    if isinstance(cond, Expr) and cond.dtype == BOOL:
        return cond
    if isinstance(cond, Expr):
        raise TypeMismatch(
            f"te.if_then_else needs a condition, not a value of type {cond.dtype}",
            hint="compare it, for example x > 0 or te.ne(x, 0)",
        )
    raise TypeMismatch(
        f"te.if_then_else needs a condition of the program, not {shown(cond)}",
        hint="a Python bool is decided while the program is written; for one of the program "
        "write te.eq(a, b) or te.ne(a, b)",
    )


def min_value(dtype: DType | str) -> Expr:
    """The smallest finite value of a type."""
    return const(DType.of(dtype).min_value, dtype)


def max_value(dtype: DType | str) -> Expr:
    """The largest finite value of a type."""
    return const(DType.of(dtype).max_value, dtype)


def infinity(dtype: DType | str = "float32") -> Expr:
    """Positive infinity; minus it is `-te.infinity(dtype)`."""
    return const(float("inf"), _float(dtype, "infinity"))


def nan(dtype: DType | str = "float32") -> Expr:
    """Not a number."""
    return const(float("nan"), _float(dtype, "nan"))


def _float(dtype: DType | str, what: str) -> DType:
    made = DType.of(dtype)
    if not made.is_float:
        raise TypeMismatch(f"te.{what} exists for types of floats, not for {made}")
    return made
