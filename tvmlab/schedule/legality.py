"""The structural rules that several primitives share. Each raises a refusal with its rule id.

These rules answer in microseconds from the kinds of blocks and from how loops bind iteration
variables. Exact dependences (for opaque blocks) are not guessed here: such blocks keep their order.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from tvmlab.arith import LinearForm, detect_iter_map, form_to_expr, linear_form, simplify
from tvmlab.ir import (
    Block,
    Buffer,
    Expr,
    For,
    IterVar,
    Program,
    Seq,
    Stmt,
    Store,
    Var,
    child_stmts,
    conjunction,
    conjuncts,
    const_int,
    walk,
)

from .index import ProgramIndex, accesses, blocks_in, index_of
from .kinds import block_kind, single_store
from .verdict import Fix, RefusedError, refuse, unsure

_VERBS = {"parallel": "parallelize"}


def verb(primitive: str) -> str:
    """The word for applying a primitive, in a sentence."""
    return _VERBS.get(primitive, primitive)


def vars_of(e: Expr) -> set[Var]:
    """The variables in an expression."""
    return {n for n in walk(e) if isinstance(n, Var)}


def binding_vars(block: Block, kind: str) -> set[Var]:
    """The loop variables that bind a block's iteration variables of one kind."""
    found: set[Var] = set()
    for it, binding in zip(block.iters, block.bindings, strict=True):
        if it.kind == kind:
            found |= vars_of(binding)
    return found


def require_serial(loop: For, primitive: str) -> None:
    """Refuse to restructure a loop that already has a kind of its own."""
    if loop.kind != "serial":
        raise refuse(
            f"{primitive}.annotated",
            f"cannot {verb(primitive)} {loop.var.name}: it is already {loop.kind}; "
            f"{primitive} works on serial loops, so {primitive} before making it {loop.kind}",
            subject=loop.var,
        )


def require_const_extent(loop: For, primitive: str) -> int:
    """The extent of a loop as a number; refuse if it is only known at run time."""
    extent = const_int(loop.extent)
    if extent is None:
        raise refuse(
            f"{primitive}.symbolic-extent",
            f"cannot {verb(primitive)} {loop.var.name}: its extent is known only at run time; "
            f"split it by a constant and {primitive} the inner loop",
            subject=loop.var,
        )
    return extent


def require_ordinary_blocks(stmt: Stmt, primitive: str, loop: Var) -> list[Block]:
    """The blocks under a statement; refuse if the order of one must be kept."""
    blocks = list(blocks_in(stmt))
    for block in blocks:
        if block_kind(block) == "opaque":
            raise unsure(
                f"{primitive}.opaque",
                f"cannot {verb(primitive)} {loop.name}: block {block.name} is neither element-wise nor "
                f"a reduction by an associative operation, so the order of its iterations is kept",
                subject=loop,
            )
    return blocks


def is_private(index: ProgramIndex, buffer: Buffer, loop: For) -> bool:
    """Whether each iteration of a loop has its own copy of an intermediate buffer.

    True when every access lies under the loop: the primitives that move blocks keep what an
    iteration reads inside what it wrote, and lowering then allocates the buffer inside the loop.
    """
    if buffer not in index.program.allocs:
        return False
    users = [*index.writers.get(buffer, []), *index.readers.get(buffer, [])]
    return all(index.is_under(user, loop) for user in users)


def require_independent(
    index: ProgramIndex,
    loop: For,
    primitive: str,
    *,
    private_copies: bool,
    look_for_fixes: bool = True,
) -> None:
    """Refuse if two iterations of a loop may touch the same element and one of them writes.

    Parameters
    ----------
    private_copies
        Whether lowering gives each iteration its own copy of buffers used only inside the loop
        (it does for parallel loops, not for the lanes of a vector).
    look_for_fixes
        Whether a refusal may look for another loop on which the primitive is possible.
    """
    for block in require_ordinary_blocks(loop, primitive, loop.var):
        store = single_store(block)
        assert store is not None
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


def _reduction_race(
    loop: For, block: Block, store: Store, primitive: str, fixes: tuple[Fix, ...]
) -> RefusedError:
    place = ", ".join("0" for _ in store.indices)
    name = loop.var.name
    clash = "run side by side" if primitive == "parallel" else "sit in the lanes of one vector"
    witness = f"{name}=0 and {name}=1 both update {store.buffer.name}[{place}]"
    return refuse(
        f"{primitive}.reduction",
        f"cannot {verb(primitive)} {name}: it is a reduction loop of block {block.name}, so two of its "
        f"iterations add into the same element and must not {clash}",
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
            f"cannot {verb(primitive)} {name}: block {block.name} does not depend on {name}, so every "
            f"iteration would write the same elements of {store.buffer.name}",
            witness=f"{name}=0 and {name}=1 write the same element of {store.buffer.name}",
            subject=loop.var,
        )
    around = index.loops_around(block)
    inner = [lp for lp in around[around.index(loop) :] if lp.var in spatial]
    bound = [
        (it, b) for it, b in zip(block.iters, block.bindings, strict=True) if it.kind == "spatial"
    ]
    # Iterations of loops further out run one after another: only these loops can clash.
    if (spatial & reducing) or not _injective_inside(index, block, bound, inner):
        raise unsure(
            f"{primitive}.overlap",
            f"cannot {verb(primitive)} {name}: it could not be shown that its iterations write different "
            f"elements of {store.buffer.name} in block {block.name}",
            subject=loop.var,
        )


