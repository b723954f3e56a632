"""The small structural rules that several primitives share. Each raises a refusal with its rule id.

These rules answer in microseconds from how loops stand and bind iteration variables. What they
cannot decide is asked of `dependence`.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from weakref import WeakKeyDictionary

from tvmlab.arith import law_of
from tvmlab.ir import (
    Block,
    Buffer,
    Expr,
    For,
    Seq,
    Stmt,
    Var,
    child_stmts,
    const_int,
    walk,
)

from .index import ProgramIndex, blocks_in, buffers_written
from .notes import require_unheld
from .verdict import refuse

_VERBS = {"env_threads": "start virtual threads outside with", "parallel": "parallelize"}


def verb(primitive: str) -> str:
    """The word for applying a primitive, in a sentence."""
    return _VERBS.get(primitive, primitive)


_VARS: WeakKeyDictionary[Expr, frozenset[Var]] = WeakKeyDictionary()


def vars_of(e: Expr) -> frozenset[Var]:
    """The variables in an expression."""
    if isinstance(e, Var):
        return frozenset((e,))
    known = _VARS.get(e)
    if known is None:
        known = _VARS[e] = frozenset(n for n in walk(e) if isinstance(n, Var))
    return known


def binding_vars(block: Block, kind: str) -> set[Var]:
    """The loop variables that bind a block's iteration variables of one kind."""
    found: set[Var] = set()
    for it, binding in zip(block.iters, block.bindings, strict=True):
        if it.kind == kind:
            found |= vars_of(binding)
    return found


def require_serial(loop: For, primitive: str) -> None:
    """Refuse to restructure a loop that already has a kind or a plan of its own."""
    require_unheld(loop, primitive)
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
    written = buffers_written(block)
    if len(written) != 1:
        raise refuse(
            f"{primitive}.outputs",
            f"cannot {verb(primitive)} {block.name}: it writes {len(written)} buffers",
            subject=block.symbol,
        )
    return written[0]


def order_note(block: Block) -> str:
    """The end of a sentence: why the order of a reduction by a user's operation matters."""
    if block.combiner is None or block.combiner.lawful:
        return ""
    law = law_of(block.combiner)
    why = law.counterexample or law.reason
    return f"; the operation of {block.name} is not associative and commutative: {why}"
