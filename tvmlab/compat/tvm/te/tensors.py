"""Tensors with the manners of old programs: arithmetic on the whole, and indexing in steps."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from typing import Any

import tvmlab.topi as topi
from tvmlab.compat.tvm.mixing import converted
from tvmlab.ir import const
from tvmlab.ir.mixed import mixing
from tvmlab.schedule.stages import Text
from tvmlab.support import ShapeError, items_of, node
from tvmlab.te import Attributes, Operation, Tensor, attributes_of


@dataclass(frozen=True, slots=True, eq=False)
class TensorSlice:
    """A tensor with some of its indices given: `A[i]`, which `[j]` makes an element."""

    tensor: Tensor
    indices: tuple[Any, ...]

    def __getitem__(self, more: Any) -> Any:
        further: Any = items_of(more) or (more,)
        return self.tensor[(*self.indices, *further)]

    @property
    def dtype(self) -> Any:
        """The element type."""
        return self.tensor.dtype


@dataclass(frozen=True, repr=False, eq=False)
class OldAttributes(Attributes):
    """Attributes whose values are nodes, with the plain value as `value`."""

    def __getitem__(self, name: str) -> Any:
        return _as_node(super().__getitem__(name))

    @staticmethod
    def of(attrs: Any) -> OldAttributes | None:
        """Attributes as a program gives them; None for none."""
        return OldAttributes(attributes_of(dict(attrs)).pairs) if attrs else None


def _as_node(value: Any) -> Any:
    several = items_of(value)
    if several is not None:
        return tuple(_as_node(item) for item in several)
    return Text(value) if isinstance(value, str) else const(value)


def returns_old(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function with these manners given to the tensors that it returns."""

    @wraps(function)
    def call(*args: Any, **named: Any) -> Any:
        with mixing(converted):
            return adopted(function(*args, **named))

    return call


def _forward(operator: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    return returns_old(operator)


def _backward(operator: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    def operate(a: Any, b: Any) -> Any:
        return operator(b, a)

    return returns_old(operate)


@node
class OldTensor(Tensor):
    """A tensor on which `A + B` works as in NumPy, and `A[i][j]` like `A[i, j]`."""

    @property
    def takes_formulas(self) -> bool:
        """Whether `n + A` is left to the tensor, which adds to all its elements: yes."""
        return True

    def __getitem__(self, indices: Any) -> Any:
        several = items_of(indices)
        given: Any = (indices,) if several is None else several
        if len(given) < len(self.shape) or any(isinstance(i, slice) for i in given):
            if len(given) > len(self.shape):
                raise ShapeError(
                    f"{self.name} has {len(self.shape)} dimension(s) but is indexed with "
                    f"{len(given)}"
                )
            return TensorSlice(self, given)
        return Tensor.__getitem__(self, given)

    __add__, __radd__ = _forward(topi.add), _backward(topi.add)
    __sub__, __rsub__ = _forward(topi.subtract), _backward(topi.subtract)
    __mul__, __rmul__ = _forward(topi.multiply), _backward(topi.multiply)
    __truediv__, __rtruediv__ = _forward(topi.divide), _backward(topi.divide)

    def __neg__(self) -> Any:
        return returns_old(topi.negative)(self)


def adopted(made: Any) -> Any:
    """Tensors that were just made, given these manners; other things as they are.

    Nothing may refer to the tensors yet: their operation lists the new ones from now on.
    """
    if isinstance(made, tuple | list):
        return type(made)(adopted(item) for item in made)  # pyright: ignore
    if not isinstance(made, Tensor) or isinstance(made, OldTensor):
        return made
    _adopt_outputs(made.op)
    return made.op.outputs[made.value_index]


def _adopt_outputs(op: Operation) -> None:
    for position, tensor in enumerate(op.outputs):
        if not isinstance(tensor, OldTensor):
            op.outputs[position] = OldTensor(
                tensor.name,
                tensor.shape,
                tensor.dtype,
                tensor.scope,
                op=tensor.op,
                value_index=tensor.value_index,
            )
