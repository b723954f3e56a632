"""Values of the graph being built, with the operators of Python."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias, Union

from tvmlab.graph.dims import Dim
from tvmlab.support import DType

from .registry import Site

Operand: TypeAlias = Union["Value", float, int]


@dataclass(frozen=True)
class Value:
    """A value of a graph; what is computed from it becomes nodes at `site`."""

    site: Site
    name: str

    @property
    def shape(self) -> tuple[Dim, ...]:
        """The sizes of the value, some of them perhaps names."""
        return self.site.shape_of(self.name)

    def _with(self, op: str, *others: Operand) -> Value:
        names = [o.name if isinstance(o, Value) else self.site.scalar(o, self.name) for o in others]
        return Value(self.site, self.site.add(op, self.name, *names))

    def __add__(self, other: Operand) -> Value:
        return self._with("add", other)

    def __sub__(self, other: Operand) -> Value:
        return self._with("subtract", other)

    def __mul__(self, other: Operand) -> Value:
        return self._with("multiply", other)

    def __truediv__(self, other: Operand) -> Value:
        return self._with("divide", other)

    def __neg__(self) -> Value:
        return self._with("negative")

    def __abs__(self) -> Value:
        return self._with("abs")

    def __ge__(self, other: Operand) -> Value:
        return self._with("greater_equal", other)

    def __gt__(self, other: Operand) -> Value:
        return self._with("greater", other)

    def __le__(self, other: Operand) -> Value:
        return self._with("less_equal", other)

    def __and__(self, other: Value) -> Value:
        return self._with("logical_and", other)

    def floor(self) -> Value:
        """The next whole number below."""
        return self._with("floor")

    def round(self) -> Value:
        """The nearest whole number, halves to even ones."""
        return self._with("round")

    def maximum(self, other: Operand) -> Value:
        """The larger of two."""
        return self._with("maximum", other)

    def minimum(self, other: Operand) -> Value:
        """The smaller of two."""
        return self._with("minimum", other)

    def where(self, true: Operand, false: Operand, like: Value) -> Value:
        """Of a condition: one of two, numbers being of the type of `like`."""
        names = [
            o.name if isinstance(o, Value) else self.site.scalar(o, like.name)
            for o in (true, false)
        ]
        return Value(self.site, self.site.add("where", self.name, *names))

    def within(self, low: float, high: float) -> Value:
        """Clipped to a range; what is no number becomes `low`."""
        above = (self >= low).where(self, low, self)
        return (above <= high).where(above, high, self)

    def cast(self, dtype: DType | str) -> Value:
        """In another element type."""
        return Value(self.site, self.site.cast(self.name, dtype))

    def reshape(self, *shape: Dim) -> Value:
        """In another shape, at most one size of which is a name."""
        return Value(self.site, self.site.reshape(self.name, shape))

    def transpose(self, *perm: int) -> Value:
        """With its dimensions in another order."""
        return Value(self.site, self.site.add("transpose", self.name, perm=perm))

    def part(self, axis: int, at: int) -> Value:
        """One place along a dimension, which goes away."""
        taken = self.site.add("slice", self.name, starts=(at,), ends=(at + 1,), axes=(axis,),
                              steps=(1,))  # fmt: skip
        shape = self.shape
        return Value(self.site, taken).reshape(*shape[:axis], *shape[axis + 1 :])

    def rows(self, places: Value) -> Value:
        """The rows of a table at places."""
        return Value(self.site, self.site.add("gather", self.name, places.name, axis=0))

    def matmul(self, other: Value) -> Value:
        """The product of matrices."""
        return Value(self.site, self.site.add("matmul", self.name, other.name))

    def reduce(self, op: str, *axes: int) -> Value:
        """A sum, a mean or a maximum along dimensions, which go away."""
        return Value(self.site, self.site.add(op, self.name, axes=axes, keepdims=False))
