"""Starting threads once around a loop, not anew in each of its iterations."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from tvmlab.ir import (
    For,
    Program,
    Sharing,
    Stmt,
    Var,
    const_int,
    substitute,
    transform,
    uses_var,
    walk,
)
from tvmlab.schedule.coverage import require_covered_reads
from tvmlab.schedule.independence import require_independent
from tvmlab.schedule.index import ProgramIndex, index_of
from tvmlab.schedule.registry import Applied, ParamSpec, primitive
from tvmlab.schedule.rewrite import replace_stmts
from tvmlab.schedule.threads import Asked, require_lawful_threads
from tvmlab.schedule.verdict import refuse

from .bind import TAGS


def _propose(index: ProgramIndex, loop: For) -> Iterator[dict[str, Any]]:
    """The threads that are started inside a serial loop."""
    started = [lp for lp in index.loops.values() if lp.kind in ("thread", "virtual")]
    inside = {_tag(lp) for lp in started if index.is_under(lp, loop)}
    tags = [t for t in TAGS if t in inside and loop.kind == "serial"]
    for tag in tags[:1]:
        yield {"thread": tag}


@primitive(
    "env_threads", "start threads outside", "",
    ParamSpec("loop", "loop", "the loop that the threads are to be started around"),
    ParamSpec("thread", "choice", "the threads", TAGS, "threadIdx.x"),
    propose=_propose,
)  # fmt: skip
def env_threads(program: Program, loop: Var, thread: str) -> Applied:
    """Start threads once around a loop that starts them in each of its iterations.

    The threads of a group then do the iterations of the loop together, step by step.

    Before::

        for t in range(7):
            for i in thread(64, "threadIdx.x"):
                S[t + 1, i] = S[t, i] + X[t + 1, i]

    After `env_threads(t, "threadIdx.x")`::

        for i in thread(64, "threadIdx.x"):
            for t in range(7):
                S[t + 1, i] = S[t, i] + X[t + 1, i]
    """
    target = index_of(program).loops[loop]
    inner = loops_of_tag(target, thread)
    what = f"start threads of {thread} around {loop.name}"
    if not inner or inner[0] is target:
        raise refuse(
            "env_threads.none",
            f"cannot {what}: no loop inside it is bound to {thread}; bind one first",
            subject=loop,
        )
    sizes = {const_int(lp.extent) for lp in inner}
    first = inner[0]
    around = {lp.var for lp in walk(target) if isinstance(lp, For)}
    if len(sizes) > 1 or (None in sizes and len(inner) > 1) or uses_var(first.extent, around):
        names = ", ".join(lp.var.name for lp in inner)
        raise refuse(
            "env_threads.extents",
            f"cannot {what}: the loops bound to {thread} inside it ({names}) do not all have one "
            f"length that is known outside",
            subject=loop,
        )
    body = substitute(_without(target, thread), {lp.var: first.var for lp in inner[1:]})
    outside = replace(first, body=body)
    started = replace_stmts(program, {target: outside})
    if thread == "vthread":
        # Virtual threads do not wait for each other: each must do without what the others compute.
        after = index_of(started)
        require_independent(
            after, after.loops[first.var], "env_threads", private_copies=True, look_for_fixes=False
        )
    _require_own_values(started, first.var)
    require_lawful_threads(started, Asked("env_threads", what))
    return Applied(started, (first.var,))


def _require_own_values(program: Program, loop: Var) -> None:
    """Each thread has its own copy of what is now used by it alone, and must not need others'."""
    index = index_of(program)
    outside, sharing = index.loops[loop], Sharing(program)
    own = [b for b in program.allocs if not sharing.shared(b, outside)]
    for block in index.blocks_under(outside):
        require_covered_reads(program, block.symbol, "env_threads", buffers=own)


def loops_of_tag(loop: For, tag: str) -> list[For]:
    """The loops below a loop, itself included, that are bound to threads of a tag."""
    return [n for n in walk(loop) if isinstance(n, For) and _tag(n) == tag]


def _without(stmt: Stmt, tag: str) -> Stmt:
    """A statement without the loops that are bound to a tag."""

    def visit(current: Any) -> Any:
        return current.body if isinstance(current, For) and _tag(current) == tag else current

    return transform(stmt, visit)


def _tag(loop: For) -> str:
    return "vthread" if loop.kind == "virtual" else loop.thread
