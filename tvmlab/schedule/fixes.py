"""Ways out of a refusal: other steps that would do, as proposals.

Nothing is offered unchecked: the service tries each on the program and keeps those that work.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

from tvmlab.ir import Block, For, Var

from .index import ProgramIndex
from .legality import binding_vars, verb
from .registry import PRIMITIVES
from .verdict import Fix
from .witness import Witness

LANES = (16, 8, 4, 2)
SKEWS = (1, 2)
MAX_LOOPS = 4
"""Other loops that are tried: each costs a question."""


def side_by_side_fixes(
    index: ProgramIndex, loop: For, block: Block, primitive: str, witness: Witness
) -> tuple[Fix, ...]:
    """For a loop whose iterations cannot run side by side, as a witness shows."""
    if primitive not in ("parallel", "vectorize"):
        return ()
    proposals = [
        *_other_loops(index, loop, block, primitive),
        *_partial_sums(loop, block, primitive),
        *_wavefronts(index, loop, primitive),
    ]
    if primitive == "vectorize":
        proposals += _shorter_vectors(loop, witness)
    return tuple(proposals)


def reorder_fixes(
    index: ProgramIndex, chain: Sequence[For], wanted: Sequence[For], block: Block
) -> tuple[Fix, ...]:
    """For loops whose iterations would change places."""
    order = ("reorder", {"loops": tuple(loop.var for loop in wanted)})
    proposals: list[Fix] = []
    if block.init is not None:
        proposals.append(
            Fix(
                f"set the start value of {block.name} before {chain[0].var.name}, then reorder",
                (("decompose_reduction", {"block": block.symbol, "loop": chain[0].var}), order),
            )
        )
    for outer, inner in itertools.pairwise(chain):
        if wanted.index(inner) < wanted.index(outer):
            swap = ("reorder", {"loops": ("$0", outer.var)})
            skew = ("skew", {"outer": outer.var, "inner": inner.var, "factor": 1})
            title = f"skew {inner.var.name} along {outer.var.name} first"
            proposals.append(Fix(title, (skew, swap)))
    return tuple(proposals)


def _other_loops(index: ProgramIndex, loop: For, block: Block, primitive: str) -> Iterator[Fix]:
    """The same primitive on another loop of the block: outermost, for vectors innermost first."""
    spatial = binding_vars(block, "spatial")
    around = index.loops_around(block)
    ordered = around[::-1] if primitive == "vectorize" else around
    usable = [lp for lp in ordered if lp.kind == "serial" and lp is not loop]
    for other in usable[:MAX_LOOPS]:
        why = ", which is a spatial loop" if other.var in spatial else ""
        title = f"{verb(primitive)} {other.var.name} instead{why}"
        yield Fix(title, ((primitive, {"loop": other.var}),), "other loop")


def _partial_sums(loop: For, block: Block, primitive: str) -> Iterator[Fix]:
    """Give each iteration a partial result of its own, and join them afterwards."""
    if "rfactor" not in PRIMITIVES or loop.var not in binding_vars(block, "reduce"):
        return
    name = loop.var.name
    yield Fix(
        f"rfactor {name}, so that each of its iterations sums into a part of its own, then "
        f"{verb(primitive)} it",
        (("rfactor", {"block": block.symbol, "loop": loop.var}), (primitive, {"loop": loop.var})),
    )


def _wavefronts(index: ProgramIndex, loop: For, primitive: str) -> Iterator[Fix]:
    """Skew two nested loops, so that the iterations of a diagonal are independent."""
    for outer, inner in _neighbors(index, loop):
        for factor in SKEWS:
            title = (
                f"skew {inner.var.name} by {factor} along {outer.var.name}, put it outside, and "
                f"{verb(primitive)} {outer.var.name}: the iterations of a diagonal are independent"
            )
            steps = (
                ("skew", {"outer": outer.var, "inner": inner.var, "factor": factor}),
                ("reorder", {"loops": ("$0", outer.var)}),
                (primitive, {"loop": outer.var}),
            )
            yield Fix(title, steps, "other loop")


def _neighbors(index: ProgramIndex, loop: For) -> Iterator[tuple[For, For]]:
    parent = index.parent[loop]
    if isinstance(loop.body, For):
        yield loop, loop.body
    if isinstance(parent, For):
        yield parent, loop


def _shorter_vectors(loop: For, witness: Witness) -> Iterator[Fix]:
    """Vectors that end before the next iteration which clashes with the first."""
    name = loop.var.name
    distance = witness.second.loops.get(name, 0) - witness.first.loops.get(name, 0)
    for lanes in LANES:
        if lanes <= distance:
            yield split_fix(loop.var, lanes, "vectorize")


def split_fix(loop: Var, factor: int, primitive: str) -> Fix:
    """Split first, then act on the inner loop."""
    return Fix(
        f"split {loop.name} by {factor} and {primitive} the inner loop",
        (("split", {"loop": loop, "factors": (None, factor)}), (primitive, {"loop": "$1"})),
        "split",
    )
