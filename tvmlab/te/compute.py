"""`placeholder` and `compute`: the two ways to make a tensor.

>>> A = placeholder((4, 4), name="A")
>>> B = compute((4, 4), lambda i, j: A[j, i] * 2.0, name="B")
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Protocol, TypeAlias, Union, cast

import numpy as np

from tvmlab.ir import Expr, ExprLike, as_expr, walk
from tvmlab.support import INDEX, DType, ShapeError, TypeMismatch, identifier, user_span

from .axis import Axis, shape_of
from .reduction import Reduce
from .tensor import ComputeOp, PlaceholderOp, Tensor

_AXIS_NAMES = "ijklmnpqrs"


class AnyRank(Protocol):
    """A function of all indices at once, as in `def element(*i): ...`."""

    def __call__(self, *indices: Axis) -> ExprLike: ...


Formula: TypeAlias = Union[
    Callable[[], ExprLike],
    Callable[[Axis], ExprLike],
    Callable[[Axis, Axis], ExprLike],
    Callable[[Axis, Axis, Axis], ExprLike],
    Callable[[Axis, Axis, Axis, Axis], ExprLike],
    Callable[[Axis, Axis, Axis, Axis, Axis], ExprLike],
    Callable[[Axis, Axis, Axis, Axis, Axis, Axis], ExprLike],
    Callable[[Axis, Axis, Axis, Axis, Axis, Axis, Axis], ExprLike],
    AnyRank,
]
"""What gives a tensor's element; ranks are spelled out so that editors know a lambda's indices."""


def placeholder(
    shape: ExprLike | tuple[ExprLike, ...],
    dtype: DType | str = "float32",
    name: str = "placeholder",
) -> Tensor:
    """An input tensor.

    Parameters
    ----------
    shape
        One size or a tuple of sizes.
    dtype
        Element type.
    name
        Name in printed programs and error messages.

    Raises
    ------
    ShapeError, TypeMismatch
        If a size is not a positive integer or the type is unknown.
    """
    sizes = shape_of(shape, name)
    op = PlaceholderOp(identifier(name), user_span())
    return Tensor(op.name, sizes, DType.of(dtype), op=op)


def compute(
    shape: ExprLike | tuple[ExprLike, ...],
    fcompute: Formula,
    name: str = "compute",
    tag: str = "",
) -> Tensor:
    """A tensor whose element at `(i, j, ...)` is `fcompute(i, j, ...)`.

    Parameters
    ----------
    shape
        One size or a tuple of sizes; `()` makes a tensor with one element.
    fcompute
        Takes one index per dimension (or `*indices`) and returns the element's formula, which may
        be a reduction such as `te.sum(..., axis=k)` but must not contain one further inside.
    name, tag
        The name shown everywhere, and a free label for passes and schedules.

    Raises
    ------
    ShapeError
        If `fcompute` does not take one index per dimension.
    TypeMismatch
        If it returns something that is no formula, or hides a reduction inside one.
    """
    sizes = shape_of(shape, name)
    axes = tuple(
        Axis(axis_name, INDEX, size)
        for axis_name, size in zip(_axis_names(fcompute, len(sizes), name), sizes, strict=True)
    )
    # The signature was asked how many indices it takes; users may return anything at all.
    result = cast("Callable[..., object]", fcompute)(*axes)
    if not isinstance(result, (Expr, int, float, np.number, np.bool_)):
        raise TypeMismatch(
            f"the function of compute {name} must return a formula, not {type(result).__name__}",
            hint="return an expression of its index arguments, such as A[i, j] + 1.0",
        )
    body = as_expr(cast("ExprLike", result))
    _refuse_foreign_axes(body, axes, name)
    _refuse_inner_reduction(body, name)
    op = ComputeOp(identifier(name), axes, body, tag, user_span())
    return Tensor(op.name, sizes, body.dtype, op=op)


def _axis_names(fcompute: Formula, rank: int, name: str) -> list[str]:
    parameters = list(inspect.signature(fcompute).parameters.values())
    kinds = inspect.Parameter
    names: list[str] = []
    for parameter in parameters:
        if parameter.kind is kinds.VAR_POSITIONAL:
            missing = rank - len(names)
            names += [c for c in _AXIS_NAMES if c not in names][:missing]
            names += [f"ax{n}" for n in range(rank - len(names))]
        elif parameter.kind in (kinds.POSITIONAL_ONLY, kinds.POSITIONAL_OR_KEYWORD) and (
            parameter.default is kinds.empty or len(names) < rank
        ):
            names.append(parameter.name)
    if len(names) != rank:
        raise ShapeError(
            f"compute {name} has {rank} dimension(s), but its function takes {len(names)} "
            f"index argument(s)",
            hint=f"write lambda {', '.join(_AXIS_NAMES[:rank])}: ... or lambda *i: ...",
        )
    return names


def _refuse_inner_reduction(body: Expr, name: str) -> None:
    parts = [body.value, body.where] if isinstance(body, Reduce) else [body]
    if any(isinstance(n, Reduce) for part in parts for n in walk(part)):
        raise TypeMismatch(
            f"compute {name} has a reduction inside a larger formula",
            hint="make the reduction a compute of its own, then use that tensor in the formula",
        )


def _refuse_foreign_axes(body: Expr, axes: tuple[Axis, ...], name: str) -> None:
    known = {*axes, *(body.axes if isinstance(body, Reduce) else ())}
    parts = [body.value, body.where] if isinstance(body, Reduce) else [body]
    for current in (n for part in parts for n in walk(part)):
        if isinstance(current, Axis) and current not in known:
            what = "reduction axis" if current.kind == "reduce" else "index of another compute"
            raise TypeMismatch(
                f"compute {name} uses {current.name}, a {what} that nothing in it runs over",
                hint=f"reduce over it, for example te.sum(..., axis={current.name})"
                if current.kind == "reduce"
                else "use the index arguments of this compute's own function",
            )
