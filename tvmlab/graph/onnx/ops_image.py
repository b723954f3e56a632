"""Converters of images in another size, and of sums of products by letters."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from tvmlab.graph.ir import Array
from tvmlab.graph.operators import axes_of

from .registry import Site, onnx_op


@onnx_op("Einsum")
def _einsum(site: Site) -> str:
    return site.add("einsum", *site.inputs, equation=site.attr("equation"))


@dataclass(frozen=True)
class _Axis:
    """One dimension of a resize: sizes, scale, and the region that is read (from `tf_crop`)."""

    old: int
    new: int
    scale: float
    start: float = 0.0
    end: float = 1.0


@onnx_op("Resize", "Upsample")
def _resize(site: Site) -> str:
    """One pass for each dimension that changes: indices and weights are worked out now."""
    value, crops = site[0], site.attr("coordinate_transformation_mode", "") == "tf_crop_and_resize"
    for axis, plan in enumerate(_axes(site)):
        if plan.new == plan.old and plan.scale == 1 and not crops:
            continue
        indices, weights = _taps(site, plan)
        if weights.shape[1] == 1 and (weights == 1).all():
            value = site.add("gather", value, site.param(indices[:, 0]), axis=axis)
            continue
        dtype = "float64" if site.type().dtype == "float64" else "float32"
        value = site.add("resample", value, site.param(indices),
                         site.param(weights.astype(dtype)), axis=axis)  # fmt: skip
    return value


def _axes(site: Site) -> list[_Axis]:
    """What happens to each dimension."""
    sizes, rank = site.type().sizes, site.rank
    axes = axes_of(site.attr("axes", tuple(range(rank))), rank)
    plans = [_Axis(s, s, 1.0) for s in sizes]
    early = site.opset < 11 or site.node.op_type == "Upsample"
    at = 1 if early else 2
    region = _region(site, len(axes))
    if "scales" in site.attrs or (site.has(at) and site.type(at).shape != (0,)):
        scales = site.attrs.get("scales")
        if scales is None:
            scales = [float(v) for v in site.constant(at, "the scales").reshape(-1)]
        for n, d in enumerate(axes):
            start, end = region[n]
            new = math.floor(sizes[d] * scales[n] * (end - start))
            plans[d] = _Axis(sizes[d], new, float(scales[n]), start, end)
        return plans
    wanted = site.ints(3, "the sizes")
    ratios = [w / sizes[d] for w, d in zip(wanted, axes, strict=True)]
    policy = site.attr("keep_aspect_ratio_policy", "stretch")
    if policy != "stretch":
        ratio = min(ratios) if policy == "not_larger" else max(ratios)
        wanted = tuple(math.floor(sizes[d] * ratio + 0.5) for d in axes)
        ratios = [ratio] * len(axes)
    for n, d in enumerate(axes):
        plans[d] = _Axis(sizes[d], wanted[n], ratios[n], *region[n])
    return plans


def _region(site: Site, count: int) -> list[tuple[float, float]]:
    if site.attr("coordinate_transformation_mode", "") != "tf_crop_and_resize":
        return [(0.0, 1.0)] * count
    roi = [float(v) for v in site.constant(1, "the region").reshape(-1)]
    return list(zip(roi[:count], roi[count:], strict=True))


def _source(site: Site, plan: _Axis) -> Array:
    """The place in the old image of each place in the new one."""
    places = np.arange(plan.new, dtype=np.float64)
    early = site.opset < 11 or site.node.op_type == "Upsample"
    mode = site.attr("coordinate_transformation_mode", "asymmetric" if early else "half_pixel")
    length = plan.old * plan.scale
    if mode == "half_pixel":
        return (places + 0.5) / plan.scale - 0.5
    if mode == "asymmetric":
        return places / plan.scale
    if mode == "align_corners":
        return places * ((plan.old - 1) / (length - 1) if length != 1 else 0)
    if mode == "pytorch_half_pixel":
        return (places + 0.5) / plan.scale - 0.5 if length > 1 else np.zeros_like(places) - 0.5
    if mode == "half_pixel_symmetric":
        center = plan.old / 2 * (1 - plan.new / length)
        return center + (places + 0.5) / plan.scale - 0.5
    if mode == "tf_crop_and_resize":
        if plan.new == 1:
            return np.full(1, 0.5 * (plan.start + plan.end) * (plan.old - 1))
        step = (plan.end - plan.start) * (plan.old - 1) / (plan.new - 1)
        return plan.start * (plan.old - 1) + places * step
    raise site.error(f"the coordinate transformation {mode!r} is not supported")


def _taps(site: Site, plan: _Axis) -> tuple[Array, Array]:
    """Indices and weights of what each place of the new image is made of."""
    at, mode = _source(site, plan), site.attr("mode", "nearest")
    if site.attr("coordinate_transformation_mode", "") == "tf_crop_and_resize":
        outside = (at < 0) | (at > plan.old - 1)
        if outside.any():
            raise site.error("a region beyond the image is not supported")
    if mode == "nearest":
        near = _nearest(site, at)
        return np.clip(near, 0, plan.old - 1)[:, None], np.ones((plan.new, 1))
    if mode not in ("linear", "cubic"):
        raise site.error(f"the mode {mode!r} is not supported")
    spread = max(1.0, 1 / plan.scale) if site.attr("antialias", 0) else 1.0
    reach = (1 if mode == "linear" else 2) * spread
    count = math.ceil(reach) * 2
    first = np.floor(at).astype(np.int64) - count // 2 + 1
    indices = first[:, None] + np.arange(count)
    distance = np.abs(at[:, None] - indices) / spread
    a = site.attr("cubic_coeff_a", -0.75)
    weights = np.maximum(0, 1 - distance) if mode == "linear" else _cubic(distance, a)
    inside = (indices >= 0) & (indices < plan.old)
    if site.attr("exclude_outside", 0):
        weights = np.where(inside, weights, 0)
    return np.clip(indices, 0, plan.old - 1), weights / weights.sum(1, keepdims=True)


def _cubic(d: Array, a: float) -> Array:
    near = ((a + 2) * d - (a + 3)) * d * d + 1
    far = ((a * d - 5 * a) * d + 8 * a) * d - 4 * a
    return np.where(d <= 1, near, np.where(d < 2, far, 0))


def _nearest(site: Site, at: Array) -> Array:
    early = site.opset < 11 or site.node.op_type == "Upsample"
    mode = site.attr("nearest_mode", "floor" if early else "round_prefer_floor")
    if mode == "floor":
        return np.floor(at).astype(np.int64)
    if mode == "ceil":
        return np.ceil(at).astype(np.int64)
    if mode == "round_prefer_ceil":
        return np.floor(at + 0.5).astype(np.int64)
    return np.ceil(at - 0.5).astype(np.int64)
