"""Give a group of threads its shared memory once, above the loops over its threads.

    for t in thread(64, "threadIdx.x"):            with alloc(float32[64], scope="shared") as S:
        for k in range(4):                             for t in thread(64, "threadIdx.x"):
            with alloc(..., scope="shared") as S:  ->      for k in range(4):
                ...                                            ...

Devices have no other shared memory than that. Rounds of a loop then use the same memory again, for
which barriers have been set already.
"""

from __future__ import annotations

from typing import Any

from tvmlab.ir import Alloc, Buffer, For, Program, Stmt, shares, transform_stmts, with_body

from .kernels import map_kernels, thread_loops_on_top, wrap


def hoist_shared(program: Program) -> Program:
    """Move allocations that threads of a group share out of the loops over these threads."""
    return with_body(program, map_kernels(program.body, _kernel))


def _kernel(root: For) -> Stmt:
    grid, group, body = thread_loops_on_top(root)
    found: list[Buffer] = []

    def visit(node: Any) -> Any:
        if isinstance(node, Alloc) and _is_shared(node.buffer, group):
            found.append(node.buffer)
            return node.body
        return node

    body = transform_stmts(body, visit)
    if not found:
        return root
    return wrap(grid, _around(group, body, found))


def _around(group: list[For], body: Stmt, buffers: list[Buffer]) -> Stmt:
    """Loops over the threads of a group, each buffer above the outermost loop that shares it.

    The threads of a group have no order, so the loops may change places: those whose threads share
    least (the rows of a block, where only a warp shares) come first.
    """
    loops = sorted(group, key=lambda lp: sum(shares(b.scope, lp) for b in buffers))
    for place in range(len(loops) - 1, -1, -1):
        body = wrap([loops[place]], body)
        for buffer in buffers:
            if _is_shared(buffer, [loops[place]]) and not _is_shared(buffer, loops[:place]):
                body = Alloc(buffer, body)
    return body


def _is_shared(buffer: Buffer, group: list[For]) -> bool:
    return buffer.scope != "global" and any(shares(buffer.scope, lp) for lp in group)
