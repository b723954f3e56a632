"""What is known of a value before it is computed: its element type and its shape."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tvmlab.support import DType, ShapeError, UserError

from .dims import LARGEST_SIZE, Dim, Sym, as_dim, known


class GraphError(UserError):
    """A graph or a model is wrong, or asks for what is not supported; names the node."""


@dataclass(frozen=True, slots=True)
class TensorType:
    """An element type and a shape, printed as `float32[n, 3]`."""

    dtype: DType
    shape: tuple[Dim, ...]

    @staticmethod
    def of(dtype: DType | str, shape: Iterable[object]) -> TensorType:
        """A checked type.

        Raises
        ------
        ShapeError
            If a size is none, or the tensor would be larger than any memory.
        """
        sizes = tuple(as_dim(s) for s in shape)
        if math.prod(s for s in sizes if isinstance(s, int) and s) > LARGEST_SIZE:
            raise ShapeError(f"a tensor of shape {shape_text(sizes)} would not fit into any memory")
        return TensorType(DType.of(dtype), sizes)

    @property
    def rank(self) -> int:
        """How many dimensions there are."""
        return len(self.shape)

    @property
    def sizes(self) -> tuple[int, ...]:
        """The shape as numbers.

        Raises
        ------
        ShapeError
            If a size is still a name.
        """
        found = known(self.shape)
        if found is None:
            names = ", ".join(sorted(self.names))
            raise ShapeError(f"the shape {shape_text(self.shape)} is not known",
                             hint=f"give sizes for {names}")  # fmt: skip
        return found

    @property
    def names(self) -> frozenset[str]:
        """The names in its shape that have no value yet."""
        return frozenset[str]().union(*(s.names for s in self.shape if isinstance(s, Sym)))

    @property
    def count(self) -> int:
        """The number of elements."""
        return math.prod(self.sizes)

    @property
    def nbytes(self) -> int:
        """The bytes that the elements take."""
        return self.count * self.dtype.itemsize

    def bind(self, values: Mapping[str, int]) -> TensorType:
        """The type when names have these sizes."""
        if not self.names:
            return self
        sizes = [s.bind(values) if isinstance(s, Sym) else s for s in self.shape]
        return TensorType.of(self.dtype, sizes)

    def with_shape(self, shape: Iterable[object]) -> TensorType:
        """The same element type in another shape."""
        return TensorType.of(self.dtype, shape)

    def with_dtype(self, dtype: DType | str) -> TensorType:
        """The same shape of another element type."""
        return TensorType(DType.of(dtype), self.shape)

    def __str__(self) -> str:
        return f"{self.dtype}{shape_text(self.shape)}"


def type_of(array: Any) -> TensorType:
    """The type of a NumPy array."""
    return TensorType.of(DType.of(array.dtype), array.shape)


def shape_text(shape: Sequence[Dim]) -> str:
    """A shape as it is printed: `[n, 3]`."""
    return f"[{', '.join(str(s) for s in shape)}]"
