"""When iterations of a loop may run side by side: the rules of `parallel` and `vectorize`.

Two iterations are independent if neither writes an element that the other touches. A reduction loop
never is, and a refusal names two iterations that clash and a loop on which the step is possible.
"""

from __future__ import annotations

from collections.abc import Collection

from tvmlab.ir import Block, Buffer, For, Program, Store, const_int

from .index import ProgramIndex, index_of
from .kinds import single_store
from .legality import binding_vars, require_const_extent, require_ordinary_blocks, verb
from .repeats import injective_inside
from .verdict import Fix, RefusedError, refuse, unsure


def require_independent(
    index: ProgramIndex,
    loop: For,
    primitive: str,
    *,
    private_copies: bool,
    look_for_fixes: bool = True,
    exempt: Collection[Block] = (),
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
        Blocks whose iterations need not be looked at.
    """
    for block in require_ordinary_blocks(loop, primitive, loop.var):
        store = single_store(block)
        assert store is not None
        if block in exempt:
            continue
        if private_copies and is_private(index, store.buffer, loop):
            continue
        if loop.var in binding_vars(block, "reduce"):
            fixes = _spatial_alternatives(index, loop, block, primitive) if look_for_fixes else ()
            raise _reduction_race(loop, block, store, primitive, fixes)
        _require_distinct_elements(index, loop, block, store, primitive)


def require_loops_still_independent(program: Program, primitive: str) -> None:
    """Refuse a move after which a parallel or vectorized loop would no longer be allowed.

    Such a loop may have been allowed because each of its iterations had a buffer to itself; a block
    that then reads the buffer outside the loop would take that away.
    """
    index = index_of(program)
    for loop in index.loops.values():
        if loop.kind in ("parallel", "vectorized"):
            kind = "parallel" if loop.kind == "parallel" else "vectorize"
            private = kind == "parallel"
            try:
                require_independent(index, loop, kind, private_copies=private, look_for_fixes=False)
            except RefusedError as error:
                raise refuse(
                    f"{primitive}.breaks-{kind}",
                    f"cannot {primitive} here: the {loop.kind} loop {loop.var.name} would no "
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


def _reduction_race(
    loop: For, block: Block, store: Store, primitive: str, fixes: tuple[Fix, ...]
) -> RefusedError:
    place = ", ".join("0" for _ in store.indices)
    name = loop.var.name
    clash = "run side by side" if primitive == "parallel" else "sit in the lanes of one vector"
    witness = f"{name}=0 and {name}=1 both update {store.buffer.name}[{place}]"
    return refuse(
        f"{primitive}.reduction",
        f"cannot {verb(primitive)} {name}: it is a reduction loop of block {block.name}, so two of "
        f"its iterations add into the same element and must not {clash}",
        witness=witness,
        fixes=fixes,
        subject=loop.var,
    )


def _spatial_alternatives(
    index: ProgramIndex, loop: For, block: Block, primitive: str
) -> tuple[Fix, ...]:
    """The same primitive on a spatial loop of the block, where that is possible."""
    spatial = binding_vars(block, "spatial")
    candidates = [lp for lp in index.loops_around(block) if lp.var in spatial]
    if primitive == "vectorize":
        candidates = candidates[::-1]
    for other in candidates:
        if other.kind != "serial" or other is loop:
            continue
        try:
            require_independent(
                index,
                other,
                primitive,
                private_copies=primitive == "parallel",
                look_for_fixes=False,
            )
            if primitive == "vectorize":
                require_const_extent(other, primitive)
        except RefusedError:
            continue
        title = f"{verb(primitive)} {other.var.name} instead, which is a spatial loop"
        return (Fix(title, ((primitive, {"loop": other.var}),)),)
    return ()


def _require_distinct_elements(
    index: ProgramIndex, loop: For, block: Block, store: Store, primitive: str
) -> None:
    spatial, reducing = binding_vars(block, "spatial"), binding_vars(block, "reduce")
    name, extent = loop.var.name, const_int(loop.extent)
    if extent == 1:
        return
    if loop.var not in spatial:
        raise refuse(
            f"{primitive}.same-element",
            f"cannot {verb(primitive)} {name}: block {block.name} does not depend on {name}, so "
            f"every iteration would write the same elements of {store.buffer.name}",
            witness=f"{name}=0 and {name}=1 write the same element of {store.buffer.name}",
            subject=loop.var,
        )
    around = index.loops_around(block)
    inner = [lp for lp in around[around.index(loop) :] if lp.var in spatial]
    bound = [
        (it, b) for it, b in zip(block.iters, block.bindings, strict=True) if it.kind == "spatial"
    ]
    # Iterations of loops further out run one after another: only these loops can clash.
    if (spatial & reducing) or not injective_inside(index, block, bound, inner):
        raise unsure(
            f"{primitive}.overlap",
            f"cannot {verb(primitive)} {name}: it could not be shown that its iterations write "
            f"different elements of {store.buffer.name} in block {block.name}",
            subject=loop.var,
        )
