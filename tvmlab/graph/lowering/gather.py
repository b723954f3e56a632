"""Formulas of elements picked by indices, and code of elements placed by them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any

import tvmlab.te as te
import tvmlab.topi as topi
from tvmlab.graph.operators import axis_of
from tvmlab.ir import Expr, const
from tvmlab.te import Tensor

from .registry import Site, lowering


def _from_front(index: Expr, size: int) -> Expr:
    """An index that may count from the end, as one from the front."""
    wide = te.cast(index, "int64")
    return wide if index.dtype.kind == "uint" else te.if_then_else(wide < 0, wide + size, wide)


@lowering("gather")
def _gather(site: Site, x: Tensor, indices: Tensor) -> Tensor:
    return topi.take(x, indices, site.attrs.int("axis"))


@lowering("gather_elements")
def _gather_elements(site: Site, x: Tensor, indices: Tensor) -> Tensor:
    return topi.gather(x, indices, site.attrs.int("axis"))


@lowering("gather_nd")
def _gather_nd(site: Site, x: Tensor, indices: Tensor) -> Tensor:
    return topi.gather_nd(x, indices, site.attrs.int("batch_dims"))


@lowering("one_hot")
def _one_hot(site: Site, indices: Tensor, values: Tensor) -> Tensor:
    depth = site.attrs.int("depth")
    axis = axis_of(site.attrs.int("axis"), len(indices.shape) + 1)

    def value(*at: Any) -> Expr:
        index = indices[(*at[:axis], *at[axis + 1 :])]
        same = te.eq(_from_front(index, depth), at[axis])
        return te.if_then_else(same, values[const(1)], values[const(0)])

    return te.compute(site.output.sizes, value, name="one_hot", tag="injective")


Combine = Callable[[Any, Any], Any]
_COMBINE: dict[str, Combine] = {
    "none": lambda old, new: new, "add": lambda old, new: old + new,
    "mul": lambda old, new: old * new, "max": te.maximum, "min": te.minimum,
}  # fmt: skip


def _unflat(flat: Any, sizes: Sequence[int]) -> list[Any]:
    found: list[Any] = []
    for size in reversed(sizes[1:]):
        found.insert(0, flat % size)
        flat = flat // size
    return [flat, *found] if sizes else []


def _written(site: Site, x: Tensor, indices: Tensor, updates: Tensor, place: Any) -> Tensor:
    """A copy of `x` in which each update, in order, is combined into its place."""
    combine = _COMBINE[site.attrs.text("reduction")]
    assert site.inputs[2] is not None
    total, many = prod(site.output.sizes), prod(site.inputs[2].sizes)

    def body(ins: Any, outs: Any) -> Any:
        ib = te.ir_builder.create()
        old, chosen, new, out = (ib.buffer_ptr(b) for b in (*ins, outs[0]))
        with ib.for_range(0, total, "i") as i:
            out[i] = old[i]
        with ib.for_range(0, many, "u") as u:
            at = tuple(place(chosen, u))
            out[at] = combine(out[at], new[u])
        return ib.get()

    return te.extern(site.output.sizes, [x, indices, updates], body, name=site.name,
                     dtype=x.dtype)  # fmt: skip


@lowering("scatter_elements")
def _scatter_elements(site: Site, x: Tensor, indices: Tensor, updates: Tensor) -> Tensor:
    axis = axis_of(site.attrs.int("axis"), len(x.shape))
    assert site.inputs[1] is not None
    sizes, size = site.inputs[1].sizes, site.output.sizes[axis]

    def place(chosen: Any, flat: Any) -> list[Any]:
        at = _unflat(flat, sizes)
        return [*at[:axis], _from_front(chosen[flat], size), *at[axis + 1 :]]

    return _written(site, x, indices, updates, place)


@lowering("scatter_nd")
def _scatter_nd(site: Site, x: Tensor, indices: Tensor, updates: Tensor) -> Tensor:
    assert site.inputs[1] is not None
    sizes, last = site.output.sizes, site.inputs[1].sizes[-1]
    inner = prod(sizes[last:])

    def place(chosen: Any, flat: Any) -> list[Any]:
        row = flat // inner
        picked = [_from_front(chosen[row * last + n], sizes[n]) for n in range(last)]
        return [*picked, *(_unflat(flat % inner, sizes[last:]) if sizes[last:] else [])]

    return _written(site, x, indices, updates, place)


@lowering("top_k")
def _top_k(site: Site, x: Tensor) -> Any:
    """Selection of the best one by one; a place once taken is marked."""
    assert site.inputs[0] is not None
    sizes, k = site.inputs[0].sizes, site.attrs.int("k")
    axis, largest = axis_of(site.attrs.int("axis"), len(sizes)), site.attrs.flag("largest")
    size, inner = sizes[axis], prod(sizes[axis + 1 :])
    rows = prod(sizes[:axis]) * inner

    def body(ins: Any, outs: Any) -> Any:
        ib = te.ir_builder.create()
        data, best, index = (ib.buffer_ptr(b) for b in (ins[0], *outs))
        taken = ib.allocate("bool", (size,), "taken")
        found = ib.allocate("int64", (1,), "found")
        with ib.for_range(0, rows, "row") as row:
            first = (row // inner) * size * inner + row % inner
            out = (row // inner) * k * inner + row % inner
            with ib.for_range(0, size, "c") as c:
                taken[c] = const(False, "bool")
            with ib.for_range(0, k, "n") as n:
                found[0] = const(-1, "int64")
                with ib.for_range(0, size, "j") as j, ib.if_scope(te.logical_not(taken[j])):
                    with ib.if_scope(found[0] < 0):
                        found[0] = te.cast(j, "int64")
                    with ib.else_scope():
                        here, known = data[first + j * inner], data[first + found[0] * inner]
                        with ib.if_scope(here > known if largest else here < known):
                            found[0] = te.cast(j, "int64")
                taken[found[0]] = const(True, "bool")
                best[out + n * inner] = data[first + found[0] * inner]
                index[out + n * inner] = found[0]
        return ib.get()

    shapes = [t.sizes for t in (site.outputs if len(site.outputs) == 2 else (site.output,) * 2)]
    return te.extern(shapes, [x], body, name="top_k", dtype=[x.dtype.name, "int64"])
