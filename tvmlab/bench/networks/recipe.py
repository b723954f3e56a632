"""A network written down once, for all who compute it.

A recipe is a list of layers with their weights; `to_graph`, `to_onnx` and `to_torch` say it in the
words of tvmlab, of the ONNX libraries and of PyTorch, so that all compute the same numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


@dataclass(frozen=True, slots=True)
class Layer:
    """One step: what it does, of which values, with which weights; makes the value `name`."""

    kind: str
    name: str
    inputs: tuple[str, ...]
    weights: tuple[Array, ...] = ()
    options: dict[str, Any] = field(default_factory=dict[str, Any])


@dataclass
class Recipe:
    """Layers in order; the last one is the result.

    Attributes
    ----------
    shape, dtype
        Of the input, whose name is "x". Integers are below `most`.
    """

    name: str
    shape: tuple[int, ...]
    dtype: str = "float32"
    most: int = 0
    layers: list[Layer] = field(default_factory=list[Layer])

    def __post_init__(self) -> None:
        self._random = np.random.default_rng(1)

    @property
    def result(self) -> str:
        """The name of the result."""
        return self.layers[-1].name

    def sample(self) -> Array:
        """An input."""
        random = np.random.default_rng(2)
        if self.dtype == "int64":
            return random.integers(0, self.most, self.shape)
        return random.standard_normal(self.shape, dtype=np.float32)

    def add(
        self,
        kind: str,
        inputs: str | Sequence[str],
        weights: Sequence[Array] = (),
        **options: Any,
    ) -> str:
        """One more layer; returns the name of what it makes."""
        given = (inputs,) if isinstance(inputs, str) else tuple(inputs)
        name = f"{kind}{len(self.layers)}"
        self.layers.append(Layer(kind, name, given, tuple(weights), options))
        return name

    def noise(self, *shape: int, scale: float | None = None) -> Array:
        """Weights whose sums stay of about the size of the inputs."""
        size = scale if scale is not None else (2.0 / max(prod(shape[1:]), 1)) ** 0.5
        return self._random.standard_normal(shape, dtype=np.float32) * np.float32(size)

    def conv(
        self, x: str, channels: tuple[int, int], kernel: int, stride: int = 1, pad: int = 0,
        groups: int = 1, bias: bool = False,
    ) -> str:  # fmt: skip
        """A convolution."""
        inner, outer = channels
        weights = [self.noise(outer, inner // groups, kernel, kernel)]
        if bias:
            weights.append(self.noise(outer, scale=0.1))
        return self.add("conv", x, weights, stride=stride, pad=pad, groups=groups)

    def conv_transpose(
        self, x: str, channels: tuple[int, int], kernel: int, stride: int, pad: int
    ) -> str:
        """A transposed convolution."""
        inner, outer = channels
        scale = stride * (1.0 / (inner * kernel * kernel)) ** 0.5
        weight = self.noise(inner, outer, kernel, kernel, scale=scale)
        return self.add("conv_transpose", x, [weight], stride=stride, pad=pad)

    def norm(self, x: str, channels: int) -> str:
        """Batch normalization."""
        positive = np.abs(self.noise(channels, scale=0.2)) + np.float32(0.9)
        weights = [positive, *(self.noise(channels, scale=0.1) for _ in range(2)), positive]
        return self.add("norm", x, weights)

    def dense(self, x: str, sizes: tuple[int, int], bias: bool = True) -> str:
        """Each row times a matrix, which is (out, in) as in PyTorch."""
        inner, outer = sizes
        weights = [self.noise(outer, inner, scale=(1.0 / inner) ** 0.5)]
        if bias:
            weights.append(self.noise(outer, scale=0.1))
        return self.add("dense", x, weights)
