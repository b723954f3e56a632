"""Formulas of operators on bytes."""

from __future__ import annotations

from typing import Any

import tvmlab.te as te
import tvmlab.topi as topi
from tvmlab.ir import Expr, const
from tvmlab.te import Tensor

from .registry import Site, lowering


@lowering("patches")
def _patches(site: Site, x: Tensor) -> Tensor:
    attrs = site.attrs
    window = [attrs.ints(n) for n in ("kernel", "strides", "pads", "dilations")]
    return topi.patches(x, *window, fill=attrs.int("fill"))


@lowering("pack_dot")
def _pack_dot(site: Site, w: Tensor) -> Tensor:
    assert site.inputs[0] is not None
    depth, columns = site.inputs[0].sizes
    block = site.attrs.int("block")

    def value(panel: Any, group: Any, lane: Any, four: Any) -> Expr:
        k, j = group * 4 + four, panel * block + lane
        return te.if_then_else(te.all(k < depth, j < columns), w[k, j], const(0, w.dtype))

    return te.compute(site.output.sizes, value, name="pack_dot", tag="injective")


@lowering("packed_dot")
def _packed_dot(site: Site, x: Tensor, w: Tensor) -> Tensor:
    del site
    return topi.packed_dot(x, w)
