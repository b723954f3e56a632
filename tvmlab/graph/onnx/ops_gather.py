"""Converters of what picks and places elements by indices."""

from __future__ import annotations

from math import prod

import numpy as np

from tvmlab.graph.ir import Attribute
from tvmlab.graph.operators import axis_of

from .registry import Site, onnx_op


@onnx_op("Gather")
def _gather(site: Site) -> str:
    return site.add("gather", site[0], site[1], axis=site.attr("axis", 0))


@onnx_op("GatherElements")
def _gather_elements(site: Site) -> str:
    return site.add("gather_elements", site[0], site[1], axis=site.attr("axis", 0))


@onnx_op("GatherND")
def _gather_nd(site: Site) -> str:
    return site.add("gather_nd", site[0], site[1], batch_dims=site.attr("batch_dims", 0))


@onnx_op("Scatter", "ScatterElements")
def _scatter_elements(site: Site) -> str:
    return site.add("scatter_elements", site[0], site[1], site[2], axis=site.attr("axis", 0),
                    reduction=site.attr("reduction", "none"))  # fmt: skip


@onnx_op("ScatterND")
def _scatter_nd(site: Site) -> str:
    return site.add("scatter_nd", site[0], site[1], site[2],
                    reduction=site.attr("reduction", "none"))  # fmt: skip


@onnx_op("OneHot")
def _one_hot(site: Site) -> str:
    depth = int(site.constant(1, "the depth").reshape(-1)[0])
    indices = site[0]
    if site.type().dtype.is_float:
        indices = site.cast(indices, "int64")
    return site.add("one_hot", indices, site[2], axis=site.attr("axis", -1), depth=depth)


@onnx_op("TopK")
def _top_k(site: Site) -> list[str]:
    if "k" in site.attrs:
        k = int(site.attr("k"))
    else:
        k = int(site.constant(1, "the number k").reshape(-1)[0])
    axis = axis_of(site.attr("axis", -1), site.rank)
    attrs: dict[str, Attribute] = {"axis": axis, "k": k, "largest": bool(site.attr("largest", 1))}
    return site.add_several("top_k", [site[0]], 2, attrs)


@onnx_op("Compress")
def _compress(site: Site) -> str:
    chosen = np.flatnonzero(site.constant(1, "the condition"))
    places = site.param(chosen.astype(np.int64))
    if "axis" in site.attrs:
        return site.add("gather", site[0], places, axis=site.attr("axis"))
    return site.add("gather", site.reshape(site[0], [site.type().count]), places, axis=0)


@onnx_op("MaxUnpool")
def _max_unpool(site: Site) -> str:
    """Each element goes back to where a pooling took it from; all else is zero."""
    shape = site.type().sizes
    kernel = site.attr("kernel_shape")
    rank = len(kernel)
    strides, pads = site.attr("strides", (1,) * rank), site.attr("pads", (0,) * (2 * rank))
    spatial = [
        (shape[2 + d] - 1) * strides[d] + kernel[d] - pads[d] - pads[rank + d] for d in range(rank)
    ]
    whole = (*shape[:2], *spatial)
    empty = site.param(np.zeros(prod(whole), site.type().dtype.numpy))
    flat, places = (site.reshape(site[n], [site.type().count]) for n in range(2))
    placed = site.add("scatter_elements", empty, places, flat, axis=0)
    found = site.reshape(placed, whole)
    if not site.has(2):
        return found
    # The places are those of the size that follows from the pooling; the rest is zero.
    missing = [w - s for w, s in zip(site.ints(2, "the shape"), whole, strict=True)]
    if any(m < 0 for m in missing):
        raise site.error(f"the shape {site.ints(2, 'the shape')} is smaller than {whole}")
    return site.add("pad", found, pads=(*[0] * len(whole), *missing))
