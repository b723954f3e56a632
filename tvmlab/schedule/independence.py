"""When iterations of a loop may run side by side: the rules of `parallel` and `vectorize`.

Two iterations are independent if neither writes an element that the other touches. A reduction loop
never is, and a refusal names two iterations that clash and a loop on which the step is possible.
Lanes of one vector may still do a sum, a product or an extreme: lowering joins them first.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from tvmlab.ir import Block, Buffer, For, Program, Var, const_int

from .assumptions import INDEPENDENT, is_assumed
from .dataflow import flows_within, is_dataflow, moves_apart
from .dependence import Conflict, find_conflict, side_by_side
from .fixes import side_by_side_fixes
from .index import ProgramIndex, index_of, nest_of
from .kinds import final_stores, joins_lanes
from .legality import binding_vars, order_note, verb
from .repeats import injective_inside
from .verdict import Fix, RefusedError, refuse, unsure
from .witness import Iteration, Witness


def require_independent(
    index: ProgramIndex,
    loop: For,
    primitive: str,
    *,
    private_copies: bool,
    look_for_fixes: bool = True,
    exempt: Collection[Block] = (),
    own: Collection[Buffer] = (),
) -> None:
    """Refuse if two iterations of a loop may touch the same element and one of them writes.

    Parameters
    ----------
    private_copies
        Whether lowering gives each iteration its own copy of buffers used only inside the loop
        (it does for parallel loops, not for the lanes of a vector).
    look_for_fixes
        Whether a refusal may look for another loop on which the primitive is possible.
    exempt
        Blocks whose iterations need not be looked at where values stay inside iterations.
    own
        Buffers of which each iteration has its own copy, besides private ones.
    """
    if is_assumed(loop.annotations, INDEPENDENT) or const_int(loop.extent) == 1:
        return
    asked = _Asked(index, loop, primitive, private_copies, look_for_fixes, tuple(own))
    below = index.blocks_under(loop)
    looked_at = [b for b in below if b not in exempt]
    if is_dataflow(index, loop):
        for block in looked_at:
            if not (primitive == "vectorize" and joins_lanes(block, loop.var)):
                asked.require_distinct_stores(block)
    elif looked_at:
        # What threads join is no clash; but other exempt blocks may read what these ones write.
        joined = [b for b in below if b in exempt and loop.var in binding_vars(b, "reduce")]
        asked.require_no_conflict([b for b in below if b not in joined])


def require_loops_still_independent(program: Program, primitive: str) -> None:
    """Refuse a move after which a parallel or vectorized loop would no longer be allowed.

    Such a loop may have been allowed because each of its iterations had a buffer to itself; a block
    that then reads the buffer outside the loop would take that away.
    """
    for loop in nest_of(program).loops:
        if loop.kind in ("parallel", "vectorized"):
            index = index_of(program)
            kind = "parallel" if loop.kind == "parallel" else "vectorize"
            private = kind == "parallel"
            try:
                require_independent(index, loop, kind, private_copies=private, look_for_fixes=False)
            except RefusedError as error:
                raise refuse(
                    f"{primitive}.breaks-{kind}",
                    f"cannot {verb(primitive)} here: the {loop.kind} loop {loop.var.name} would no "
                    f"longer be safe ({error.verdict.reason})",
                    witness=error.verdict.witness,
                    subject=loop.var,
                ) from error


def is_private(index: ProgramIndex, buffer: Buffer, loop: For) -> bool:
    """Whether each iteration of a loop has its own copy of an intermediate buffer.

    True when every access lies under the loop: the primitives that move blocks keep what an
    iteration reads inside what it wrote, and lowering then allocates the buffer inside the loop.
    """
    if buffer not in index.program.allocs:
        return False
    users = [*index.writers.get(buffer, []), *index.readers.get(buffer, [])]
    return all(index.is_under(user, loop) for user in users)


def touches_apart(program: Program, variable: Var, buffer: Buffer) -> bool:
    """Whether iterations of a loop around blocks, side by side, can share an intermediate buffer.

    True if no two of them touch the same element, one of them writing. Then values may stay in the
    buffer from one round of a loop further out to the next, where copies would lose them.
    """
    index = index_of(program)
    loop = index.loops.get(variable)
    if loop is None:  # one inside a block
        return False
    if const_int(loop.extent) == 1 or moves_apart(index, loop, buffer):
        return True
    users = [b for b in index.users(buffer) if index.is_under(b, loop)]
    others = [b for b in index.program.buffers if b is not buffer]
    orders = side_by_side(index, loop)
    conflict = find_conflict(index, users, orders, free_sums=False, skip=others)
    if conflict is None:
        return True
    # Who says that iterations are independent means shared elements, unless copies are as good.
    assumed = conflict.certainty != "sure" and is_assumed(loop.annotations, INDEPENDENT)
    return assumed and not flows_within(index, loop, buffer)


@dataclass(frozen=True, slots=True)
class _Asked:
    """One question: may the iterations of this loop run side by side?"""

    index: ProgramIndex
    loop: For
    primitive: str
    private_copies: bool
    look_for_fixes: bool
    own: tuple[Buffer, ...]

    @property
    def subject(self) -> str:
        return f"cannot {verb(self.primitive)} {self.loop.var.name}"

    def require_distinct_stores(self, block: Block) -> None:
        """The structural rule for one block of a nest in which values do not cross iterations."""
        loop, written = self.loop, [s.buffer for s in final_stores(block)]
        # Also if nobody reads the result: copies would go on from values that they do not have.
        if loop.var in binding_vars(block, "reduce"):
            raise self._race(block, self._reduction_witness(block))
        # A sum that goes on in a loop further out would start again in copies of each iteration.
        outside = {outer.var for outer in self.index.loops_around(loop)}
        lasting = bool(outside & binding_vars(block, "reduce"))
        private = all(is_private(self.index, b, loop) for b in written)
        if self.private_copies and private and not lasting:
            return
        if loop.var not in binding_vars(block, "spatial"):
            raise refuse(
                f"{self.primitive}.same-element",
                f"{self.subject}: block {block.name} does not depend on {loop.var.name}, so every "
                f"iteration would write the same elements of {written[0].name}",
                witness=replace(self._reduction_witness(block), kind="output"),
                subject=loop.var,
            )
        if not self._stores_differ(block):
            self.require_no_conflict([block])

    def _stores_differ(self, block: Block) -> bool:
        """Whether different iterations of the loop surely store to different elements."""
        spatial, reducing = binding_vars(block, "spatial"), binding_vars(block, "reduce")
        around = self.index.loops_around(block)
        # Iterations of loops further out run one after another: only these loops can clash.
        inner = [lp for lp in around[around.index(self.loop) :] if lp.var in spatial]
        bound = [
            (it, b)
            for it, b in zip(block.iters, block.bindings, strict=True)
            if it.kind == "spatial"
        ]
        return not (spatial & reducing) and injective_inside(self.index, block, bound, inner)

    def require_no_conflict(self, blocks: Sequence[Block]) -> None:
        """The exact rule: no element is written in one iteration and touched in another."""
        index, loop = self.index, self.loop
        safe = [b for b in index.program.buffers if self._is_safe(b)]
        orders = side_by_side(index, loop)
        conflict = find_conflict(index, blocks, orders, free_sums=False, skip=safe)
        if conflict is None:
            return
        name = loop.var.name
        if conflict.certainty == "sure":
            assert conflict.witness is not None
            if conflict.witness.kind == "update" and conflict.first is conflict.second:
                raise self._race(conflict.first, conflict.witness)
            raise refuse(
                f"{self.primitive}.dependence",
                f"{self.subject}: its iterations need each other's values or overwrite them, so "
                f"they must run one after another{order_note(conflict.first)}",
                witness=conflict.witness,
                fixes=self._fixes(conflict.first, conflict.witness),
                subject=loop.var,
            )
        raise unsure(
            f"{self.primitive}.overlap",
            f"{self.subject}: it could not be shown that its iterations touch different elements "
            f"of {conflict.buffer.name} in {_blocks_text(conflict)}; if you know that they do, say "
            f'so with sch.assume("independent", {name})',
            witness=conflict.witness,
            subject=loop.var,
        )

    def _is_safe(self, buffer: Buffer) -> bool:
        """Whether iterations cannot meet in a buffer, seen without looking at single accesses."""
        index, loop = self.index, self.loop
        if not any(index.is_under(w, loop) for w in index.writers.get(buffer, [])):
            return True
        private = self.private_copies and is_private(index, buffer, loop)
        private = private or buffer in self.own
        return (private and flows_within(index, loop, buffer)) or moves_apart(index, loop, buffer)

    def _race(self, block: Block, witness: Witness) -> RefusedError:
        lanes = self.primitive == "vectorize"
        clash = "sit in the lanes of one vector" if lanes else "run side by side"
        return refuse(
            f"{self.primitive}.reduction",
            f"{self.subject}: it is a reduction loop of block {block.name}, so two of its "
            f"iterations add into the same element and must not {clash}",
            witness=witness,
            fixes=self._fixes(block, witness),
            subject=self.loop.var,
        )

    def _reduction_witness(self, block: Block) -> Witness:
        store = final_stores(block)[0]
        loops = {lp.var.name: 0 for lp in self.index.loops_around(block)}
        first = Iteration(block.name, loops)
        second = Iteration(block.name, {**loops, self.loop.var.name: 1})
        return Witness(first, second, store.buffer.name, (0,) * len(store.indices), "update")

    def _fixes(self, block: Block, witness: Witness) -> tuple[Fix, ...]:
        if not self.look_for_fixes:
            return ()
        return side_by_side_fixes(self.index, self.loop, block, self.primitive, witness)


def _blocks_text(conflict: Conflict) -> str:
    if conflict.first is conflict.second:
        return f"block {conflict.first.name}"
    return f"blocks {conflict.first.name} and {conflict.second.name}"
