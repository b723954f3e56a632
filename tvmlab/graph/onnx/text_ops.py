"""Operators on text, computed by Python and NumPy on the host: machine code has no text."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from tvmlab.graph.ir import Array
from tvmlab.support import UserError

from .proto import NodeProto, attribute_value, tensor_array

TextOp: TypeAlias = Callable[[Mapping[str, Any], Sequence[Array]], tuple[Array, ...]]
MOST_PARTS = 1 << 20
"""Parts into which one text may be split."""


def attributes_of(node: NodeProto) -> dict[str, Any]:
    """The attributes of a node by name."""
    return {a.name: attribute_value(a) for a in node.attribute}


def _texts(values: Sequence[object], shape: Sequence[int]) -> Array:
    made = np.empty(len(values), object)
    made[:] = list(values)
    return made.reshape(tuple(shape))


def _normalized(attrs: Mapping[str, Any], inputs: Sequence[Array]) -> tuple[Array, ...]:
    """Words without stop words, in one case."""
    (words,) = inputs
    if words.ndim not in (1, 2) or (words.ndim == 2 and words.shape[0] != 1):
        raise UserError(f"it takes words of shape [C] or [1, C], not {list(words.shape)}")
    change = attrs.get("case_change_action", "NONE")
    folds: dict[str, Callable[[str], str]] = {"NONE": str, "LOWER": str.lower, "UPPER": str.upper}
    if change not in folds:
        raise UserError(f"case_change_action is {change!r}, not NONE, LOWER or UPPER")
    exact = bool(attrs.get("is_case_sensitive", 0))
    seen: Callable[[str], str] = str if exact else str.lower
    stops = {seen(word) for word in attrs.get("stopwords", ())}
    kept = [folds[change](str(w)) for w in words.reshape(-1) if seen(str(w)) not in stops]
    kept = kept or [""]
    return (_texts(kept, (1, len(kept)) if words.ndim == 2 else (len(kept),)),)


def _joined(attrs: Mapping[str, Any], inputs: Sequence[Array]) -> tuple[Array, ...]:
    """Texts put together, element by element."""
    del attrs
    a, b = np.broadcast_arrays(*inputs)
    made = [str(x) + str(y) for x, y in zip(a.reshape(-1), b.reshape(-1), strict=True)]
    return (_texts(made, a.shape),)


def _split(attrs: Mapping[str, Any], inputs: Sequence[Array]) -> tuple[Array, ...]:
    """The parts of each text, filled up with empty ones, and how many there are."""
    (texts,) = inputs
    delimiter, most = attrs.get("delimiter") or None, attrs.get("maxsplit")
    limit = -1 if most is None else int(most)
    parts = [str(t).split(delimiter, limit) for t in texts.reshape(-1)]
    longest = max((len(p) for p in parts), default=0)
    if longest * len(parts) > MOST_PARTS:
        raise UserError(f"the texts have {longest} parts, which is too many")
    flat = [word for p in parts for word in [*p, *[""] * (longest - len(p))]]
    counts = np.array([len(p) for p in parts], np.int64).reshape(texts.shape)
    return _texts(flat, (*texts.shape, longest)), counts


def _equal(attrs: Mapping[str, Any], inputs: Sequence[Array]) -> tuple[Array, ...]:
    del attrs
    a, b = np.broadcast_arrays(*inputs)
    return (np.asarray(a == b, bool),)


_LABELS: Mapping[str, tuple[Any, Any]] = {
    "strings": (object, "_Unused"), "int64s": (np.int64, -1), "floats": (np.float32, -0.0),
}  # fmt: skip
_DEFAULTS = {"strings": "default_string", "int64s": "default_int64", "floats": "default_float"}


def _listed(attrs: Mapping[str, Any], what: str) -> tuple[str, Array]:
    """The keys or values of a table of labels, with the kind of them."""
    for kind, (dtype, _) in _LABELS.items():
        if f"{what}_{kind}" in attrs:
            return kind, np.array(attrs[f"{what}_{kind}"], dtype)
    tensor = attrs.get(f"{what}_tensor")
    if tensor is None:
        raise UserError(f"it has no {what}")
    if tensor.data_type == tensor.STRING:
        return "strings", np.array([s.decode(errors="replace") for s in tensor.string_data], object)
    array = tensor_array(tensor, None)
    return ("floats" if array.dtype.kind == "f" else "int64s"), array.reshape(-1)


def _labels(attrs: Mapping[str, Any], inputs: Sequence[Array]) -> tuple[Array, ...]:
    """Values for keys, by a table."""
    (given,) = inputs
    _, keys = _listed(attrs, "keys")
    kind, values = _listed(attrs, "values")
    if len(keys) != len(values):
        raise UserError(f"it has {len(keys)} keys for {len(values)} values")
    other = attrs.get("default_tensor")
    if other is not None and other.data_type == other.STRING:
        default: Any = other.string_data[0].decode(errors="replace")
    elif other is not None:
        default = tensor_array(other, None).reshape(-1)[0]
    else:
        default = attrs.get(_DEFAULTS[kind], _LABELS[kind][1])
    table = dict(zip(keys.tolist(), values.tolist(), strict=True))
    made = [table.get(key, default) for key in given.reshape(-1).tolist()]
    if kind == "strings":
        return (_texts(made, given.shape),)
    return (np.array(made, values.dtype).reshape(given.shape),)


def makes_text(node: NodeProto) -> tuple[bool, ...]:
    """For each output of a text operator, whether it is text."""
    if node.op_type == "LabelEncoder":
        return (_listed(attributes_of(node), "values")[0] == "strings",)
    return {"StringSplit": (True, False), "Equal": (False,)}.get(node.op_type, (True,))


TEXT_OPS: Mapping[str, TextOp] = {
    "StringNormalizer": _normalized,
    "StringConcat": _joined,
    "StringSplit": _split,
    "LabelEncoder": _labels,
    "Equal": _equal,
}
"""What works on text. Regular expressions of models are left out: Python's engine may need for
ever for them, which a hostile file could use."""
