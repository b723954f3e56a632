"""Threads of a device: binding loops to them, and choosing the memory that they see."""

from __future__ import annotations

from dataclasses import replace

from tvmlab.ir import (
    GRID_TAGS,
    GROUP_TAGS,
    VIRTUAL_TAGS,
    Buffer,
    Program,
    Scope,
    Var,
    effective_scopes,
    kind_of_tag,
    replace_buffers,
)
from tvmlab.schedule.index import index_of
from tvmlab.schedule.registry import Applied, ParamSpec, primitive
from tvmlab.schedule.rewrite import replace_stmts
from tvmlab.schedule.threads import Asked, require_lawful_threads
from tvmlab.schedule.turns import require_same_in_turn
from tvmlab.schedule.verdict import refuse

TAGS = (*GRID_TAGS, *GROUP_TAGS, *VIRTUAL_TAGS)
CHOSEN_SCOPES = ("local", "shared", "warp", "global")
SCOPE_PARAM = ParamSpec(
    "scope", "scope", "the memory to stage in", CHOSEN_SCOPES, "local", required=False
)


@primitive(
    "bind", "bind to threads", "b",
    ParamSpec("loop", "loop", "the loop"),
    ParamSpec("thread", "choice", "the threads that run its iterations", TAGS, "threadIdx.x"),
)  # fmt: skip
def bind(program: Program, loop: Var, thread: str) -> Applied:
    """Let threads of a device run the iterations of a loop.

    "blockIdx.x" (y, z) are groups of threads, which never wait for each other; "threadIdx.x" (y, z)
    are the threads of one group; "vthread" are virtual threads, interleaved into one. A reduction
    loop bound to threadIdx is joined across the threads. A loop inside one of the same tag shares
    work out that each thread would repeat, such as filling shared memory.

    Before::

        for i_outer in range(8):
            for i_inner in range(32):
                C[i_outer * 32 + i_inner] = ...

    After `bind(i_outer, "blockIdx.x")` and `bind(i_inner, "threadIdx.x")`::

        for i_outer in thread("blockIdx.x", 8):
            for i_inner in thread("threadIdx.x", 32):
                C[i_outer * 32 + i_inner] = ...
    """
    target = index_of(program).loops[loop]
    kind = kind_of_tag(thread)
    assert kind is not None
    if target.kind != "serial":
        raise refuse(
            "bind.annotated",
            f"cannot bind {loop.name} to {thread}: it is already {target.kind}"
            + (f" ({target.thread})" if target.thread else ""),
            subject=loop,
        )
    tag = thread if kind == "thread" else ""
    threads = replace(target, kind=kind, thread=tag)
    bound, what = replace_stmts(program, {target: threads}), f"bind {loop.name} to {thread}"
    require_lawful_threads(bound, Asked("bind", what, by_bind=True))
    require_same_in_turn(bound, index_of(bound).loops[loop], "bind", what)
    return Applied(bound)


@primitive(
    "set_scope", "set memory scope", "m",
    ParamSpec("buffer", "buffer", "the intermediate"),
    ParamSpec("scope", "scope", "the memory it lives in", CHOSEN_SCOPES, "shared"),
)  # fmt: skip
def set_scope(program: Program, buffer: Buffer, scope: Scope) -> Applied:
    """Choose the memory that an intermediate lives in.

    "shared" memory belongs to a group of threads, "local" memory to one thread, "warp" memory to 32
    threads; "global" leaves the choice to where the buffer is used. "accel.NAME" is a memory of an
    accelerator.

    Before::

        B = alloc(float32[64])

    After `set_scope("B", "shared")`::

        B = alloc(float32[64], scope="shared")
    """
    if buffer not in program.allocs:
        raise refuse(
            "set_scope.parameter",
            f"cannot set the scope of {buffer.name}: it is a parameter of the program, and the "
            f"caller's memory is global; cache_read or cache_write stage it in other memory",
            subject=buffer,
        )
    if buffer.scope == scope:
        raise refuse(
            "set_scope.already", f"{buffer.name} is in {scope} memory already", subject=buffer
        )
    moved = replace(buffer, scope=scope)
    result = replace(
        program,
        body=replace_buffers(program.body, {buffer: moved}),
        allocs=tuple(moved if b is buffer else b for b in program.allocs),
    )
    if scope != "global" and effective_scopes(result)[moved] == "global":
        raise refuse(
            "set_scope.other-kernel",
            f"cannot put {buffer.name} in {scope} memory: it lasts for one kernel, but "
            f"{buffer.name} is used outside of it too",
            subject=buffer,
        )
    what = f"put {buffer.name} in {scope} memory"
    require_lawful_threads(result, Asked("set_scope", what, by_bind=True))
    return Applied(result)
