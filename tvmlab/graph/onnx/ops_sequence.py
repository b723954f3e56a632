"""Converters of sequences: lists of values that are known while the graph is built.

A sequence is a tuple of values; nothing of it is left when the model runs. Positions must be known.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias, Union

import numpy as np

from tvmlab.graph.operators import axis_of

from .registry import CONVERTERS, Site

Item: TypeAlias = Union[str, tuple[str, ...]]
SequenceRule: TypeAlias = Callable[[Site, Sequence[Item]], Item]


def _list(site: Site, items: Sequence[Item]) -> tuple[str, ...]:
    first = items[0] if items else None
    if not isinstance(first, tuple):
        raise site.error("input 0 is no sequence")
    return first


def _position(site: Site, number: int, count: int, *, end: bool = False) -> int:
    """A place in a sequence, which may be counted from the end; with `end` also behind all."""
    place = int(site.constant(number, "the position").reshape(()))
    place = place + count if place < 0 else place
    if not 0 <= place < count + end:
        raise site.error(f"position {place} is outside a sequence of {count}")
    return place


def _construct(site: Site, items: Sequence[Item]) -> Item:
    return tuple(site[n] for n in range(len(items)))


def _insert(site: Site, items: Sequence[Item]) -> Item:
    old = _list(site, items)
    place = _position(site, 2, len(old), end=True) if site.has(2) else len(old)
    return (*old[:place], site[1], *old[place:])


def _erase(site: Site, items: Sequence[Item]) -> Item:
    old = _list(site, items)
    place = _position(site, 1, len(old)) if site.has(1) else len(old) - 1
    return (*old[:place], *old[place + 1 :])


def _at(site: Site, items: Sequence[Item]) -> Item:
    old = _list(site, items)
    return old[_position(site, 1, len(old))]


def _length(site: Site, items: Sequence[Item]) -> Item:
    return site.param(np.array(len(_list(site, items)), np.int64))


def _concat(site: Site, items: Sequence[Item]) -> Item:
    parts, axis = list(_list(site, items)), site.attr("axis")
    if site.attr("new_axis", 0):
        rank = len(site.shape_of(parts[0])) + 1
        axis = axis_of(axis, rank)
        parts = [site.reshape(p, [*site.shape_of(p)[:axis], 1, *site.shape_of(p)[axis:]])
                 for p in parts]  # fmt: skip
    return site.add("concat", *parts, axis=axis)


def _split(site: Site, items: Sequence[Item]) -> Item:
    del items
    axis = axis_of(site.attr("axis", 0), site.rank)
    size = int(site.type().sizes[axis])
    keep = bool(site.attr("keepdims", 1)) or site.has(1)
    if not site.has(1):
        sizes = [1] * size
    elif site.type(1).rank == 0:
        part = int(site.constant(1, "the size of a part").reshape(()))
        sizes = [min(part, size - first) for first in range(0, size, part)]
    else:
        sizes = list(site.ints(1, "the sizes of the parts"))
    parts: list[str] = []
    start = 0
    for count in sizes:
        cut = site.add("slice", site[0], starts=(start,), ends=(start + count,), axes=(axis,),
                       steps=(1,))  # fmt: skip
        shape = list(site.shape_of(cut))
        parts.append(cut if keep else site.reshape(cut, shape[:axis] + shape[axis + 1 :]))
        start += count
    return tuple(parts)


def _empty(site: Site, items: Sequence[Item]) -> Item:
    del site, items
    return ()


def _same(site: Site, items: Sequence[Item]) -> Item:
    return _list(site, items)


SEQUENCES: dict[str, SequenceRule] = {
    "SequenceEmpty": _empty, "SequenceConstruct": _construct, "SequenceInsert": _insert,
    "SequenceErase": _erase, "SequenceAt": _at, "SequenceLength": _length,
    "ConcatFromSequence": _concat, "SplitToSequence": _split, "Identity": _same,
}  # fmt: skip


def _only_sequences(site: Site) -> str:
    raise site.error("input 0 is no sequence")


for _name in SEQUENCES:
    CONVERTERS.setdefault(("", _name), _only_sequences)
