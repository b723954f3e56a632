"""Do all threads of a group come to each place where they wait for each other?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol

from tvmlab.arith import Bounds, simplify
from tvmlab.ir import (
    GRID_TAGS,
    GROUP_TAGS,
    Expr,
    For,
    Seq,
    Sharing,
    Stmt,
    Var,
    block_names,
    const,
    const_int,
    free_vars,
    implicit_syncs,
    structural_equal,
    substitute,
)

from .verdict import RefusedError


class Refuse(Protocol):
    """Makes the refusal of the step that is asked for."""

    def __call__(self, rule: str, why: str, **more: object) -> RefusedError: ...


def require_common_waits(kernels: Sequence[For], sharing: Sharing, refuse: Refuse) -> None:
    """Refuse if threads would wait inside a loop that some of them run more often than others."""
    for root in kernels:
        threads = {lp.var: lp for lp in _threads(root) if const_int(lp.extent) != 1}
        uneven = [
            (lp, thread)
            for lp in _loops(root)
            if const_int(lp.extent) is None and lp.kind != "thread"
            for thread in (threads[v] for v in free_vars(lp.extent) if v in threads)
        ]
        if not uneven:
            continue
        group = list(threads.values())
        points = implicit_syncs(root, lambda b: any(sharing.shared(b, lp) for lp in group))  # noqa: B023
        for loop, thread in uneven:
            if loop in points.rounds or points.inside(loop):
                raise refuse(
                    "uneven-waits",
                    _why(loop, thread),
                    witness=_counts(loop, thread.var),
                    subject=loop.var,
                )


def _why(loop: For, thread: For) -> str:
    names = ", ".join(dict.fromkeys(block_names(loop)))
    return (
        f"threads need what others of their group compute in each round of {loop.var.name} "
        f"({names}) and so wait for each other there, but not all of them run it equally often: "
        f"its extent depends on {thread.var.name}; bind other loops than {thread.var.name}, or "
        f"move what the threads share out of {loop.var.name}"
    )


def _counts(loop: For, thread: Var) -> str | None:
    """How often two threads run a loop, the first two that differ."""
    counts: list[int | None] = []
    for index in range(64):
        at: dict[Var, Expr] = {v: const(0, v.dtype) for v in free_vars(loop.extent)}
        at[thread] = const(index, thread.dtype)
        counts.append(const_int(simplify(substitute(loop.extent, at), Bounds())))
        if counts[0] is not None and counts[-1] not in (None, counts[0]):
            return (
                f"{thread.name}=0 runs {loop.var.name} {counts[0]} times, {thread.name}={index} "
                f"{counts[-1]} times"
            )
    return None


def require_equal_grids(kernels: Sequence[For], refuse: Refuse) -> None:
    """Refuse if the number of groups would differ between parts of a kernel, by unknown sizes."""
    for root in kernels:
        seen: dict[str, For] = {}
        for loop in _thread_loops(root):
            if loop.thread not in GRID_TAGS:
                continue
            other = seen.setdefault(loop.thread, loop)
            sizes = const_int(other.extent), const_int(loop.extent)
            if None in sizes and not structural_equal(other.extent, loop.extent):
                raise refuse(
                    "unequal-groups",
                    f"{other.var.name} and {loop.var.name} would both be bound to {loop.thread} in "
                    f"one kernel, but it is known only at run time whether they are equally long; "
                    f"bind {loop.var.name} to another tag, or compute one part outside of "
                    f"{root.var.name}",
                    subject=loop.var,
                )


def _threads(root: For) -> Iterator[For]:
    return (lp for lp in _thread_loops(root) if lp.thread in GROUP_TAGS)


def _thread_loops(root: For) -> Iterator[For]:
    return (lp for lp in _loops(root) if lp.kind == "thread")


def _loops(root: For) -> Iterator[For]:
    """The loops of a kernel, itself first; in a block there is no place to wait."""
    stack: list[Stmt] = [root]
    while stack:
        stmt = stack.pop()
        if isinstance(stmt, For):
            yield stmt
            stack.append(stmt.body)
        elif isinstance(stmt, Seq):
            stack.extend(reversed(stmt.stmts))
