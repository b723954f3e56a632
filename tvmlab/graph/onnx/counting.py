"""Places that a loop counts up: neither of two is known, but how far they are apart.

Models that write a row in each turn say so by slices and ranges from a place to the next one. The
place is a state of the loop, which the loop must begin with a number that is not negative, and let
grow or stay.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from tvmlab.graph.ir import Array, Graph, Node

from .registry import Site
from .values import Value

_SAME = frozenset({"cast", "identity", "reshape"})


def counted_places(site: Site, first: int, last: int) -> Value | None:
    """The places from one input to before another one; None if it is not known how many they are.

    What bounds the last one from above is not looked at: where it does, kernels find that the
    place lies outside, and say so.
    """
    frame, begin, end = site.around.frame, site[first], site[last]
    if frame is None or any(site.around.type_of(v).count != 1 for v in (begin, end)):
        return None
    makers = {o: node for node in frame.builder.nodes for o in node.made}
    (root, low), (other, high) = (_place(frame.builder.params, makers, v) for v in (begin, end))
    if root != other or root not in frame.states or not 0 < high - low < 1 << 16:
        return None
    frame.counted.add(root)
    steps = np.arange(high - low).astype(site.dtype_of(begin).numpy)
    return Value(site, begin).reshape() + Value(site, site.param(steps))


def grows(graph: Graph, state: str, following: str) -> bool:
    """Whether what a turn makes of a state is the state, or more."""
    root, more = _place(graph.params, graph.producers, following)
    return root == state and more >= 0


def _place(
    params: Mapping[str, Array], makers: Mapping[str, Node], value: str
) -> tuple[str, int]:  # fmt: skip
    """A value as another one and a number more, as far back as can be told."""
    total = 0
    while value in makers:
        node = makers[value]
        numbers = [_number(params.get(i)) for i in node.inputs]
        if node.op in _SAME:
            value = node.inputs[0]
        elif node.op == "add" and any(n is not None for n in numbers):
            value = node.inputs[numbers[0] is not None]
            total += next(n for n in numbers if n is not None)
        elif node.op == "minimum" and any(n is not None for n in numbers):
            value = node.inputs[numbers[0] is not None]
        else:
            break
    return value, total


def _number(array: Array | None) -> int | None:
    """A single whole number that is known."""
    if array is None or array.size != 1 or array.dtype.kind not in "iuf":
        return None
    number = float(array.reshape(()))
    return int(number) if number.is_integer() else None
