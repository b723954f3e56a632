"""Random tensor programs in the tensor language: chains of computes of all forms.

Indices stay inside their tensors by construction. With `smooth` the programs are differentiable
almost everywhere, so that small changes of the inputs tell the derivatives.
"""

from __future__ import annotations

from typing import Any, cast

import numpy as np

from tvmlab import te
from tvmlab.ir import Expr, const_int
from tvmlab.te import Axis, Tensor

Rng = np.random.Generator


def random_tensors(
    rng: Rng, dtype: str = "float32", smooth: bool = False, stages: int = 3
) -> tuple[list[Tensor], Tensor]:
    """Inputs and one output that depends on some of them."""
    inputs = [
        te.placeholder(_shape(rng, 1), dtype, name=f"A{n}") for n in range(int(rng.integers(1, 3)))
    ]
    made = list(inputs)
    for number in range(int(rng.integers(1, stages + 1))):
        made += _Stage(rng, made, dtype, smooth).make(f"T{number}")
    return inputs, made[-1]


def _shape(rng: Rng, least: int = 0) -> tuple[int, ...]:
    return tuple(int(n) for n in rng.integers(1, 5, int(rng.integers(least, 3))))


class _Stage:
    """One compute over tensors made before."""

    def __init__(self, rng: Rng, sources: list[Tensor], dtype: str, smooth: bool) -> None:
        self.rng = rng
        self.sources = sources
        self.dtype = dtype
        self.smooth = smooth

    def make(self, name: str) -> list[Tensor]:
        shape = _shape(self.rng)
        forms = ["element", "element", "sum", "sum", "best", "pair", "argmax", "where", "both"]
        form = str(self.rng.choice(forms))
        k = te.reduce_axis(int(self.rng.integers(1, 5)), "k")

        def element(*axes: Axis) -> Any:
            inner = (*axes, k)
            if form == "pair":
                return self.value(axes, 2), self.value(axes, 2)
            if form == "element":
                return self.value(axes, 2)
            value = self.value(inner, 1)
            if form == "where":
                return te.sum(value, axis=k, where=k < 3)
            if form == "best":
                best = te.max if self.rng.integers(2) else te.min
                return best(value, axis=k)
            if form == "argmax":
                return te.argmax((k, value), axis=k)
            if form == "both":
                return te.sum(value, axis=k), te.max(self.value(inner, 1), axis=k)
            return te.sum(value, axis=k)

        result = cast("Tensor | tuple[Tensor, ...]", te.compute(shape, element, name=name))
        tensors = [result] if isinstance(result, Tensor) else list(result)
        return [t for t in tensors if t.dtype.name == self.dtype]

    def value(self, axes: tuple[Axis, ...], depth: int) -> Expr:
        choice = int(self.rng.integers(0, 8 if depth else 1))
        if choice <= 1:
            return self.read(axes)
        a, b = self.value(axes, depth - 1), self.value(axes, depth - 1)
        if choice == 2:
            return a + b
        if choice == 3:
            return a - b * 0.5 if self.smooth else a - b
        if choice == 4:
            return te.maximum(a, b)
        if choice == 5 and axes:
            axis = axes[int(self.rng.integers(len(axes)))]
            return te.if_then_else(axis < int(self.rng.integers(0, 4)), a, b)
        if choice == 6 and self.smooth:
            return te.tanh(a)
        return a * b

    def read(self, axes: tuple[Axis, ...]) -> Expr:
        source = self.sources[int(self.rng.integers(len(self.sources)))]
        sizes = source.const_shape
        assert sizes is not None
        indices: list[Expr | int] = [self.index(axes, size) for size in sizes]
        return source[(*indices,)]

    def index(self, axes: tuple[Axis, ...], size: int) -> Expr | int:
        if not axes or self.rng.integers(8) == 0:
            return int(self.rng.integers(size))
        axis = axes[int(self.rng.integers(len(axes)))]
        extent = const_int(axis.extent)
        assert extent is not None
        way = int(self.rng.integers(5))
        if way == 0 and extent <= size:
            return axis + int(self.rng.integers(size - extent + 1))
        if way == 1 and extent <= size:
            return extent - 1 - axis
        if way == 2:
            return te.minimum(axis, size - 1)
        if way == 3 and (extent + 1) // 2 <= size:
            return axis // 2
        return axis % size
