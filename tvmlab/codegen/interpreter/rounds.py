"""Do threads write each other's elements in different rounds of a loop?"""

from __future__ import annotations

from collections.abc import Sequence

from tvmlab.arith import detect_iter_map
from tvmlab.ir import (
    GROUP_TAGS,
    Expr,
    For,
    PlacedBlock,
    Store,
    Var,
    free_vars,
    substitute,
    walk,
)


def rounds_meet(placed: PlacedBlock, loop: For) -> bool:
    """Whether different threads may write one element by a block in different rounds of a loop.

    They wait for each other then, so that the last round's value stays.
    """
    threads = [
        lp
        for lp in placed.loops
        if lp.kind == "thread" and lp.thread in GROUP_TAGS and placed.depends_on(lp)
    ]
    if not threads or not placed.depends_on(loop):
        return False
    below = placed.loops[placed.loops.index(loop) :]
    block = placed.block
    inner = [n for n in walk(block.body) if isinstance(n, For)]
    rounds = [lp for lp in (*below, *inner) if lp.kind != "thread"]
    values = dict(zip((it.var for it in block.iters), block.bindings, strict=True))
    return any(
        _meet(store, [substitute(i, values) for i in store.indices], threads, rounds)
        for store in walk(block.body)
        if isinstance(store, Store)
    )


def _meet(
    store: Store, indices: Sequence[Expr], threads: Sequence[For], rounds: Sequence[For]
) -> bool:
    used = [frozenset(free_vars(i)) for i in indices]
    moving = {lp.var for lp in rounds}
    if all(any(lp.var in names and not names & moving for names in used) for lp in threads):
        return False  # Each thread has a part of a dimension to itself.
    loops = [lp for lp in (*threads, *rounds) if any(lp.var in names for names in used)]
    ranges: list[tuple[Var, Expr]] = [(lp.var, lp.extent) for lp in loops]
    return not detect_iter_map(indices, ranges, store.buffer.shape).injective
