"""Threads of a device: the tags of their loops, and which threads see one storage.

A kernel is a grid of groups ("blockIdx.x"), a group has threads ("threadIdx.x"). "shared" memory
belongs to a group, "warp" memory to a run of 32 threads, "local" memory to one thread. Virtual
threads are threads of a group that lowering interleaves into one stream of instructions.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from weakref import WeakKeyDictionary

from .buffer import Region
from .expr import Buffer, Load, Scope, Var
from .program import Program
from .stmt import Alloc, Block, For, If, Let, LoopKind, Operand, Seq, Stmt, Store
from .traverse import uses_var, walk

GRID_TAGS = ("blockIdx.x", "blockIdx.y", "blockIdx.z")
GROUP_TAGS = ("threadIdx.x", "threadIdx.y", "threadIdx.z")
VIRTUAL_TAGS = ("vthread", "cthread", "vthread.x", "vthread.y", "vthread.z")
WARP_SIZE = 32


def kind_of_tag(tag: str) -> LoopKind | None:
    """The kind of a loop that is bound to a tag; None for what is no tag."""
    if tag in GRID_TAGS or tag in GROUP_TAGS:
        return "thread"
    return "virtual" if tag in VIRTUAL_TAGS else None


def is_thread_loop(stmt: object) -> bool:
    """Whether a statement is a loop over threads of a device, virtual ones included."""
    return isinstance(stmt, For) and stmt.kind in ("thread", "virtual")


def has_thread_loops(stmt: Stmt) -> bool:
    """Whether loops over threads (virtual ones not counted) stand below a statement."""
    return any(isinstance(n, For) and n.kind == "thread" for n in walk(stmt))


def shares(scope: Scope, loop: For) -> bool:
    """Whether all iterations of a thread loop see one storage of a memory scope."""
    if scope == "global":
        return True
    if loop.kind == "virtual":
        return scope in ("shared", "warp")
    if scope == "shared":
        return loop.thread in GROUP_TAGS
    return scope == "warp" and loop.thread == "threadIdx.x"


@dataclass(frozen=True, slots=True)
class PlacedBlock:
    """A block and the loops around it, outermost first."""

    block: Block
    loops: tuple[For, ...]

    def loop_of(self, tag: str) -> For | None:
        """The innermost loop of a tag around the block: its iteration is the thread's index."""
        return next((lp for lp in reversed(self.loops) if lp.thread == tag), None)

    def depends_on(self, loop: For) -> bool:
        """Whether iterations of a loop run different iterations of the block."""
        return any(uses_var(binding, {loop.var}) for binding in self.block.bindings)

    def is_conditional_on(self, loop: For) -> bool:
        """Whether the iteration of a loop decides which iterations of the block there are."""
        inner = self.loops[self.loops.index(loop) + 1 :] if loop in self.loops else ()
        conditions = (self.block.predicate, *(lp.extent for lp in inner))
        return any(uses_var(condition, {loop.var}) for condition in conditions)


def placed_blocks(stmt: Stmt, loops: tuple[For, ...] = ()) -> Iterator[PlacedBlock]:
    """The outermost blocks below a statement with the loops around them, in order."""
    match stmt:
        case Block():
            yield PlacedBlock(stmt, loops)
        case For():
            yield from placed_blocks(stmt.body, (*loops, stmt))
        case Seq():
            for child in stmt.stmts:
                yield from placed_blocks(child, loops)
        case Alloc() | Let():
            yield from placed_blocks(stmt.body, loops)
        case If():
            yield from placed_blocks(stmt.then, loops)
            if stmt.otherwise is not None:
                yield from placed_blocks(stmt.otherwise, loops)
        case _:
            pass


def touched_buffers(stmt: Stmt) -> tuple[frozenset[Buffer], frozenset[Buffer]]:
    """The buffers that a statement reads, and those that it writes."""
    known = _TOUCHED.get(stmt)
    if known is None:
        known = _TOUCHED[stmt] = _find_touched(stmt)
    return known


_TOUCHED: WeakKeyDictionary[Stmt, tuple[frozenset[Buffer], frozenset[Buffer]]] = WeakKeyDictionary()


def _find_touched(stmt: Stmt) -> tuple[frozenset[Buffer], frozenset[Buffer]]:
    reads: set[Buffer] = set()
    writes: set[Buffer] = set()
    for current in walk(stmt):
        if isinstance(current, Load):
            reads.add(current.buffer)
        elif isinstance(current, Store):
            writes.add(current.buffer)
        elif isinstance(current, Operand):
            _note_operand(current.region, current.access, reads, writes)
    return frozenset(reads), frozenset(writes)


