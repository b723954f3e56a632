"""What loops over threads of a device may do: the rules behind `bind` and `set_scope`.

The whole program is looked at, for a thread loop is lawful only together with the memory that its
threads see: a block may go to threads if each writes elements of its own, or storage of its own.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from functools import lru_cache

from tvmlab.ir import (
    GRID_TAGS,
    GROUP_TAGS,
    WARP_SIZE,
    Block,
    Buffer,
    For,
    PlacedBlock,
    Program,
    Sharing,
    Stmt,
    Store,
    const_int,
    is_thread_loop,
    placed_blocks,
    reduced_by_threads,
    touched_buffers,
    uses_var,
    walk,
)

from .independence import require_independent
from .index import ProgramIndex, buffers_written, index_of, nest_of
from .joint_start import require_clear_start
from .kinds import block_kind
from .legality import binding_vars
from .thread_memory import require_lasting_memory
from .thread_reads import require_own_reads
from .verdict import RefusedError, refuse, unsure
from .waiting import require_common_waits, require_equal_grids


@dataclass(frozen=True, slots=True)
class Asked:
    """The step that is asked for: its primitive, and what it is to do, in words."""

    primitive: str
    what: str
    by_bind: bool = False

    def refuse(self, rule: str, why: str, **more: object) -> RefusedError:
        """The refusal of the step by one of the rules of threads."""
        return refuse(self._name(rule), f"cannot {self.what}: {why}", **more)  # type: ignore[arg-type]

    def doubt(self, rule: str, why: str, **more: object) -> RefusedError:
        """The refusal of a step that may be lawful, but could not be shown to be."""
        return unsure(self._name(rule), f"cannot {self.what}: {why}", **more)  # type: ignore[arg-type]

    def _name(self, rule: str) -> str:
        return f"{self.primitive}.{rule}" if self.by_bind else f"{self.primitive}.breaks-threads"


def require_lawful_threads(program: Program, asked: Asked) -> None:
    """Refuse a step after which threads would be nested wrongly, or touch each other's elements."""
    _require_outside_blocks(program, asked)
    loops = [lp for lp in nest_of(program).loops if is_thread_loop(lp)]
    if not loops:
        return
    index = index_of(program)
    for loop in index.loops.values():
        _require_place(index, loop, asked)
    sharing = Sharing(program)
    placed = list(placed_blocks(program.body))
    for loop in loops:
        below = [p for p in placed if loop in p.loops]
        _require_cooperation(index, loop, below, sharing, asked)
        _require_groups_apart(loop, _kernel_of(loop, index, placed), sharing, asked)
        exempt = [p.block for p in below if not _may_clash(p, loop, sharing, asked)]
        for joint in (p for p in below if loop in reduced_by_threads(p)):
            require_clear_start(index, joint, loop, asked.doubt)
        own = [b for b in program.allocs if not sharing.shared(b, loop)]
        _require_apart(index, loop, exempt, own, asked)
    _require_narrow_warps(program, loops, asked)
    require_own_reads(program, placed, sharing, asked.refuse)
    require_lasting_memory(index, placed, sharing, asked.doubt)
    kernels = [lp for lp in loops if lp.kind == "thread" and not _in_threads(lp, index)]
    require_equal_grids(kernels, asked.refuse)
    require_common_waits(kernels, sharing, asked.refuse)


def _in_threads(loop: For, index: ProgramIndex) -> bool:
    return any(lp.kind == "thread" for lp in index.loops_around(loop))


def _require_outside_blocks(program: Program, asked: Asked) -> None:
    """A block is done by one thread: it holds no loops over threads."""
    for block in nest_of(program).blocks:
        loop = _thread_loop_in(block.body)
        if loop is not None:
            raise asked.refuse(
                "in-block",
                f"the loop {loop.var.name} over threads would be inside the block "
                f"{block.name}, which one thread runs as a whole",
                subject=block.symbol,
            )


@lru_cache(maxsize=2048)
def _thread_loop_in(body: Stmt) -> For | None:
    """The first loop over threads in the body of a block, which most steps leave as it is."""
    if isinstance(body, Store):
        return None
    return next((n for n in walk(body) if isinstance(n, For) and is_thread_loop(n)), None)


