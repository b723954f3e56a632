"""What old programs do with expressions and tensors, and tvmlab's own language leaves out.

Set on the classes when this package is imported: arithmetic on whole tensors, indexing a tensor
with fewer indices than it has dimensions, `a.equal(b)`, and expressions that print as text.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tvmlab import topi
from tvmlab.ir import Expr, eq, to_text
from tvmlab.support import ShapeError
from tvmlab.te import Reduce, Tensor

from .mixing import converted

_OPERATORS: dict[str, Callable[[Any, Any], Any]] = {
    "add": topi.add,
    "sub": topi.subtract,
    "mul": topi.multiply,
    "truediv": topi.divide,
}


@dataclass(frozen=True, slots=True, eq=False)
class TensorSlice:
    """A tensor with some of its indices given: `A[i]`, which `[j]` makes an element."""

    tensor: Tensor
    indices: tuple[Any, ...]

    def __getitem__(self, more: Any) -> Any:
        further = more if isinstance(more, tuple) else (more,)
        return self.tensor[(*self.indices, *further)]

    @property
    def dtype(self) -> Any:
        """The element type."""
        return self.tensor.dtype


def adopt() -> None:
    """Set them, once."""
    element = Tensor.__getitem__

    def getitem(tensor: Tensor, indices: Any) -> Any:
        given = indices if isinstance(indices, tuple) else (indices,)
        if any(isinstance(i, slice) for i in given) or len(given) < len(tensor.shape):
            if len(given) > len(tensor.shape):
                raise ShapeError(f"{tensor.name} has only {len(tensor.shape)} dimension(s)")
            return TensorSlice(tensor, given)
        return element(tensor, indices)

    _set(Tensor, "__getitem__", getitem)
    for name, operator in _OPERATORS.items():
        _set(Tensor, f"__{name}__", _forward(operator))
        _set(Tensor, f"__r{name}__", _backward(operator))
        _set(Expr, f"__{name}__", _unless_tensor(getattr(Expr, f"__{name}__")))
    _set(Tensor, "__neg__", topi.negative)
    _set(Expr, "equal", _equal)
    _set(Expr, "__str__", _text)


def _set(cls: type, name: str, value: Any) -> None:
    setattr(cls, name, value)


def _forward(operator: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    return lambda a, b: operator(a, b)


def _backward(operator: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    return lambda a, b: operator(b, a)


def _unless_tensor(method: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """The method of an expression, which leaves the work to a tensor on the other side."""
    return lambda a, b: NotImplemented if isinstance(b, Tensor) else method(a, b)


def _equal(a: Expr, b: Any) -> Expr:
    if isinstance(b, Expr) and a.dtype != b.dtype:
        return eq(*converted(a, b))
    return eq(a, b)


def _text(e: Expr) -> str:
    if isinstance(e, Reduce):
        values = ", ".join(str(v) for v in e.source)
        axes = ", ".join(axis.name for axis in e.axes)
        return f"{e.reducer.name}({values}, axis=[{axes}])"
    return to_text(e)
