"""Statements in which threads wait for each other: compiled to generators that pause there.

A thread is run until it pauses or ends. Statements in which nobody waits stay plain closures.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Protocol, TypeAlias

from tvmlab.ir import Alloc, Barrier, Expr, For, If, Let, Seq, Stmt, SyncPoints

from .failure import Fault

Wait: TypeAlias = tuple[Stmt, tuple[int, ...]]
"""Where a thread waits: the statement, and the values of the loops around it."""
Steps: TypeAlias = Callable[[], Iterator[Wait]]


class Host(Protocol):
    """What is needed of the compiler of statements."""

    def stmt(self, s: Stmt) -> Callable[[], None]: ...
    def place_of(self, s: For | Let) -> int: ...
    def guarded(self, e: Expr, s: Stmt) -> Callable[[], Any]: ...
    def enter(self, s: Alloc) -> Callable[[], None]: ...
    @property
    def frame(self) -> list[Any]: ...


class Crew(Protocol):
    """What is needed of the kernel being run."""

    idle: int
    keeps_order: bool

    def index(self, tag: str) -> int: ...


class StepCompiler:
    """Compiles the statements of a kernel in which threads wait."""

    def __init__(self, host: Host, crew: Crew, points: SyncPoints) -> None:
        self._host = host
        self._crew = crew
        self._points = points
        self._places: list[int] = []

    def steps(self, s: Stmt) -> Steps:
        """The generator function of a statement."""
        if not self._points.inside(s):
            return _plain(self._host.stmt(s))
        return _RULES[type(s)](self, s)

    def barrier(self, s: Barrier) -> Steps:
        return self._wait(s)

    def _wait(self, s: Stmt) -> Steps:
        frame, places = self._host.frame, tuple(self._places)

        def run() -> Iterator[Wait]:
            yield s, tuple(frame[p] for p in places)

        return run

    def seq(self, s: Seq) -> Steps:
        members: list[Steps] = []
        for child in s.stmts:
            if child in self._points.before:
                members.append(self._wait(child))
            members.append(self.steps(child))

        def run() -> Iterator[Wait]:
            for member in members:
                yield from member()

        return run

    def if_(self, s: If) -> Steps:
        cond, then = self._host.guarded(s.cond, s), self.steps(s.then)
        otherwise = None if s.otherwise is None else self.steps(s.otherwise)

        def run() -> Iterator[Wait]:
            if cond():
                yield from then()
            elif otherwise is not None:
                yield from otherwise()

        return run

    def for_(self, s: For) -> Steps:
        if s.kind == "thread":
            return self._thread_loop(s)
        extent, frame = self._host.guarded(s.extent, s), self._host.frame
        place = self._host.place_of(s)
        self._places.append(place)
        body = self.steps(s.body)
        wait = self._wait(s) if s in self._points.rounds else None
        self._places.pop()

        def run() -> Iterator[Wait]:
            for i in range(extent()):
                frame[place] = i
                try:
                    yield from body()
                except Fault as fault:
                    fault.loops.append((s.var, i))
                    raise
                if wait is not None:
                    yield from wait()

        return run

    def _thread_loop(self, s: For) -> Steps:
        extent, frame, crew = self._host.guarded(s.extent, s), self._host.frame, self._crew
        place, tag = self._host.place_of(s), s.thread
        body = self.steps(s.body)

        def run() -> Iterator[Wait]:
            i = frame[place] = crew.index(tag)
            missing = i >= extent()
            if missing and not crew.keeps_order:
                return
            crew.idle += missing
            try:
                yield from body()
            except Fault as fault:
                fault.loops.append((s.var, i))
                raise
            finally:
                crew.idle -= missing

        return run

    def alloc(self, s: Alloc) -> Steps:
        enter, body = self._host.enter(s), self.steps(s.body)

        def run() -> Iterator[Wait]:
            enter()
            yield from body()

        return run

    def let(self, s: Let) -> Steps:
        value, frame = self._host.guarded(s.value, s), self._host.frame
        place, body = self._host.place_of(s), self.steps(s.body)

        def run() -> Iterator[Wait]:
            frame[place] = value()
            yield from body()

        return run


def _plain(action: Callable[[], None]) -> Steps:
    def run() -> Iterator[Wait]:
        action()
        return
        yield  # makes this a generator

    return run


_RULES: dict[type, Callable[[StepCompiler, Any], Steps]] = {
    Seq: StepCompiler.seq,
    If: StepCompiler.if_,
    For: StepCompiler.for_,
    Alloc: StepCompiler.alloc,
    Let: StepCompiler.let,
    Barrier: StepCompiler.barrier,
}
