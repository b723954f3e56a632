"""Turns each statement into a Python closure that carries it out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any, TypeAlias

from tvmlab.ir import (
    Alloc,
    Block,
    Buffer,
    Evaluate,
    Expr,
    For,
    If,
    Invoke,
    Let,
    Load,
    Node,
    Program,
    Seq,
    Sharing,
    Stmt,
    Store,
    accessed_buffer,
    children,
    is_const,
    walk,
    written_buffers,
)

from .calls import compile_call
from .empty_sums import inits_below
from .expressions import ExprCompiler
from .failure import Fault
from .joint_lanes import joined_by_lanes
from .launch import Kernel
from .linear import Value
from .memory import ConcurrentLoop, Slot

Action: TypeAlias = Callable[[], None]
"""A compiled statement."""


class StmtCompiler:
    """Compiles the body of a program; `exprs` holds its variables and buffers."""

    def __init__(self, program: Program) -> None:
        self.exprs = ExprCompiler(program.imported_code)
        self._intermediates = frozenset(program.allocs)
        self._uses = _uses(program.body)
        self._sharing = Sharing(program)
        self.kernel: Kernel | None = None

    @property
    def frame(self) -> list[Any]:
        """The values of all variables, at their places."""
        return self.exprs.frame

    def stmt(self, s: Stmt) -> Action:
        """The closure of a statement."""
        return _RULES[type(s)](self, s)

    def shape(self, buffer: Buffer) -> Callable[[], tuple[int, ...]]:
        """The closure that computes the sizes of a buffer."""
        sizes = tuple(self.exprs.expr(size) for size in buffer.shape)
        return lambda: tuple(size() for size in sizes)

    def seq(self, s: Seq) -> Action:
        actions = tuple(self.stmt(child) for child in s.stmts)

        def run() -> None:
            for action in actions:
                action()

        return run

    def store(self, s: Store) -> Action:
        action = self._scalar_store(s) if _lanes(s) == 1 else self._vector_store(s)

        def run() -> None:
            try:
                action()
            except Fault as fault:
                fault.at(s)
                raise

        return run

    def _scalar_store(self, s: Store) -> Action:
        slot, shadows = self.exprs.slot(s.buffer), self.exprs.shadows(s.buffer)
        offset = self.exprs.offset(s.buffer, s.indices, "written")
        value = self.exprs.expr(s.value)
        mask = None if s.mask is None else self.exprs.expr(s.mask)

        def run() -> None:
            if mask is not None and not mask():
                return
            result = value()
            at = offset()
            for shadow in shadows:
                shadow.write(at)
            if slot.written is not None:
                slot.written[at] = 1
            slot.flat[at] = result

        return run

    def _vector_store(self, s: Store) -> Action:
        slot, shadows = self.exprs.slot(s.buffer), self.exprs.shadows(s.buffer)
        lanes = self.exprs.lanes(s.buffer, s.indices, s.mask, _lanes(s), "written")
        value = self.exprs.expr(s.value)

        def run() -> None:
            result = value()
            where, offsets = lanes()
            _keep_lanes_apart(slot, offsets.tolist())
            for at in offsets.tolist() if shadows or slot.written is not None else ():
                for shadow in shadows:
                    shadow.write(at)
                if slot.written is not None:
                    slot.written[at] = 1
            slot.flat[offsets] = result[where]

        return run

    def evaluate(self, s: Evaluate) -> Action:
        value = self.exprs.expr(s.value)

        def run() -> None:
            try:
                value()
            except Fault as fault:
                fault.at(s)
                raise

        return run

    def let(self, s: Let) -> Action:
        value, frame = self.guarded(s.value, s), self.exprs.frame
        place, body = self.exprs.place(s.var), self.stmt(s.body)

        def run() -> None:
            frame[place] = value()
            body()

        return run

    def invoke(self, s: Invoke) -> Action:
        call = compile_call(self.exprs, s, self.stmt)

        def run() -> None:
            try:
                call()
            except Fault as fault:
                fault.at(s)
                raise

        return run

    def if_(self, s: If) -> Action:
        cond, then = self.guarded(s.cond, s), self.stmt(s.then)
        if s.otherwise is None:
            return lambda: then() if cond() else None
        otherwise = self.stmt(s.otherwise)
        return lambda: then() if cond() else otherwise()

    def for_(self, s: For) -> Action:
        if s.kind == "thread":
            return self._thread_loop(s)
        extent, frame = self.guarded(s.extent, s), self.exprs.frame
        place = self.exprs.place(s.var)
        concurrent = None
        if s.kind in ("parallel", "vectorized"):
            writes = frozenset(written_buffers(s.body))
            if s.kind == "vectorized":
                writes -= joined_by_lanes(s)
            concurrent = ConcurrentLoop(s.var, s.kind, writes)
            self._keep_private(s)
            self.exprs.concurrent.append(concurrent)
        body = self.stmt(s.body)
        if concurrent is not None:
            self.exprs.concurrent.pop()
        start_values = inits_below(self, s)

        def run() -> None:
            count = extent()
            if count <= 0 and start_values is not None:
                start_values()
            if concurrent is not None:
                concurrent.start()
            try:
                for i in range(count):
                    frame[place] = i
                    if concurrent is not None:
                        concurrent.now = i
                    body()
            except Fault as fault:
                fault.loops.append((s.var, frame[place]))
                raise

        return run

    def _keep_private(self, s: For) -> None:
        """Intermediates used nowhere else may get one copy for each iteration of this loop."""
        inside = _uses(s.body)
        for buffer, count in inside.items():
            if buffer in self._intermediates and count == self._uses[buffer]:
                self.exprs.keep_private(s.var, buffer)

    def _thread_loop(self, s: For) -> Action:
        """A loop over threads: a kernel begins, or a thread takes its own iteration."""
        kernel = self.kernel
        if kernel is None:
            return Kernel(self, s, self._sharing, self._intermediates).compile()
        extent, frame, tag = self.guarded(s.extent, s), self.exprs.frame, s.thread
        place, body = self.exprs.place(s.var), self.stmt(s.body)

        def run() -> None:
            i = frame[place] = kernel.index(tag)
            if i >= extent():
                return
            try:
                body()
            except Fault as fault:
                fault.loops.append((s.var, i))
                raise

        return run

    def place_of(self, s: For | Let) -> int:
        """The place of a variable that a statement binds."""
        return self.exprs.place(s.var)

    def alloc(self, s: Alloc) -> Action:
        enter, body = self.enter(s), self.stmt(s.body)

        def run() -> None:
            enter()
            body()

        return run

    def enter(self, s: Alloc) -> Action:
        """The closure that gives a buffer fresh storage; its body is compiled after this."""
        shape = self.shape(s.buffer)
        team = None if self.kernel is None else self.kernel.team_seeing(s.buffer)
        slot = self.exprs.declare(s.buffer, seen_in=team)
        slot.written = bytearray()
        if self.kernel is not None:
            return self.kernel.enter_alloc(s, slot, shape)
        return lambda: slot.allocate(shape())

    def block(self, s: Block) -> Action:
        predicate = None if is_const(s.predicate, True) else self.guarded(s.predicate, s)
        domain = tuple(
            (self.exprs.place(it.var), self.guarded(binding, s), self.exprs.expr(it.extent))
            for it, binding in zip(s.iters, s.bindings, strict=True)
        )
        frame = self.exprs.frame
        reduced = tuple(self.exprs.place(it.var) for it in s.iters if it.kind == "reduce")
        kernel = self.kernel
        if kernel is not None:
            self.exprs.unwatched = kernel.joined(s)
        init = None if s.init is None else self.stmt(s.init)
        body = self.stmt(s.body)
        self.exprs.unwatched = frozenset()
        first_only = () if kernel is None else kernel.runs_first_only(s)

        def run() -> None:
            if kernel is not None and (kernel.idle or any(map(kernel.index, first_only))):
                return
            if predicate is not None and not predicate():
                return
            for place, binding, extent in domain:
                value = binding()
                frame[place] = value
                if not 0 <= value < extent():
                    raise _outside_domain(s, frame, domain)
            if init is not None and not any([frame[place] for place in reduced]):
                init()
            body()

        return run

    def guarded(self, e: Expr, s: Stmt) -> Value:
        """The closure of an expression that tells a failure which statement it stands in."""
        value = self.exprs.expr(e)
        if not any(isinstance(n, Load) or getattr(n, "op", "") in _CAN_FAIL for n in walk(e)):
            return value

        def run() -> Any:
            try:
                return value()
            except Fault as fault:
                fault.at(s)
                raise

        return run


_CAN_FAIL = frozenset({"floordiv", "floormod", "truncdiv", "truncmod", "shl", "shr"})

_RULES: dict[type, Callable[[StmtCompiler, Any], Action]] = {
    Seq: StmtCompiler.seq,
    Store: StmtCompiler.store,
    Evaluate: StmtCompiler.evaluate,
    Let: StmtCompiler.let,
    Invoke: StmtCompiler.invoke,
    If: StmtCompiler.if_,
    For: StmtCompiler.for_,
    Alloc: StmtCompiler.alloc,
    Block: StmtCompiler.block,
}


def _lanes(s: Store) -> int:
    return max((i.dtype.lanes for i in s.indices), default=1)


def _uses(tree: Stmt) -> Counter[Buffer]:
    """How often each buffer is accessed, formulas shared by several statements counted for each."""
    found: Counter[Buffer] = Counter()
    stack: list[Node] = [tree]
    while stack:
        node = stack.pop()
        if isinstance(node, Expr):
            buffers = [accessed_buffer(n) for n in walk(node)]
            found.update(b for b in buffers if b is not None)
            continue
        own = accessed_buffer(node)
        found.update([] if own is None else [own])
        stack.extend(children(node))
    return found


def _keep_lanes_apart(slot: Slot, offsets: list[int]) -> None:
    """Lanes of one store have no order, so no two may write one element."""
    if len(set(offsets)) == len(offsets):
        return
    (at, _), *_ = Counter(offsets).most_common(1)
    raise Fault("race", "is written by two lanes of one store", slot.buffer, slot.index_of(at))


def _outside_domain(s: Block, frame: list[Any], domain: tuple[Any, ...]) -> Fault:
    """The failure of a binding that leaves the domain of its iteration variable."""
    for it, (place, _, extent) in zip(s.iters, domain, strict=True):
        value, size = frame[place], extent()
        if not 0 <= value < size:
            text = (
                f"in block {s.name} the iteration variable {it.var.name} is {value}, "
                f"but it runs from 0 to {size - 1}"
            )
            fault = Fault("iteration-domain", text)
            fault.at(s)
            return fault
    raise AssertionError("all bindings are inside")
