"""Layouts of packed operands, as mappings for `transform_layout` that can be compared."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tvmlab.ir import Expr
from tvmlab.tune.features.forms import Floats, Form


@dataclass(frozen=True, slots=True)
class Groups:
    """`x[k, j]` lies at `x[j // width, k // group, j % width, k % group]`."""

    width: int
    group: int

    def __call__(self, k: Expr, j: Expr) -> list[Expr]:
        return [j // self.width, k // self.group, j % self.width, k % self.group]


@dataclass(frozen=True, slots=True)
class Panels:
    """`x[..., j, ...]` lies at `x[j // width, ..., j % width]`.

    It also tells what becomes of indices that are forms.
    """

    dim: int
    width: int

    def __call__(self, *indices: Expr) -> list[Expr]:
        rest = [index for n, index in enumerate(indices) if n != self.dim]
        cut = indices[self.dim]
        return [cut // self.width, *rest, cut % self.width]

    def shape(self, shape: tuple[float, ...]) -> tuple[float, ...]:
        """The shape that a buffer has then."""
        rest = [size for n, size in enumerate(shape) if n != self.dim]
        return (float(np.ceil(shape[self.dim] / self.width)), *rest, float(self.width))

    def moved(self, forms: tuple[Form, ...], numbers: Floats) -> tuple[tuple[Form, ...], Floats]:
        """The forms of an access, with their numbers."""
        place = numbers.shape[1]
        extended = np.concatenate([numbers, [[float(self.width), 1.0]]], axis=1)
        cut = forms[self.dim]
        rest = [form for n, form in enumerate(forms) if n != self.dim]
        panel: Form = (("div", cut, place, place + 1),) if cut else ()
        column: Form = (("mod", cut, place, place + 1),) if cut else ()
        return (panel, *rest, column), extended