def _note_operand(region: Region, access: str, reads: set[Buffer], writes: set[Buffer]) -> None:
    if access in ("read", "update"):
        reads.add(region.buffer)
    if access in ("write", "update"):
        writes.add(region.buffer)


def effective_scopes(program: Program) -> dict[Buffer, Scope]:
    """The memory of each intermediate, where none was chosen told from the loops around its users.

    An intermediate without a scope whose users all stand in one loop over threads belongs to each
    of these threads ("local"); in one over groups, to each group ("shared"); else to all. Memory of
    threads lasts for one kernel: what is used outside of it too is global in any case.
    """
    users = _users(program)
    return {b: users[b].scope(b) if b in users else b.scope for b in program.allocs}


@dataclass(slots=True)
class _Users:
    """The blocks that use a buffer: the loops around all of them, and their kernels."""

    around: tuple[For, ...]
    kernels: set[For | None]

    def scope(self, buffer: Buffer) -> Scope:
        """The memory that the buffer needs, or has been given if that will do."""
        if buffer.scope != "global":
            needs_more = len(self.kernels) > 1 and buffer.scope in ("shared", "warp", "local")
            return "global" if needs_more else buffer.scope
        innermost = next((lp for lp in reversed(self.around) if is_thread_loop(lp)), None)
        if innermost is None or len(self.kernels) > 1:
            return "global"
        return "shared" if innermost.thread in GRID_TAGS else "local"


def _users(program: Program) -> dict[Buffer, _Users]:
    found: dict[Buffer, _Users] = {}
    for placed in placed_blocks(program.body):
        kernel = next((lp for lp in placed.loops if lp.kind == "thread"), None)
        reads, writes = touched_buffers(placed.block)
        for buffer in reads | writes:
            users = found.setdefault(buffer, _Users(placed.loops, set()))
            users.around = _common(users.around, placed.loops)
            users.kernels.add(kernel)
    return found


def _common(a: Sequence[For], b: Sequence[For]) -> tuple[For, ...]:
    shared: list[For] = []
    for x, y in zip(a, b, strict=False):
        if x is not y:
            break
        shared.append(x)
    return tuple(shared)


class Sharing:
    """Which threads of a program with blocks see one storage of each of its buffers."""

    def __init__(self, program: Program) -> None:
        self._users = _users(program)
        self._scopes = {b: u.scope(b) for b, u in self._users.items() if b in program.allocs}
        self._joined: dict[Buffer, set[str]] = {}
        for placed in placed_blocks(program.body):
            tags = {lp.thread for lp in reduced_by_threads(placed)}
            for buffer in touched_buffers(placed.block)[1] if tags else ():
                self._joined.setdefault(buffer, set()).update(tags)

    def scope(self, buffer: Buffer) -> Scope:
        """The memory that a buffer lives in."""
        return self._scopes.get(buffer, buffer.scope)

    def shared(self, buffer: Buffer, loop: For) -> bool:
        """Whether all iterations of a thread loop see one storage of a buffer.

        What threads compute together by a reduction is the same for all of them, also where each
        keeps a copy of its own. Virtual threads of one loop have copies of what is used only there.
        """
        users = self._users.get(buffer)
        if loop.kind == "virtual" and users is not None and loop not in users.around:
            return True
        return shares(self.scope(buffer), loop) or loop.thread in self._joined.get(buffer, ())


def reduced_by_threads(placed: PlacedBlock) -> list[For]:
    """The thread loops over whose iterations a block reduces."""
    reduced = {
        v
        for it, binding in zip(placed.block.iters, placed.block.bindings, strict=True)
        if it.kind == "reduce"
        for v in walk(binding)
        if isinstance(v, Var)
    }
    return [lp for lp in placed.loops if lp.kind == "thread" and lp.var in reduced]


def joint_loops(placed: PlacedBlock) -> tuple[list[For], list[For]]:
    """The serial loops around a reduction that threads do together, and those that belong to it.

    Those around it run the whole reduction, or one part after another: loops over elements and over
    the reduction at once are among them, with all around those.
    """
    bound: dict[bool, set[Var]] = {False: set(), True: set()}
    for it, binding in zip(placed.block.iters, placed.block.bindings, strict=True):
        if it.kind in ("reduce", "spatial"):
            bound[it.kind == "reduce"] |= {v for v in walk(binding) if isinstance(v, Var)}
    serial = [lp for lp in placed.loops if lp.kind != "thread"]
    reducing = [n for n, lp in enumerate(serial) if lp.var in bound[True]]
    mixed = [n for n in reducing if serial[n].var in bound[False]]
    first = mixed[-1] + 1 if mixed else 0
    start = next((n for n in reducing if n >= first), len(serial))
    return serial[:start], serial[start:]
