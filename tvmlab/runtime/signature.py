"""What a kernel takes: names, element types, shapes, and which buffers it writes.

A dimension is a number, or a text over scalar parameters such as `"n"` or `"2 * n + 1"`. A scalar
that stands alone as some dimension need not be passed: it is read off the array.

>>> a = BufferParam("A", DType.of("float32"), ("n",))
>>> b = BufferParam("B", DType.of("float32"), ("n",), written=True)
>>> Signature("f", (a, b, ScalarParam("n", DType.of("int64")))).inferred
('n',)
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, TypeAlias, Union

from tvmlab.support import DType, OptionError, parse_expression

Dim: TypeAlias = Union[int, str]


@dataclass(frozen=True, slots=True)
class BufferParam:
    """A buffer: its data must be row-major and aligned to `alignment` bytes (0: to the element).

    With `strides` it may be a view instead: they tell for each axis how far neighbors lie apart,
    in elements, by a number or by the name of the scalar that takes what the array has.
    """

    name: str
    dtype: DType
    shape: tuple[Dim, ...]
    written: bool = False
    alignment: int = 0
    strides: tuple[Dim, ...] = ()

    @property
    def text(self) -> str:
        """As in a program's heading: `A: float32[64, n]`."""
        return f"{self.name}: {self.dtype}[{', '.join(str(d) for d in self.shape)}]"


@dataclass(frozen=True, slots=True)
class ScalarParam:
    """A single number."""

    name: str
    dtype: DType

    @property
    def text(self) -> str:
        return f"{self.name}: {self.dtype}"


Param: TypeAlias = Union[BufferParam, ScalarParam]


@dataclass(frozen=True, slots=True)
class Signature:
    """A kernel's symbol and its parameters, in order."""

    name: str
    params: tuple[Param, ...]

    @property
    def inferred(self) -> tuple[str, ...]:
        """Scalars that some buffer has as a dimension, and that callers may therefore leave out."""
        sizes = {d for p in self.params if isinstance(p, BufferParam) for d in p.shape}
        return tuple(p.name for p in self.params if isinstance(p, ScalarParam) and p.name in sizes)

    @property
    def distances(self) -> frozenset[str]:
        """Scalars that arrays alone give: callers cannot pass them."""
        steps = (s for p in self.params if isinstance(p, BufferParam) for s in p.strides)
        return frozenset(step for step in steps if isinstance(step, str))

    @property
    def callable_params(self) -> tuple[Param, ...]:
        """The parameters that callers pass."""
        distances = self.distances
        return tuple(p for p in self.params if p.name not in distances)

    def __str__(self) -> str:
        return f"{self.name}({', '.join(param.text for param in self.callable_params)})"

    def to_json(self) -> dict[str, Any]:
        """As plain data, for a saved module."""
        return {"name": self.name, "params": [_param_json(p) for p in self.params]}

    @staticmethod
    def from_json(data: Mapping[str, Any]) -> Signature:
        """The inverse of `to_json`."""
        return Signature(data["name"], tuple(_param_of(p) for p in data["params"]))


def evaluate_dim(dim: Dim, values: Mapping[str, int]) -> int | None:
    """The size of a dimension; None if it depends on a scalar without a known value."""
    if isinstance(dim, int):
        return dim
    try:
        return _evaluate(_parse(dim), values)
    except KeyError:
        return None


def _param_json(param: Param) -> dict[str, Any]:
    if isinstance(param, ScalarParam):
        return {"name": param.name, "dtype": param.dtype.name}
    return {
        "name": param.name,
        "dtype": param.dtype.name,
        "shape": list(param.shape),
        "written": param.written,
        "alignment": param.alignment,
        "strides": list(param.strides),
    }


def _param_of(data: Mapping[str, Any]) -> Param:
    dtype = DType.of(data["dtype"])
    if "shape" not in data:
        return ScalarParam(data["name"], dtype)
    shape, strides = tuple(data["shape"]), tuple(data.get("strides", ()))
    return BufferParam(data["name"], dtype, shape, data["written"], data["alignment"], strides)


_OPERATORS: dict[type, Callable[[int, int], int]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: lambda a, b: a // b,
    ast.Mod: operator.mod,
}
_FUNCTIONS: dict[str, Callable[..., int]] = {"min": min, "max": max}


@lru_cache(maxsize=256)
def _parse(text: str) -> ast.expr:
    try:
        return parse_expression(text)
    except SyntaxError as error:
        raise OptionError(f"dimension {text!r} is not an expression") from error


def _evaluate(node: ast.expr, values: Mapping[str, int]) -> int:
    match node:
        case ast.Constant(value=int(number)):
            return number
        case ast.Name(id=name):
            return values[name]
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _OPERATORS:
            return _OPERATORS[type(op)](_evaluate(left, values), _evaluate(right, values))
        case ast.Call(func=ast.Name(id=name), args=arguments) if name in _FUNCTIONS:
            return _FUNCTIONS[name](*(_evaluate(a, values) for a in arguments))
        case _:
            raise OptionError(
                f"dimension {ast.unparse(node)!r} uses more than + - * // % min and max"
            )
