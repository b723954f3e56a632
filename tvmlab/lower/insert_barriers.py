"""Let the threads of a group wait for each other where one needs what another has done.

    for t in thread(64, "threadIdx.x"):          for t in thread(64, "threadIdx.x"):
        for k in range(4):                           for k in range(4):
            S[t] = A[k * 64 + t]            ->           S[t] = A[k * 64 + t]
            C[t] = C[t] + S[63 - t]                      barrier("shared")
                                                         C[t] = C[t] + S[63 - t]
                                                         barrier("shared")

A barrier stands where an element may be touched by two different threads, one of them writing,
since the last barrier; also from one round of a loop to the next. Where all threads touch only
elements of their own there is none.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from tvmlab.arith import Bounds, agreeing_pairs, detect_iter_map, linear_form
from tvmlab.ir import (
    Alloc,
    Barrier,
    Block,
    Buffer,
    Expr,
    For,
    If,
    Let,
    Program,
    Seq,
    Stmt,
    Var,
    block_names,
    const,
    const_int,
    eq,
    free_vars,
    loads_of,
    seq,
    shares,
    structural_equal,
    substitute,
    uses_var,
    walk,
    with_body,
)
from tvmlab.support import UserError

from .accesses import Access, accesses_in
from .kernels import map_kernels, thread_loops_on_top, wrap


def insert_barriers(program: Program) -> Program:
    """Insert the barriers that kernels need; expects blocks, and thread loops on top.

    Raises
    ------
    UserError
        If threads would have to wait inside a loop that they do not all run equally often.
    """
    return with_body(program, map_kernels(program.body, _kernel))


def _kernel(root: For) -> Stmt:
    if not any(isinstance(n, Block) for n in walk(root)):
        return root
    grid, group, body = thread_loops_on_top(root)
    if not group or all(const_int(lp.extent) == 1 for lp in group):
        return root
    synced = _Insertion(grid, group).visit(body, ()).stmt
    return root if synced is body else wrap([*grid, *group], synced)


@dataclass(slots=True)
class _Synced:
    """A statement with its barriers, and what is open at its ends.

    `head` are the accesses before the first barrier inside, `tail` those after the last one; they
    are the same list if there is none.
    """

    stmt: Stmt
    head: list[Access]
    tail: list[Access]
    waits: bool = False


@dataclass(slots=True)
class _Insertion:
    grid: list[For]
    group: list[For]
    born: dict[Buffer, int] = field(default_factory=dict[Buffer, int])

    def visit(self, stmt: Stmt, around: tuple[For, ...]) -> _Synced:
        match stmt:
            case Seq():
                return self._sequence(stmt, around)
            case For():
                return self._loop(stmt, around)
            case Alloc():
                self.born[stmt.buffer] = len(around)
                inner = self.visit(stmt.body, around)
            case Let():
                inner = self.visit(stmt.body, around)
            case If():
                return self._condition(stmt, around)
            case Barrier():
                return _Synced(stmt, [], [], waits=True)
            case _:
                found = self._accesses(stmt, around)
                return _Synced(stmt, found, found)
        same = inner.stmt is stmt.body
        return replace(inner, stmt=stmt if same else replace(stmt, body=inner.stmt))

    def _accesses(self, stmt: Stmt, around: tuple[For, ...]) -> list[Access]:
        """The accesses to memory that several threads of the group see."""
        return [
            replace(a, loops=(*around, *a.loops))
            for a in accesses_in(stmt)
            if any(shares(a.buffer.scope, lp) for lp in self.group)
        ]

    def _sequence(self, stmt: Seq, around: tuple[For, ...]) -> _Synced:
        members: list[Stmt] = []
        head: list[Access] = []
        pending: list[Access] = []
        waits = False
        for child in stmt.stmts:
            part = self.visit(child, around)
            scopes = self._clash(pending, part.head, around)
            if scopes:
                self._require_uniform(around, child)
                members.append(Barrier(scopes))
                pending, waits = [], True
            members.append(part.stmt)
            if not waits:
                head = [*head, *part.head]
            pending = part.tail if part.waits else [*pending, *part.tail]
            waits = waits or part.waits
        same = len(members) == len(stmt.stmts) and all(
            a is b for a, b in zip(members, stmt.stmts, strict=True)
        )
        return _Synced(stmt if same else seq(members), head, pending, waits)

    def _loop(self, stmt: For, around: tuple[For, ...]) -> _Synced:
        inner = self.visit(stmt.body, (*around, stmt))
        body, tail, waits = inner.stmt, inner.tail, inner.waits
        scopes = ""
        if const_int(stmt.extent) != 1:
            scopes = self._clash(inner.tail, inner.head, around, carried=stmt)
        if scopes:
            self._require_uniform((*around, stmt), stmt.body)
            body, tail, waits = seq([body, Barrier(scopes)]), [], True
        runs = (const_int(stmt.extent) or 0) > 0
        # Where a loop may not run at all, what was open before it stays open.
        tail = tail if runs or not waits else [*inner.head, *tail]
        new = stmt if body is stmt.body else _scalar(replace(stmt, body=body))
        return _Synced(new, inner.head, tail, waits and runs)

    def _condition(self, stmt: If, around: tuple[For, ...]) -> _Synced:
        asked = [] if stmt.otherwise is None else [self.visit(stmt.otherwise, around)]
        parts = [self.visit(stmt.then, around), *asked]
        found = self._accesses(stmt, around)
        if not any(part.waits for part in parts):
            return _Synced(stmt, found, found)
        if uses_var(stmt.cond, {lp.var for lp in self.group}) or loads_of(stmt.cond):
            raise UserError(
                "threads would have to wait for each other inside a condition that not all of "
                "them fulfil",
                hint="move the condition into the statements that it is about",
            )
        new = If(stmt.cond, *(part.stmt for part in parts))
        return _Synced(new, found, found)

    def _require_uniform(self, around: Sequence[For], stmt: Stmt) -> None:
        threads = {lp.var for lp in self.group}
        for loop in around:
            if uses_var(loop.extent, threads):
                names = block_names(stmt)
                raise UserError(
                    f"threads would have to wait for each other before {', '.join(names)}, inside "
                    f"the loop {loop.var.name} that not all threads run equally often",
                    hint=f"give {loop.var.name} the same extent for all threads, or move the part "
                    f"that other threads need out of it",
                )

    def _clash(
        self,
        before: Sequence[Access],
        after: Sequence[Access],
        around: Sequence[For],
        carried: For | None = None,
    ) -> str:
        """The memory in which two threads may touch one element, one writing; empty if none."""
        scopes = {
            a.buffer.scope
            for a in before
            for b in after
            if a.buffer is b.buffer
            and (a.is_store or b.is_store)
            and not self._same_thread(a, b, around, carried)
        }
        return "" if not scopes else "warp" if scopes == {"warp"} else "shared"

    def _same_thread(
        self, a: Access, b: Access, around: Sequence[For], carried: For | None
    ) -> bool:
        """Whether the same thread makes both accesses whenever they meet at one element."""
        apart = [lp for lp in self.group if shares(a.buffer.scope, lp)]
        own = [lp.var for lp in (*self.grid, *self.group) if lp not in apart]
        fixed = {*own, *(lp.var for lp in around if lp.kind != "virtual")}
        rounds = carried is not None and carried.kind != "virtual"
        if carried is not None and rounds and self.born.get(a.buffer, 0) > len(around):
            # Each round has storage of its own, which will be the same memory.
            if not _moves_alike(a, b, carried.var):
                return False
            fixed.add(carried.var)
        env = Bounds.of({lp.var: lp.extent for lp in (*self.grid, *self.group, *a.loops, *b.loops)})
        if _tell_apart(a, b, apart, fixed, env):
            return True
        x, y = _in_first(a, apart), _in_first(b, apart)
        pairs = [(lp.var, lp.var) for lp in apart if not (_is_first(a, lp) and _is_first(b, lp))]
        agreed = agreeing_pairs(x, y, pairs, env, frozenset(fixed))
        return len(agreed) == len(pairs)


def _scalar(loop: For) -> For:
    """A loop in which threads wait has no lanes to run side by side."""
    if loop.kind != "vectorized":
        return loop
    note = ("scalar", "threads wait for each other in it")
    return replace(loop, kind="serial", annotations=(*loop.annotations, note))


def _tell_apart(a: Access, b: Access, apart: Sequence[For], fixed: set[Var], env: Bounds) -> bool:
    """Whether two accesses at one place are at another element in each thread and round."""
    if not all(structural_equal(x, y) for x, y in zip(a.indices, b.indices, strict=True)):
        return False
    loops = [*apart, *(lp for lp in a.loops if lp.var not in fixed and lp not in apart)]
    used = [lp for lp in loops if lp in apart or any(uses_var(i, {lp.var}) for i in a.indices)]
    runs = [(lp.var, lp.extent) for lp in used]
    return detect_iter_map(a.indices, runs, a.buffer.shape, env=env).injective


def _is_first(access: Access, loop: For) -> bool:
    """Whether only the first thread of a loop gets to an access."""
    asked = eq(loop.var, 0)
    return const_int(loop.extent) == 1 or any(structural_equal(c, asked) for c in access.conditions)


def _in_first(access: Access, loops: Sequence[For]) -> tuple[Expr, ...]:
    zero: dict[Var, Expr] = {
        lp.var: const(0, lp.var.dtype) for lp in loops if _is_first(access, lp)
    }
    return tuple(substitute(i, zero) for i in access.indices)


def _moves_alike(a: Access, b: Access, var: Var) -> bool:
    """Whether the indices of both accesses move by the same steps with a loop."""
    env = Bounds.of({lp.var: lp.extent for lp in (*a.loops, *b.loops)})
    for x, y in zip(a.indices, b.indices, strict=True):
        forms = linear_form(x, env), linear_form(y, env)
        for form in forms:
            if any(atom is not var and var in free_vars(atom) for atom in form.terms):
                return False
        if forms[0].terms.get(var, 0) != forms[1].terms.get(var, 0):
            return False
    return True
