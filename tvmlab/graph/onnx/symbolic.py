"""Chains that compute shapes from shapes, when some of the sizes are still names.

Their values are small lists of sizes. NumPy computes on them as on numbers, because sizes know
addition, multiplication and division.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tvmlab.graph.dims import Sym
from tvmlab.graph.ir import Array

from .proto import NodeProto, attribute_value

SizesRule = Callable[[dict[str, Any], list[Array]], Array]


def _ints(value: Any) -> tuple[int, ...]:
    return tuple(int(v) for v in np.asarray(value).reshape(-1))


def _axes(attrs: dict[str, Any], arrays: list[Array]) -> tuple[int, ...] | None:
    if "axes" in attrs:
        return tuple(attrs["axes"])
    return _ints(arrays[1]) if len(arrays) > 1 else None


def _slice(attrs: dict[str, Any], arrays: list[Array]) -> Array:
    if "starts" in attrs:
        starts, ends = attrs["starts"], attrs["ends"]
    else:
        starts, ends = _ints(arrays[1]), _ints(arrays[2])
    steps = _ints(arrays[4]) if len(arrays) > 4 else (1,)
    return arrays[0][slice(starts[0], ends[0], steps[0])]


def _unsqueeze(attrs: dict[str, Any], arrays: list[Array]) -> Array:
    return np.expand_dims(arrays[0], _axes(attrs, arrays) or ())


def _divided(_: dict[str, Any], arrays: list[Array]) -> Array:
    return arrays[0] // arrays[1]


RULES: dict[str, SizesRule] = {
    "Add": lambda _, a: a[0] + a[1], "Sub": lambda _, a: a[0] - a[1],
    "Mul": lambda _, a: a[0] * a[1], "Div": _divided, "Cast": lambda _, a: a[0],
    "Identity": lambda _, a: a[0], "Concat": lambda _, a: np.concatenate(a),
    "Gather": lambda attrs, a: np.take(a[0], a[1].astype(np.int64), attrs.get("axis", 0)),
    "Reshape": lambda _, a: a[0].reshape(_ints(a[1])), "Slice": _slice,
    "Squeeze": lambda attrs, a: np.squeeze(a[0], _axes(attrs, a)), "Unsqueeze": _unsqueeze,
    "ReduceProd": lambda attrs, a: np.prod(a[0], keepdims=bool(attrs.get("keepdims", 1))),
}  # fmt: skip


def sizes_of(node: NodeProto, arrays: list[Array]) -> Array | None:
    """The sizes that a node computes from sizes; None if it is not one of those that do."""
    rule = RULES.get(node.op_type)
    if rule is None or node.domain not in ("", "ai.onnx"):
        return None
    attrs = {a.name: attribute_value(a) for a in node.attribute}
    with np.errstate(all="ignore"):
        return np.asarray(rule(attrs, arrays), object)


def is_known(sizes: Array) -> bool:
    """Whether all sizes are numbers."""
    return not any(isinstance(s, Sym) for s in sizes.reshape(-1))
