"""Formulas of sums of products."""

from __future__ import annotations

from typing import Any

import tvmlab.te as te
import tvmlab.topi as topi
from tvmlab.graph.operators import attention_layouts, axis_of, einsum_letters, einsum_sizes
from tvmlab.ir import Expr, const
from tvmlab.te import Tensor

from .layers import accumulator, cast_to
from .registry import Site, lowering


@lowering("einsum")
def _einsum(site: Site, *tensors: Tensor) -> Tensor:
    shapes = [t.sizes for t in site.inputs if t is not None]
    letters, out = einsum_letters(site.attrs.text("equation"), [len(s) for s in shapes])
    sizes = einsum_sizes(letters, list(shapes))
    summed = [c for c in sizes if c not in out]
    axes = {c: te.reduce_axis(int(str(sizes[c])), f"k_{c}") for c in summed}
    to = accumulator(tensors[0].dtype)

    def value(*at: Any) -> Expr:
        place: dict[str, Any] = {**dict(zip(out, at, strict=True)), **axes}
        total: Expr | None = None
        for tensor, term, shape in zip(tensors, letters, shapes, strict=True):
            index = tuple(const(0) if s == 1 and sizes[c] != 1 else place[c]
                          for c, s in zip(term, shape, strict=True))  # fmt: skip
            factor = te.cast(tensor[index], to)
            total = factor if total is None else total * factor
        assert total is not None
        return te.sum(total, axis=list(axes.values())) if axes else total

    made = te.compute(site.output.sizes, value, name="einsum", tag="einsum")
    return cast_to(made, site.output.dtype)


@lowering("attention")
def _attention(site: Site, q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None = None) -> Tensor:
    attrs = site.attrs
    return topi.attention(
        q, k, v, mask, scale=attrs.float("scale"), layouts=attention_layouts(attrs),
        heads=attrs.int("heads"), first=attrs.ints("first"),
    )  # fmt: skip


@lowering("resample")
def _resample(site: Site, x: Tensor, indices: Tensor, weights: Tensor) -> Tensor:
    axis = axis_of(site.attrs.int("axis"), len(x.shape))
    assert site.inputs[1] is not None
    tap = te.reduce_axis(site.inputs[1].sizes[1], "tap")

    def value(*at: Any) -> Expr:
        source = te.cast(indices[at[axis], tap], "int64")
        read = x[(*at[:axis], source, *at[axis + 1 :])]
        return te.sum(te.cast(read, weights.dtype) * weights[at[axis], tap], axis=tap)

    made = te.compute(site.output.sizes, value, name="resample", tag="comm_reduce")
    return cast_to(made, x.dtype)
