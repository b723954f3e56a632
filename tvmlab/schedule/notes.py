"""Notes on loops and blocks: which names mean something, and to whom.

A note (annotation) never changes what a program computes. Some are set by primitives of their own,
which look first whether they are lawful; `annotate` leaves those alone.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal, TypeVar

from tvmlab.ir import Attribute, Block, For

from .verdict import refuse

PIPELINE = "software_pipeline"
PREFETCH = "prefetch"
STREAM = "stream"
ALIGN = "storage_align"
TAIL = "tail"
PARTIAL = "partial_domain"
"""On a block: its predicate says which values of its variables exist at all, not only where loops
end, so the block cannot be given other loops that cover its domain."""
OWN_PRIMITIVE = (PIPELINE, PREFETCH, STREAM, ALIGN, TAIL, PARTIAL, "assume")
"""Notes that other primitives set."""

TiedTo = Literal["loop", "block", "both"]
T = TypeVar("T", For, Block)


@dataclass(frozen=True, slots=True)
class Meaning:
    """What a known note says, on what it stands, and the type of its value."""

    where: TiedTo
    kind: type
    text: str


MEANINGS: dict[str, Meaning] = {
    "auto_unroll_max_step": Meaning(
        "loop", int,
        "short loops inside are written out, as long as each becomes no more statements than this",
    ),
    "unroll_explicit": Meaning(
        "loop", bool, "False leaves it to LLVM to unroll what auto_unroll_max_step would write out"
    ),
    "hoist_conditions": Meaning(
        "loop", bool, "False leaves conditions inside the loop, although it does not change them"
    ),
    "loop_partition_hint": Meaning(
        "loop", bool, "True cuts the loop where its conditions become decided, False never does"
    ),
    "parallel_launch_point": Meaning(
        "loop", bool, "none here: each parallel loop is handed to the pool of threads by itself"
    ),
    "parallel_stride_pattern": Meaning(
        "loop", bool, "none here: each thread of the pool takes one run of neighboring iterations"
    ),
    "parallel_barrier_when_finish": Meaning(
        "loop", bool, "none here: a parallel loop always waits until all its iterations are done"
    ),
}  # fmt: skip
"""The notes that lowering knows, and those of other compilers that it accepts without effect."""

WOULD_CHANGE: dict[str, str] = {
    "debug_skip_region": "it would leave out a part of the computation",
    "import_c": "it would bring in code from a schedule; use te.extern and build(link=[...])",
    "import_llvm": "it would bring in code from a schedule; use build(link=[...])",
    "tensor_core": "matrix units are used by tensorize here",
}
"""Pragmas of other compilers that are refused, with the reason."""


def note_of(node: For | Block, key: str) -> Attribute | None:
    """The value of a note, None if there is none of that name."""
    return next((value for name, value in node.annotations if name == key), None)


def with_note(node: T, key: str, value: Attribute | None) -> T:
    """The loop or block with a note set, or without it if the value is None."""
    kept = [(name, old) for name, old in node.annotations if name != key]
    if value is not None:
        kept.append((key, value))
    return replace(node, annotations=tuple(kept))


def require_unheld(loop: For, primitive: str) -> None:
    """Refuse to restructure a loop of which a note says something about each iteration."""
    for key in (PIPELINE, PREFETCH):
        if note_of(loop, key) is not None:
            word = "pipelined" if key == PIPELINE else "prefetched for"
            raise refuse(
                f"{primitive}.{word.split()[0]}",
                f"cannot {primitive} {loop.var.name}: it is {word} iteration by iteration; take "
                f"{primitive} first, or take the {key} away by unannotate",
                subject=loop.var,
            )
