"""Arithmetic of two tensors, or a tensor and a number, with shapes stretched as in NumPy."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import tvmlab.te as te
from tvmlab.ir import Const, Expr, ExprLike, as_expr, const, const_int, structural_equal
from tvmlab.ir.mixed import RULE
from tvmlab.support import ShapeError, TypeMismatch, user_span
from tvmlab.te import Axis, Tensor

from .tag import BROADCAST, ELEMWISE

Operand = Tensor | ExprLike


def broadcast_shape(a: Sequence[Expr], b: Sequence[Expr]) -> tuple[Expr, ...]:
    """The shape that two shapes are stretched to.

    Raises
    ------
    ShapeError
        If two sizes differ and neither is 1.
    """
    longer = max(len(a), len(b))
    left = (const(1),) * (longer - len(a)) + tuple(a)
    right = (const(1),) * (longer - len(b)) + tuple(b)
    sizes: list[Expr] = []
    for position, (x, y) in enumerate(zip(left, right, strict=True)):
        if const_int(x) == 1:
            sizes.append(y)
        elif const_int(y) == 1 or structural_equal(x, y):
            sizes.append(x)
        else:
            raise ShapeError(
                f"sizes {_text(x)} and {_text(y)} of dimension {position} cannot be stretched to "
                f"one another",
                hint="sizes must be equal, or one of them 1",
            )
    return tuple(sizes)


def _text(size: Expr) -> str:
    known = const_int(size)
    return "of unknown value" if known is None else str(known)


def element(tensor: Tensor, indices: Sequence[Expr]) -> Expr:
    """The element of a tensor that is stretched to a shape with these indices."""
    own = indices[len(indices) - len(tensor.shape) :]
    places = [
        const(0) if const_int(size) == 1 else index
        for index, size in zip(own, tensor.shape, strict=True)
    ]
    return tensor[tuple(places)]


def apply(combine: Callable[[Any, Any], ExprLike], a: Operand, b: Operand, name: str) -> Any:
    """`combine` of the elements of two operands; of two numbers, a number."""
    if not isinstance(a, Tensor) and not isinstance(b, Tensor):
        return combine(as_expr(a), as_expr(b))
    tensors = [t for t in (a, b) if isinstance(t, Tensor)]
    shape = broadcast_shape(tensors[0].shape, tensors[-1].shape)
    like = tensors[0].dtype

    def value(operand: Operand, indices: tuple[Axis, ...]) -> Expr:
        if isinstance(operand, Tensor):
            return element(operand, indices)
        if RULE.get() is not None and not like.is_float:
            return as_expr(operand)
        scalar = as_expr(operand, like)
        if scalar.dtype.is_float and not like.is_float:
            _require_whole(scalar, tensors[0], name)
        return scalar if scalar.dtype == like else te.cast(scalar, like)

    def formula(*indices: Axis) -> ExprLike:
        return combine(value(a, indices), value(b, indices))

    kind = BROADCAST if len(tensors) == 2 else ELEMWISE
    return te.compute(shape, formula, name=name, tag=kind)


def _require_whole(scalar: Expr, tensor: Tensor, name: str) -> None:
    """Refuse a number that would lose its fraction."""
    if not (isinstance(scalar, Const) and float(scalar.value).is_integer()):
        raise TypeMismatch(
            f"{name} takes {scalar}, a {scalar.dtype}, as {tensor.dtype}, the type of "
            f"{tensor.name}, where it would lose its fraction",
            hint=f'convert the tensor first: topi.cast({tensor.name}, "{scalar.dtype}")',
            span=user_span(),
        )


def add(a: Operand, b: Operand) -> Any:
    """`a + b`."""
    return apply(lambda x, y: x + y, a, b, "add")


def subtract(a: Operand, b: Operand) -> Any:
    """`a - b`."""
    return apply(lambda x, y: x - y, a, b, "subtract")


def multiply(a: Operand, b: Operand) -> Any:
    """`a * b`."""
    return apply(lambda x, y: x * y, a, b, "multiply")


def divide(a: Operand, b: Operand) -> Any:
    """`a / b`; of integers, rounded to zero."""
    return apply(lambda x, y: te.truncdiv(x, y) if _whole(x, y) else x / y, a, b, "divide")


def floor_divide(a: Operand, b: Operand) -> Any:
    """`a // b`, rounded to minus infinity."""
    return apply(lambda x, y: x // y if _whole(x, y) else te.floor(x / y), a, b, "floor_divide")


def _whole(x: Expr, y: Expr) -> bool:
    return x.dtype.is_int and y.dtype.is_int


def mod(a: Operand, b: Operand) -> Any:
    """The remainder of integers with the divisor's sign."""
    return apply(lambda x, y: x % y, a, b, "mod")


def maximum(a: Operand, b: Operand) -> Any:
    """The larger of two elements."""
    return apply(te.maximum, a, b, "maximum")


def minimum(a: Operand, b: Operand) -> Any:
    """The smaller of two elements."""
    return apply(te.minimum, a, b, "minimum")


def power(a: Operand, b: Operand) -> Any:
    """`a` to the power of `b`."""
    return apply(te.power, a, b, "power")


def compare(op: str) -> Callable[[Operand, Operand], Any]:
    """An operator that compares elements; the result is bool."""
    functions: dict[str, Callable[[Any, Any], Expr]] = {
        "equal": te.eq,
        "not_equal": te.ne,
        "less": lambda x, y: x < y,
        "less_equal": lambda x, y: x <= y,
        "greater": lambda x, y: x > y,
        "greater_equal": lambda x, y: x >= y,
    }
    return lambda a, b: apply(functions[op], a, b, op)


equal, not_equal = compare("equal"), compare("not_equal")
less, less_equal = compare("less"), compare("less_equal")
greater, greater_equal = compare("greater"), compare("greater_equal")


def broadcast_to(a: Tensor, shape: Sequence[ExprLike]) -> Tensor:
    """A tensor stretched to a shape."""

    def formula(*indices: Axis) -> Expr:
        return element(a, indices)

    target = broadcast_shape(a.shape, [as_expr(s) for s in shape])
    return te.compute(target, formula, name="broadcast_to", tag=BROADCAST)