def _require_place(index: ProgramIndex, loop: For, asked: Asked) -> None:
    """Threads stand inside no vector and no other threads than their own group's."""
    name, around = loop.var.name, index.loops_around(loop)
    if not is_thread_loop(loop):
        outer = next((lp for lp in around if is_thread_loop(lp)), None)
        if outer is not None and loop.kind == "parallel":
            raise asked.refuse(
                "parallel-inside",
                f"the parallel loop {name} is inside {outer.var.name}, which is bound to "
                f"{outer.thread}; threads of a device cannot start threads of the CPU",
                subject=loop.var,
            )
        return
    for outer in around:
        if outer.kind in ("vectorized", "unrolled", "parallel"):
            raise asked.refuse(
                f"in-{outer.kind}",
                f"{name} is inside the {outer.kind} loop {outer.var.name}; bind a loop around it "
                f"instead, or make {outer.var.name} serial",
                subject=loop.var,
            )
    if loop.thread in GRID_TAGS:
        _require_grid_on_top(around, loop, asked)
    elif const_int(loop.extent) is None:
        raise asked.refuse(
            "symbolic-extent",
            f"the extent of {name} is known only at run time, but the size of a group of threads "
            f"is fixed; split {name} by a constant and bind the inner loop",
            subject=loop.var,
        )


def _require_grid_on_top(around: list[For], loop: For, asked: Asked) -> None:
    name = loop.var.name
    first = next((n for n, lp in enumerate(around) if is_thread_loop(lp)), len(around))
    for outer in around[first:]:
        if outer.thread == loop.thread:
            raise asked.refuse(
                "nested-tag",
                f"{name} is inside {outer.var.name}, which is bound to {loop.thread} already",
                subject=loop.var,
            )
        if outer.thread not in GRID_TAGS:
            raise asked.refuse(
                "grid-inside",
                f"{name} is inside {outer.var.name}, but groups of threads start only at the top "
                f"of a kernel; reorder {name} outwards",
                subject=loop.var,
            )


def _require_cooperation(
    index: ProgramIndex, loop: For, below: list[PlacedBlock], sharing: Sharing, asked: Asked
) -> None:
    """A thread loop inside one of the same tag must share out work that all threads repeat."""
    outer = next((lp for lp in index.loops_around(loop) if lp.thread == loop.thread), None)
    if outer is None or loop.thread not in GROUP_TAGS:
        return
    name, tag = loop.var.name, loop.thread
    most, size = const_int(outer.extent), const_int(loop.extent)
    if most is None or size is None or size > most:
        few = "1 thread" if most == 1 else f"{most} threads"
        way = f"split {name} by {most} and bind the inner loop"
        raise asked.refuse(
            "too-many-threads",
            f"{name} has {size} iterations, but it is inside {outer.var.name}, which has only "
            f"{few} of {tag}; {way if most != 1 else f'bind {name} in place of it'}",
            subject=loop.var,
        )
    for placed in below:
        block = placed.block
        alone = [b.name for b in touched_buffers(block)[1] if not sharing.shared(b, loop)]
        if placed.depends_on(outer) or placed.is_conditional_on(outer) or alone:
            why = (
                f"{alone[0]} is not in memory that these threads share"
                if alone
                else f"{block.name} depends on {outer.var.name}, so that each thread would do only "
                f"one iteration of {name} where it needs all"
            )
            raise asked.refuse(
                "nested-tag",
                f"{name} is inside {outer.var.name}, which is bound to {tag} already, and {why}",
                subject=loop.var,
            )


def _require_groups_apart(
    loop: For, kernel: list[PlacedBlock], sharing: Sharing, asked: Asked
) -> None:
    """What every group does for itself must not go to memory that another one touches."""
    if loop.thread not in GRID_TAGS or const_int(loop.extent) == 1:
        return
    for placed in kernel:
        own = placed.loop_of(loop.thread)
        if own not in (loop, None) or (own is not None and placed.depends_on(own)):
            continue
        read, written = touched_buffers(placed.block)
        for buffer in written:
            if not sharing.shared(buffer, loop):
                continue
            others = [p for p in kernel if p is not placed and _touches(p.block, buffer)]
            if buffer in read or others:
                use = (
                    f"{buffer.name} and read them"
                    if buffer in read
                    else f"{buffer.name}, which {others[0].block.name} uses too"
                )
                raise asked.refuse(
                    "groups-share",
                    f"{placed.block.name} does not depend on {loop.var.name}, so that every group "
                    f"of threads would write the same elements of {use}, and groups do not wait "
                    "for each other",
                    subject=loop.var,
                )