def runs_once(index: ProgramIndex, block: Block, inner: Sequence[For]) -> bool:
    """Whether, for fixed outer loops, the `inner` loops run no iteration of a block twice.

    A block attached to a loop that it does not depend on is computed again in each iteration. That
    is fine for values, but a running sum must then start anew each time.
    """
    if not inner:
        return True
    bound = list(zip(block.iters, block.bindings, strict=True))
    return _injective_inside(index, block, bound, inner)


def _injective_inside(
    index: ProgramIndex,
    block: Block,
    bound: Sequence[tuple[IterVar, Expr]],
    inner: Sequence[For],
) -> bool:
    """Whether, for fixed values of all other loops, the inner loops give different bindings."""
    variables = {lp.var for lp in inner}
    env = index.bounds_around(block)
    stripped: list[tuple[IterVar, Expr]] = []
    for it, binding in bound:
        form = linear_form(simplify(binding, env))
        kept = {a: c for a, c in form.terms.items() if vars_of(a) & variables}
        if any(not vars_of(a) <= variables for a in kept):
            # Outer and inner loops meet inside a division: only the whole can be looked at.
            used = set[Var]().union(*(vars_of(b) for _, b in bound))
            every = [lp for lp in index.loops_around(block) if lp.var in used]
            whole = {lp.var for lp in every} >= variables
            return whole and _is_injective(block, bound, every)
        stripped.append((it, form_to_expr(LinearForm(kept, 0))))
    return _is_injective(block, stripped, inner)


def _is_injective(
    block: Block, bound: Sequence[tuple[IterVar, Expr]], loops: Sequence[For]
) -> bool:
    variables = {lp.var for lp in loops}
    guards = [c for c in conjuncts(block.predicate) if vars_of(c) <= variables]
    mapping = detect_iter_map(
        [binding for _, binding in bound],
        [(lp.var, lp.extent) for lp in loops],
        [it.extent for it, _ in bound],
        conjunction(guards),
    )
    return mapping.injective


def require_chain(index: ProgramIndex, loops: Sequence[For], primitive: str) -> list[For]:
    """The loops of one nest from the outermost to the innermost of those given, none branching."""
    ordered = sorted(loops, key=lambda lp: len(index.loops_around(lp)))
    top, bottom = ordered[0], ordered[-1]
    chain = [lp for lp in (*index.loops_around(bottom), bottom)]
    if any(lp not in chain for lp in ordered):
        stray = next(lp for lp in ordered if lp not in chain)
        raise refuse(
            f"{primitive}.not-nested",
            f"cannot {primitive}: {stray.var.name} and {bottom.var.name} are not in one nest; "
            f"neither loop is inside the other",
            subject=stray.var,
        )
    chain = chain[chain.index(top) :]
    for outer, inner in itertools.pairwise(chain):
        if outer.body is not inner:
            others = [b.name for s in _siblings(outer, inner) for b in blocks_in(s)]
            raise refuse(
                f"{primitive}.not-perfect",
                f"cannot {primitive} across {outer.var.name}: besides {inner.var.name} it also "
                f"contains block {', '.join(others)}, which would have to move too",
                subject=outer.var,
            )
    return chain


def _siblings(outer: For, inner: For) -> list[Stmt]:
    return [s for s in child_stmts(outer.body) if not _contains(s, inner)]


def _contains(stmt: Stmt, target: Stmt) -> bool:
    if stmt is target:
        return True
    if isinstance(stmt, For):
        return _contains(stmt.body, target)
    return isinstance(stmt, Seq) and any(_contains(s, target) for s in stmt.stmts)


def sole_writer(index: ProgramIndex, buffer: Buffer, block: Block, primitive: str) -> None:
    """Refuse if a block is not the only one that writes its buffer."""
    others = [w.name for w in index.writers.get(buffer, []) if w is not block]
    if others:
        raise refuse(
            f"{primitive}.two-writers",
            f"cannot {verb(primitive)} {block.name}: {buffer.name} is also written by "
            f"{', '.join(others)}, so {primitive} first and decompose the reduction after it",
            subject=block.symbol,
        )


def written_buffer(block: Block, primitive: str) -> Buffer:
    """The one buffer a block writes."""
    written = {n.buffer: None for n in accesses(block) if isinstance(n, Store)}
    if len(written) != 1:
        raise refuse(
            f"{primitive}.outputs",
            f"cannot {verb(primitive)} {block.name}: it writes {len(written)} buffers",
            subject=block.symbol,
        )
    return next(iter(written))
