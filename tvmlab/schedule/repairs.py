"""Ways out of a refusal, by the rule that refused: what to propose, for the service to try.

A primitive says why it refuses, and knows the fixes that follow from its own question (`fixes`).
Those here follow from the rule alone: attach further out, move something else first, pad, tile,
give iterations nothing to share. Each generator yields the nearest proposal first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import chain

from .refused import Refused
from .repairs_places import (
    apart,
    attach_first,
    bring_producer,
    follow,
    further_out,
    gather,
    move_first,
    near_consumers,
)
from .repairs_shapes import (
    adjacent_first,
    at_the_sum,
    pad_first,
    serial_first,
    short_inner_loop,
    stage_instead,
    tile_first,
    unnoted_first,
    unshared,
)
from .verdict import Fix

Repair = Callable[[Refused], Iterator[Fix]]

_REPAIRS: dict[str, tuple[Repair, ...]] = {
    "blockize.joined-lanes": (serial_first,),
    "compute_at.consumer-outside": (further_out, gather),
    "compute_at.in-vector": (further_out,),
    "compute_at.order": (move_first, further_out),
    "compute_at.uncovered": (further_out,),
    "compute_at.changing-values": (further_out,),
    "compute_inline.call": (near_consumers,),
    "compute_inline.layout": (near_consumers,),
    "compute_inline.reduction": (near_consumers,),
    "compute_root.order": (move_first,),
    "compute_root.partial": (move_first,),
    "decompose_reduction.in-vector": (further_out,),
    "decompose_reduction.inside-reduction": (at_the_sum,),
    "decompose_reduction.not-around": (at_the_sum,),
    "double_buffer.no-loop": (attach_first,),
    "fuse.not-adjacent": (adjacent_first,),
    "reverse_compute_at.in-vector": (further_out,),
    "reverse_compute_at.no-producer": (follow,),
    "reverse_compute_at.not-tiles": (further_out,),
    "reverse_compute_at.parts": (further_out,),
    "reverse_compute_at.kind": (bring_producer,),
    "reverse_compute_at.shifted": (bring_producer,),
    "reverse_compute_at.uncovered": (further_out,),
    "reverse_compute_at.unfinished": (further_out,),
    "reverse_compute_inline.producer": (follow,),
    "reverse_compute_inline.shifted": (bring_producer,),
    "rolling_buffer.no-loop": (attach_first,),
    "set_scope.parameter": (stage_instead,),
    "tensorize.guard": (pad_first,),
    "tensorize.mismatch": (tile_first,),
    "unroll.symbolic-extent": (short_inner_loop,),
    "vectorize.symbolic-extent": (short_inner_loop,),
}
"""By the whole id of a rule."""

_KINDS: dict[str, tuple[Repair, ...]] = {
    "annotated": (serial_first,),
    "breaks-parallel": (serial_first,),
    "breaks-vectorize": (serial_first,),
    "dependence": (unshared,),
    "not-perfect": (apart,),
    "overlap": (unshared,),
    "pipelined": (unnoted_first,),
    "prefetched": (unnoted_first,),
    "same-element": (unshared,),
}
"""By the part after the dot, for rules that several primitives have."""


def repairs(refused: Refused) -> Iterator[Fix]:
    """Proposals for a refused step; none has been tried."""
    rule = refused.rule
    found = (*_REPAIRS.get(rule, ()), *_KINDS.get(rule.partition(".")[2], ()))
    return chain.from_iterable(repair(refused) for repair in found)