def _touches(block: Block, buffer: Buffer) -> bool:
    read, written = touched_buffers(block)
    return buffer in read or buffer in written


def _kernel_of(loop: For, index: ProgramIndex, placed: list[PlacedBlock]) -> list[PlacedBlock]:
    """The blocks that run in the same kernel as a thread loop, inside it or beside it."""
    outermost = next((lp for lp in index.loops_around(loop) if is_thread_loop(lp)), loop)
    return [p for p in placed if outermost in p.loops]


def _may_clash(placed: PlacedBlock, loop: For, sharing: Sharing, asked: Asked) -> bool:
    """Whether iterations of a thread loop write storage that they share, each its own part."""
    block, name = placed.block, loop.var.name
    if loop.var in binding_vars(block, "reduce"):
        _require_joint_reduction(placed, loop, asked)
        return False
    written = touched_buffers(block)[1]
    shared = [b for b in written if sharing.shared(b, loop)]
    if not placed.depends_on(loop):
        if shared and len(shared) < len(written):
            raise asked.refuse(
                "mixed-scopes",
                f"block {block.name} does not depend on {name} and writes some buffers that its "
                f"threads share and some that they do not",
                subject=loop.var,
            )
        if shared and placed.is_conditional_on(loop):
            raise asked.doubt(
                "condition",
                f"the first iteration of {name} would do block {block.name} for all, as they share "
                f"{shared[0].name}, but a condition on {name} decides where the block runs",
                subject=loop.var,
            )
        return False
    return bool(shared)


def _require_joint_reduction(placed: PlacedBlock, loop: For, asked: Asked) -> None:
    """Threads of one group may join their partial results; others cannot wait for each other."""
    block, name = placed.block, loop.var.name
    if loop.thread not in GROUP_TAGS:
        kind = "groups of threads" if loop.thread in GRID_TAGS else "virtual threads"
        fix = "bind it to threadIdx.x, or rfactor it first"
        raise asked.refuse(
            "reduction",
            f"{name} is a reduction loop of block {block.name}, and {kind} cannot wait for each "
            f"other to join their partial results; {fix}",
            witness=f"{name}=0 and {name}=1 both update {_written(block)}",
            subject=loop.var,
        )
    mixed = loop.var in binding_vars(block, "spatial")
    if block_kind(block) != "reduction" or mixed:
        raise asked.refuse(
            "unlawful-reduction",
            f"{name} is a reduction loop of block {block.name}, whose partial results cannot be "
            f"joined in any order",
            subject=loop.var,
        )
    uneven = [lp.var.name for lp in placed.loops if uses_var(lp.extent, {loop.var})]
    if uneven:
        raise asked.doubt(
            "uneven-rounds",
            f"threads of {name} would join their parts of the sums of {block.name} in each round "
            f"of {uneven[0]}, which has more rounds in some threads than in others; reorder "
            f"{name} inside {uneven[0]} first",
            subject=loop.var,
        )


def _written(block: Block) -> str:
    return ", ".join(b.name for b in buffers_written(block))


def _require_apart(
    index: ProgramIndex,
    loop: For,
    exempt: Collection[Block],
    own: Collection[Buffer],
    asked: Asked,
) -> None:
    """The iterations of a thread loop write different elements of what they share."""
    try:
        require_independent(
            index, loop, "bind", private_copies=False, look_for_fixes=False, exempt=exempt, own=own
        )
    except RefusedError as error:
        if asked.by_bind and asked.primitive == "bind":
            raise
        raise asked.refuse(
            "clash", f"threads would touch each other's elements ({error.verdict.reason})",
            witness=error.verdict.witness, subject=error.subject,
        ) from error  # fmt: skip


def _require_narrow_warps(program: Program, loops: list[For], asked: Asked) -> None:
    if not any(b.scope == "warp" for b in program.allocs):
        return
    for loop in loops:
        size = const_int(loop.extent)
        if loop.thread == "threadIdx.x" and (size is None or size > WARP_SIZE):
            raise asked.refuse(
                "wide-warp",
                f"threads of {loop.var.name} use warp memory, which {WARP_SIZE} threads share, but "
                f"{loop.var.name} has {size}; use shared memory, or split {loop.var.name}",
                subject=loop.var,
            )
