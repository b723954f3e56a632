"""Write down the memory of intermediates for which the schedule chose none.

    B = alloc(float32[64])                     B = alloc(float32[64], scope="local")
    for i in thread(64, "threadIdx.x"):  ->    for i in thread(64, "threadIdx.x"):
        B[i] = A[i] * 2.0                          B[i] = A[i] * 2.0
        C[i] = B[i] + 1.0                          C[i] = B[i] + 1.0

What only the iterations of one thread loop use is local to each of these threads; what only one
loop over groups uses is shared by each group; all else is global.
"""

from __future__ import annotations

from dataclasses import replace

from tvmlab.ir import Program, effective_scopes, is_thread_loop, replace_buffers, walk


def infer_scopes(program: Program) -> Program:
    """Give each intermediate of a program with thread loops its memory."""
    if not any(is_thread_loop(n) for n in walk(program.body)):
        return program
    scopes = effective_scopes(program)
    new = {b: replace(b, scope=scopes[b]) for b in program.allocs if scopes[b] != b.scope}
    if not new:
        return program
    allocs = tuple(new.get(b, b) for b in program.allocs)
    return replace(program, body=replace_buffers(program.body, new), allocs=allocs)
