"""Converters of reductions, running sums, and places of extremes."""

from __future__ import annotations

import numpy as np

from tvmlab.graph.operators import axes_of

from .registry import Site, onnx_op


def _axes(site: Site) -> tuple[int, ...] | None:
    """The dimensions; None for an empty list that means to do nothing."""
    given = site.ints_of("axes", 1, "the axes")
    if not given:
        return None if site.attr("noop_with_empty_axes", 0) else tuple(range(site.rank))
    return axes_of(given, site.rank)


@onnx_op("ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceProd", "ReduceL1",
         "ReduceL2", "ReduceSumSquare", "ReduceLogSum", "ReduceLogSumExp")  # fmt: skip
def _reduce(site: Site) -> str:
    kind, value, axes = site.node.op_type, site[0], _axes(site)
    keep = bool(site.attr("keepdims", 1))
    if site.type().dtype.is_bool:
        whole = _over(site, site.cast(value, "uint8"), axes, keep)
        return site.cast(whole, "bool")
    if kind == "ReduceL1":
        value = site.add("abs", value)
    elif kind in ("ReduceL2", "ReduceSumSquare"):
        value = site.add("multiply", value, value)
    elif kind == "ReduceLogSumExp":
        return _log_sum_exp(site, axes, keep)
    made = _over(site, value, axes, keep)
    if kind == "ReduceL2":
        if not site.dtype_of(made).is_float:
            return site.cast(site.add("sqrt", site.cast(made, "float64")), site.dtype_of(made))
        return site.add("sqrt", made)
    return site.add("log", made) if kind == "ReduceLogSum" else made


_OPS = {"ReduceMean": "mean", "ReduceMax": "max", "ReduceMin": "min", "ReduceProd": "prod"}


def _over(site: Site, value: str, axes: tuple[int, ...] | None, keep: bool) -> str:
    if axes is None:
        return site.add("identity", value)
    return site.add(_OPS.get(site.node.op_type, "sum"), value, axes=axes, keepdims=keep)


def _log_sum_exp(site: Site, axes: tuple[int, ...] | None, keep: bool) -> str:
    """The largest is taken off first, unless it is infinite."""
    if axes is None:
        return site.add("identity", site[0])
    largest = site.add("max", site[0], axes=axes, keepdims=True)
    infinite = site.add("is_inf", largest)
    largest = site.add("where", infinite, site.scalar(0, largest), largest)
    spread = site.add("exp", site.add("subtract", site[0], largest))
    total = site.add("sum", spread, axes=axes, keepdims=True)
    made = site.add("add", site.add("log", total), largest)
    if keep:
        return made
    return site.reshape(made, [s for d, s in enumerate(site.type().shape) if d not in axes])


@onnx_op("ArgMax", "ArgMin")
def _arg(site: Site) -> str:
    op = site.node.op_type.lower()
    return site.add(op, site[0], axis=site.attr("axis", 0),
                    keepdims=bool(site.attr("keepdims", 1)),
                    last=bool(site.attr("select_last_index", 0)))  # fmt: skip


@onnx_op("CumSum", "CumProd")
def _cumulative(site: Site) -> str:
    op = site.node.op_type.lower()
    axis = int(np.asarray(site.constant(1, "the axis")).reshape(-1)[0])
    return site.add(op, site[0], axis=axis, exclusive=bool(site.attr("exclusive", 0)),
                    reverse=bool(site.attr("reverse", 0)))  # fmt: skip
