"""`placeholder` and `compute`: the two ways to make a tensor.

>>> A = placeholder((4, 4), name="A")
>>> B = compute((4, 4), lambda i, j: A[j, i] * 2.0, name="B")
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol, TypeAlias, Union, cast, overload

import numpy as np

from tvmlab.ir import Attribute, Equality, Expr, ExprLike, as_expr
from tvmlab.support import INDEX, DType, ShapeError, TypeMismatch, identifier, shown, user_span

from .axis import Axis, shape_of
from .formula import checked_body
from .reduction import Several
from .tags import attributes_of, current_tag
from .tensor import ComputeOp, PlaceholderOp, Tensor, add_outputs

_AXIS_NAMES = "ijklmnpqrs"


class AnyRank(Protocol):
    """A function of all indices at once, as in `def element(*i): ...`."""

    def __call__(self, *indices: Axis) -> ExprLike: ...


class AnyRankSeveral(Protocol):
    """A function of all indices that gives several formulas."""

    def __call__(self, *indices: Axis) -> Several: ...


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

SeveralFormulas: TypeAlias = Union[
    Callable[[], Several],
    Callable[[Axis], Several],
    Callable[[Axis, Axis], Several],
    Callable[[Axis, Axis, Axis], Several],
    Callable[[Axis, Axis, Axis, Axis], Several],
    AnyRankSeveral,
]
"""What gives an element of each of several tensors."""


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
    op = PlaceholderOp(identifier(name), span=user_span())
    (tensor,) = add_outputs(op, [sizes], [DType.of(dtype)])
    return tensor


@overload
def compute(
    shape: ExprLike | tuple[ExprLike, ...],
    fcompute: Formula,
    name: str = "compute",
    tag: str = "",
    attrs: Mapping[str, Attribute] | None = None,
) -> Tensor: ...
@overload
def compute(
    shape: ExprLike | tuple[ExprLike, ...],
    fcompute: SeveralFormulas,
    name: str = "compute",
    tag: str = "",
    attrs: Mapping[str, Attribute] | None = None,
) -> tuple[Tensor, ...]: ...
def compute(
    shape: ExprLike | tuple[ExprLike, ...],
    fcompute: Formula | SeveralFormulas,
    name: str = "compute",
    tag: str = "",
    attrs: Mapping[str, Attribute] | None = None,
) -> Any:
    """A tensor whose element at `(i, j, ...)` is `fcompute(i, j, ...)`.

    Parameters
    ----------
    shape
        One size or a tuple of sizes; `()` makes a tensor with one element.
    fcompute
        Takes one index per dimension (or `*indices`) and returns the element's formula, which may
        be a reduction such as `te.sum(..., axis=k)` but must not contain one further inside. A
        tuple of formulas makes as many tensors of this shape, computed together; if they are
        reductions, all must run over the same axes.
    name, tag, attrs
        The name shown everywhere, and free labels for passes and schedules.

    Returns
    -------
    Tensor or tuple of Tensor
        One tensor for each formula.

    Raises
    ------
    ShapeError
        If `fcompute` does not take one index per dimension.
    TypeMismatch
        If it returns something that is no formula, or hides a reduction inside one.
    """
    sizes = shape_of(shape, name)
    if not callable(fcompute):
        raise TypeMismatch(
            f"compute {name} needs a function of its indices, not {type(fcompute).__name__}",
            hint="write te.compute(shape, lambda i, j: ...)",
        )
    axes = tuple(
        Axis(axis_name, INDEX, size)
        for axis_name, size in zip(_axis_names(fcompute, len(sizes), name), sizes, strict=True)
    )
    # The signature was asked how many indices it takes; users may return anything at all.
    result = cast("Callable[..., object]", fcompute)(*axes)
    several = isinstance(result, (tuple, list))
    given = cast("Sequence[object]", result if several else (result,))
    body = checked_body([_formula(value, name) for value in given], axes, name)
    op = ComputeOp(
        identifier(name),
        axes,
        body,
        tag=current_tag(tag),
        attrs=attributes_of(attrs),
        span=user_span(),
    )
    tensors: tuple[Tensor, ...] = add_outputs(op, [sizes] * len(body), [e.dtype for e in body])
    return tensors[0] if len(tensors) == 1 else tensors


def _formula(value: object, name: str) -> Expr:
    if isinstance(value, Tensor):
        raise TypeMismatch(
            f"the function of compute {name} returns the tensor {value.name}, not an element of it",
            hint=f"return an element: {value.name}[{', '.join(_AXIS_NAMES[: value.ndim])}]",
        )
    if not isinstance(value, (Expr, Equality, int, float, np.number, np.bool_)):
        raise TypeMismatch(
            f"the function of compute {name} must return a formula, not {type(value).__name__}",
            hint="return an expression of its index arguments, such as A[i, j] + 1.0",
        )
    return as_expr(cast("ExprLike", value))


def _axis_names(fcompute: Formula | SeveralFormulas, rank: int, name: str) -> list[str]:
    try:
        parameters = list(inspect.signature(fcompute).parameters.values())
    except (TypeError, ValueError):  # some functions of Python itself do not tell
        raise TypeMismatch(
            f"compute {name} needs a function of its indices, not {shown(fcompute)}",
            hint="write te.compute(shape, lambda i, j: ...)",
        ) from None
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
