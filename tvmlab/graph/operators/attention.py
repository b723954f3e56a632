"""Attention: the softmax of products of queries and keys as weights of values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

import numpy as np

from tvmlab.graph.dims import Dim
from tvmlab.graph.types import TensorType
from tvmlab.support import OptionError, ShapeError

from .elementwise import broadcast_shapes
from .registry import Array, Attr, Attrs, Call, need, operator, same_dtype


def attention_layouts(attrs: Attrs) -> tuple[str, str, str, str]:
    """The order of dimensions of queries, keys, values and the result.

    Raises
    ------
    OptionError
        If these are not four permutations of "BHTD" or of "BTD".
    """
    given = attrs.text("layouts").split(",")
    if len(given) != 4 or len({"".join(sorted(x)) for x in given} | {"BDHT", "BDT"}) != 2:
        raise OptionError(
            f"layouts is {attrs.text('layouts')!r}",
            hint="it is four permutations of BHTD (or BTD, without heads), with commas between",
        )
    return cast("tuple[str, str, str, str]", tuple(given))


def _sizes(call: Call) -> list[Mapping[str, Dim]]:
    """The sizes of queries, keys and values by letter, of the heads that count."""
    found: list[Mapping[str, Dim]] = []
    heads, first = call.attrs.int("heads"), call.attrs.ints("first")
    for number, layout in enumerate(attention_layouts(call.attrs)[:3]):
        shape = call[number].shape
        if len(shape) != len(layout):
            raise ShapeError(f"input {number} is {call[number]}, which is not {layout}")
        sizes = dict(zip(layout, shape, strict=True))
        all_heads = sizes.get("H")
        if heads and isinstance(all_heads, int):
            if len(first) != 3 or not 0 <= first[number] <= all_heads - heads:
                raise ShapeError(f"input {number} is {call[number]}, without {heads} heads from "
                                 f"{first[number : number + 1]}")  # fmt: skip
            sizes["H"] = heads
        found.append(sizes)
    return found


def _attention_type(call: Call) -> TensorType:
    need(call[0], "float")
    dtype = same_dtype(call.given)
    queries, keys, values = _sizes(call)
    lead = [x for x in "BH" if x in queries]
    same = all(queries[x] == keys[x] == values[x] for x in lead)
    if not same or queries["D"] != keys["D"] or keys["T"] != values["T"]:
        raise ShapeError(f"{call[0]}, {call[1]} and {call[2]} do not fit")
    mask = call.get(3)
    scores = (*(queries[x] for x in lead), queries["T"], keys["T"])
    if mask is not None and broadcast_shapes([scores, mask.shape]) != scores:
        raise ShapeError(f"the mask is {mask}, which does not stretch over {scores}")
    extent = {**queries, "D": values["D"]}
    return TensorType.of(dtype, [extent[x] for x in attention_layouts(call.attrs)[3]])


def _attention(attrs: Attrs, queries: Array, keys: Array, values: Array,
               mask: Array | None = None) -> Array:  # fmt: skip
    layouts, heads = attention_layouts(attrs), attrs.int("heads")
    plain = "BHTD" if "H" in layouts[0] else "BTD"
    parts: list[Array] = []
    for array, layout, start in zip(
        (queries, keys, values), layouts, attrs.ints("first"), strict=False
    ):
        turned = array.transpose([layout.index(x) for x in plain]).astype(np.float64)
        parts.append(turned[:, start : start + heads] if heads else turned)
    scores = parts[0] @ np.swapaxes(parts[1], -1, -2) * attrs.float("scale")
    scores = scores if mask is None else scores + mask
    with np.errstate(invalid="ignore"):  # a row without any key has no mean
        shares = np.exp(scores - scores.max(-1, keepdims=True))
    mixed = shares / shares.sum(-1, keepdims=True) @ parts[2]
    return mixed.transpose([plain.index(x) for x in layouts[3]]).astype(queries.dtype)


operator(
    "attention", _attention_type, _attention, "opaque", inputs=(3, 4), scale=Attr("float", 1.0),
    layouts=Attr("text", "BHTD,BHTD,BHTD,BHTD"), heads=Attr("int", 0),
    first=Attr("ints", (0, 0, 0)),
)  # fmt: skip
