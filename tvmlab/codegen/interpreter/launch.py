"""Runs a kernel: groups of threads one after another, the threads of a group side by side.

The threads of a group take turns: each runs until it waits for the others or ends. Between two
waits their order is not defined, so an element that one thread writes and another one touches is a
race. Memory follows its scope: a group, a warp or a single thread has storage of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, Protocol

from tvmlab.ir import (
    GRID_TAGS,
    GROUP_TAGS,
    Alloc,
    Block,
    Buffer,
    For,
    Sharing,
    Store,
    SyncPoints,
    implicit_syncs,
    placed_blocks,
    reduced_by_threads,
    touched_buffers,
    walk,
)

from .expressions import ExprCompiler
from .failure import Fault
from .lockstep import Host, StepCompiler, Wait
from .memory import Slot
from .rounds import rounds_meet
from .teams import Grid, Team

_Storage = tuple[Any, Any, tuple[int, ...]]


class StmtHost(Host, Protocol):
    """The compiler of statements, as a kernel needs it."""

    exprs: ExprCompiler
    kernel: Kernel | None


@dataclass(slots=True)
class _Thread:
    """One thread of a group between its turns.

    `idle` counts the loops around it that are too short for it: it waits there and does nothing.
    """

    number: int
    index: dict[str, int]
    frame: list[Any]
    storages: list[_Storage]
    idle: int = 0
    visits: dict[Buffer, int] = field(default_factory=dict[Buffer, int])
    steps: Iterator[Wait] | None = None


class Kernel:
    """One kernel of a program: the outermost loop over threads and all below."""

    def __init__(self, host: StmtHost, root: For, sharing: Sharing, intermediates: Any) -> None:
        self.idle = 0
        self._host = host
        self._root = root
        self._sharing = sharing
        self._loops: dict[str, list[For]] = {}
        for node in walk(root):
            if isinstance(node, For) and node.kind == "thread":
                self._loops.setdefault(node.thread, []).append(node)
        self.keeps_order = any(isinstance(n, Block) for n in walk(root))
        self._placed = {p.block: p for p in placed_blocks(root)}
        self._racing: frozenset[Buffer] = frozenset()
        self._team = Team(self._racing)
        self._slots: list[Slot] = []
        self._owned: list[tuple[Slot, Buffer]] = []
        self._now: dict[str, int] = {}
        self._visits: dict[Buffer, int] = {}
        self._storages: dict[Any, _Storage] = {}
        used = set[Buffer]().union(*touched_buffers(root))
        self._intermediates = [b for b in intermediates if b in used and not self._is_global(b)]

    def _is_global(self, buffer: Buffer) -> bool:
        return self._sharing.scope(buffer) == "global"

    def index(self, tag: str) -> int:
        """The index of the thread whose turn it is."""
        return self._now[tag]

    def _shared(self, buffer: Buffer, tag: str) -> bool:
        return self._sharing.shared(buffer, self._loops[tag][0])

    def _seen_by_several(self, buffer: Buffer) -> bool:
        return any(self._shared(buffer, tag) for tag in self._loops if tag in GROUP_TAGS)

    # ------------------------------------------------------------- compiling

    def compile(self) -> Callable[[], None]:
        """The closure that runs the kernel."""
        host, exprs = self._host, self._host.exprs
        writes = frozenset(n.buffer for n in walk(self._root) if isinstance(n, Store))
        grid = Grid(frozenset(b for b in writes if self._is_global(b)))
        self._racing = frozenset(b for b in writes if self._by_all(b))
        team = self._team = Team(self._racing)
        extents = {
            tag: [host.guarded(lp.extent, lp) for lp in loops] for tag, loops in self._loops.items()
        }
        for buffer in self._intermediates:
            slot = exprs.slot(buffer)
            self._slots.append(slot)
            self._owned.append((slot, buffer))
        points = SyncPoints()
        if self.keeps_order:
            points = implicit_syncs(self._root, self._seen_by_several, rounds_meet)
        exprs.concurrent += [grid, team]
        host.kernel = self
        if points.inside(self._root):
            steps = StepCompiler(host, self, points).steps(self._root)
            action = None
        else:
            steps, action = None, host.stmt(self._root)
        host.kernel = None
        del exprs.concurrent[-2:]

        def run() -> None:
            sizes = {tag: max(e() for e in found) for tag, found in extents.items()}
            grid.begin(_ordered(sizes, GRID_TAGS))
            team.begin(_ordered(sizes, GROUP_TAGS))
            for group in grid.members():
                self._storages.clear()
                threads = [self._thread(n, {**group, **t}) for n, t in enumerate(team.members())]
                team.start()
                if action is not None:
                    for thread in threads:
                        self._enter(thread)
                        team.now = thread.number
                        action()
                    continue
                assert steps is not None
                for thread in threads:
                    thread.steps = steps()
                self._take_turns(threads, team)

        return run

    def _by_all(self, buffer: Buffer) -> bool:
        """Whether all threads of a group see one storage of a buffer."""
        return all(self._shared(buffer, tag) for tag in self._loops if tag in GROUP_TAGS)

    def team_seeing(self, buffer: Buffer) -> Team | None:
        """The threads that can race on a buffer which begins its life in the kernel, if any."""
        return self._team if buffer in self._racing else None

    def runs_first_only(self, block: Block) -> tuple[str, ...]:
        """The tags of which only the first thread runs a block: its output is theirs together."""
        placed = self._placed[block]
        found: list[str] = []
        written = touched_buffers(block)[1]
        for tag in self._loops:
            loop = placed.loop_of(tag)
            alike = loop is None or not placed.depends_on(loop)
            if alike and all(self._shared(b, tag) for b in written):
                found.append(tag)
        return tuple(found)

    def joined(self, block: Block) -> frozenset[Buffer]:
        """The buffers into which threads reduce together: no race, whatever their order."""
        placed = self._placed[block]
        return touched_buffers(block)[1] if reduced_by_threads(placed) else frozenset()

    def enter_alloc(self, s: Alloc, slot: Slot, shape: Callable[[], tuple[int, ...]]) -> Any:
        """The closure that begins the life of a buffer in the thread whose turn it is."""
        self._slots.append(slot)
        if not self._seen_by_several(s.buffer):
            return lambda: slot.allocate(shape())
        buffer = s.buffer

        def run() -> None:
            visit = self._visits[buffer] = self._visits.get(buffer, 0) + 1
            self._use(slot, buffer, shape(), visit)

        return run

    # --------------------------------------------------------------- running

    def _thread(self, number: int, index: dict[str, int]) -> _Thread:
        thread = _Thread(number, index, list(self._host.frame), [])
        self._now = index
        for slot, buffer in self._owned:
            self._use(slot, buffer, slot.dims, 0)
        thread.storages = self._pointers()
        return thread

    def _use(self, slot: Slot, buffer: Buffer, dims: tuple[int, ...], visit: int) -> None:
        """Point a slot to the storage that the current thread sees of a buffer."""
        apart = (i for tag, i in self._now.items() if not self._shared(buffer, tag))
        key = (buffer, visit, *apart)
        storage = self._storages.get(key)
        if storage is None:
            slot.allocate(dims)
            self._storages[key] = (slot.flat, slot.written, slot.dims)
        else:
            slot.flat, slot.written, slot.dims = storage

    def _pointers(self) -> list[_Storage]:
        return [(slot.flat, slot.written, slot.dims) for slot in self._slots]

    def _enter(self, thread: _Thread) -> None:
        self._now, self._visits, self.idle = thread.index, thread.visits, thread.idle
        self._host.frame[:] = thread.frame
        for slot, storage in zip(self._slots, thread.storages, strict=True):
            slot.flat, slot.written, slot.dims = storage

    def _take_turns(self, threads: list[_Thread], team: Team) -> None:
        waiting = threads
        while waiting:
            places: list[tuple[_Thread, Wait]] = []
            for thread in waiting:
                self._enter(thread)
                team.now = thread.number
                assert thread.steps is not None
                place = next(thread.steps, None)
                if place is not None:
                    places.append((thread, place))
                thread.frame, thread.storages = list(self._host.frame), self._pointers()
                thread.idle = self.idle
            _require_all_here(waiting, places, team)
            waiting = [thread for thread, _ in places]
            team.start()


def _ordered(sizes: dict[str, int], tags: tuple[str, ...]) -> dict[str, int]:
    return {tag: sizes[tag] for tag in tags if tag in sizes}


def _require_all_here(
    threads: list[_Thread], places: list[tuple[_Thread, Wait]], team: Team
) -> None:
    """All threads of a group must wait at the same place, or none."""
    if not places or (len(places) == len(threads) and len({p for _, p in places}) == 1):
        return
    here, (stmt, _) = places[0]
    waiting = {t.number for t, p in places if p == places[0][1]}
    other = next(t for t in threads if t.number not in waiting)
    text = (
        f"thread {team.describe(here.number)} waits for its group where thread "
        f"{team.describe(other.number)} does not: a barrier must be reached by all threads of a "
        f"group, in the same round of the loops around it"
    )
    fault = Fault("barrier-divergence", text)
    fault.at(stmt)
    raise fault
