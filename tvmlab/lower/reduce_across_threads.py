"""Join what the threads of a group have reduced, each over its own part.

    for t in thread(64, "threadIdx.x"):          for t in thread(64, "threadIdx.x"):
        for k in range(4):                           C_part[i] = 0.0
            with init(): C[i] = 0.0                  for k in range(4):
            C[i] = C[i] + A[i, k * 64 + t]  ->           C_part[i] = C_part[i] + A[i, k * 64 + t]
                                                     C_join[t] = C_part[i]
                                                     where(t < 32): C_join[t] += C_join[t + 32]
                                                     ...
                                                     where(t == 0): C[i] = C_join[0]

Each thread keeps its partial result to itself; then half of the threads join two results each, in
shared memory, then half of these, until one is left. Threads that each have a copy of the result
all take it over.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from tvmlab.arith import simplify
from tvmlab.ir import (
    Alloc,
    Block,
    BlockSymbol,
    Buffer,
    Expr,
    For,
    IterVar,
    Load,
    PlacedBlock,
    Program,
    Seq,
    Stmt,
    Store,
    Var,
    block_names,
    conjunction,
    conjuncts,
    const,
    const_int,
    eq,
    free_vars,
    is_const,
    joint_loops,
    make_block,
    placed_blocks,
    reduced_by_threads,
    replace_buffers,
    seq,
    shares,
    structural_equal,
    substitute,
    transform,
    uses_var,
    walk,
    with_body,
    written_buffers,
)
from tvmlab.schedule import ReductionForm, reduction_form
from tvmlab.support import InternalError, Namer

from .kernels import map_kernels, thread_loops_on_top


def reduce_across_threads(program: Program) -> Program:
    """Replace reductions over thread loops; expects blocks, and thread loops on top of kernels."""
    names = Namer(block_names(program.body))

    def change(root: For) -> Stmt:
        group = thread_loops_on_top(root)[1]
        for placed in list(placed_blocks(root)):
            if _count(reduced_by_threads(placed)) > 1:  # one alone has nobody to join
                joint = _JointReduction.of(placed, group, names)
                new = transform(root, joint.replace)
                assert isinstance(new, For)
                root = new
        return root

    return with_body(program, map_kernels(program.body, change))


@dataclass(slots=True)
class _JointReduction:
    """One block that reduces over threads, and what is made of it.

    Attributes
    ----------
    top
        The outermost statement inside the thread loops that belongs to the reduction.
    inner
        The loops over elements inside `top`.
    joined, apart
        The thread loops that the block reduces over, and the other ones of the group.
    own
        The loops over the reduction inside `top`, threads that reduce together among them.
    begins
        What holds in the first round of reduction loops around `top`; nothing if there are none.
    among_others
        Whether other blocks inside `top` add to the same results. Then the start values are set
        before `top`: set after it, they would wipe out what the others have added.
    parts, meeting
        Per result, the buffer of partial results and the shared one in which they are joined.
    """

    block: Block
    form: ReductionForm
    top: Stmt
    inner: list[For]
    joined: list[For]
    apart: list[For]
    parts: list[Buffer]
    meeting: list[Buffer]
    names: Namer
    own: set[Var]
    begins: list[Expr]
    among_others: bool
    moved: dict[Var, Expr] = field(default_factory=dict[Var, Expr])

    @staticmethod
    def of(placed: PlacedBlock, group: list[For], names: Namer) -> _JointReduction:
        block = placed.block
        joined = reduced_by_threads(placed)
        apart = [lp for lp in group if lp not in joined]
        reducing = _bound(block, "reduce")
        inside = joint_loops(placed)[1]
        inner = [lp for lp in inside if lp.var not in reducing]
        own = {lp.var for lp in (*inside, *joined)} & reducing
        form = _form(block)
        count = _count(joined)
        shape = (*(lp.extent for lp in apart), const(count))
        parts = [replace(b, name=f"{b.name}_part", scope="local") for b in form.buffers]
        meeting = [Buffer(f"{b.name}_join", shape, b.dtype, "shared") for b in form.buffers]
        top: Stmt = inside[0] if inside else block
        begins = _first_round(block, own)
        others = [n for n in walk(top) if isinstance(n, Block) and n is not block]
        among_others = any(b in written_buffers(other) for other in others for b in form.buffers)
        return _JointReduction(
            block, form, top, inner, joined, apart, parts, meeting, names, own, begins, among_others
        )

    def replace(self, node: object) -> object:
        """The whole reduction in the place of its outermost loop, all else unchanged."""
        if node is self.block and node is not self.top:
            return self._partial()
        is_top = isinstance(node, For) and isinstance(self.top, For) and node.var is self.top.var
        if not is_top and node is not self.top:
            return node
        loop = node if is_top else self._partial()
        assert isinstance(loop, (For, Block))
        first = [self._reset()] if self.among_others and self.block.init is not None else []
        body: Stmt = seq([*first, self._start(), loop, self._finish()])
        for buffer in (*self.meeting, *self.parts):
            body = Alloc(buffer, body)
        return body

    # ---------------------------------------------------------------- pieces

    def _partial(self) -> Block:
        """The block, reducing into the thread's own partial result."""
        moved = dict(zip(self.form.buffers, self.parts, strict=True))
        # Its result is only a part: from here on threads no longer reduce together.
        iters = [
            replace(it, kind="opaque") if it.kind == "reduce" else it for it in self.block.iters
        ]
        block = replace(self.block, iters=tuple(iters), init=None)
        return replace_buffers(block, moved)

    def _start(self) -> Stmt:
        iters, values, loops = self._elements()
        places = [
            (part, tuple(substitute(i, values) for i in store.indices))
            for part, store in zip(self.parts, self.form.stores, strict=True)
        ]
        return self._nest("start", iters, self.form.start(places), loops)

    def _reset(self) -> Stmt:
        """Set the start values of the results themselves."""
        iters, _, loops = self._elements()
        return self._around(self._set_start(iters), loops)

    def _set_start(self, mine: Sequence[tuple[IterVar, Expr]]) -> Block:
        """A block that sets the start values, its first iteration variables over the elements."""
        assert self.block.init is not None
        fresh = {old.var: new.var for old, (new, _) in zip(self._spatial(), mine, strict=False)}
        init = substitute(self.block.init, dict(fresh))
        return self._block("reset", mine, init, [*self._writers(), *self.begins])

    def _finish(self) -> Stmt:
        """For each element: give the partial result, join all, take over the joint one.

        One element after another, since all of them are joined in the same place.
        """
        iters, values, loops = self._elements()
        concurrent = ("vectorized", "parallel", "virtual")
        loops = [replace(lp, kind="serial") if lp.kind in concurrent else lp for lp in loops]
        at = [tuple(substitute(i, values) for i in s.indices) for s in self.form.stores]
        rank, count = self._rank(), _count(self.joined)
        mine = [*iters, *self._rows(), (IterVar(Var("vr"), const(count), "spatial"), rank)]
        row = tuple(it.var for it, _ in mine[len(iters) :])
        give = seq(
            [
                Store(meet, row, Load(part, place))
                for meet, part, place in zip(self.meeting, self.parts, at, strict=True)
            ]
        )
        steps: list[Stmt] = [self._block("give", mine, give, ())]
        step = 1 << max(count - 1, 0).bit_length()
        while step > 1:
            step //= 2
            into = [Load(m, row) for m in self.meeting]
            others = [Load(m, (*row[:-1], row[-1] + step)) for m in self.meeting]
            where = (rank < step, rank + step < count)
            steps.append(self._block("join", mine, self.form.join(into, others), where))
        steps.append(self._take(mine, at, row))
        return self._around(seq(steps), loops)

    def _take(
        self,
        mine: Sequence[tuple[IterVar, Expr]],
        at: Sequence[tuple[Expr, ...]],
        row: tuple[Expr, ...],
    ) -> Stmt:
        """Store the joint result: in the first thread, or in all if each has a copy of its own."""
        values: list[Expr] = [Load(m, (*row[:-1], const(0))) for m in self.meeting]
        into = [Load(b, place) for b, place in zip(self.form.buffers, at, strict=True)]
        first = self._writers()
        join = self._block("take", mine, self.form.join(into, values), first)
        if self.block.init is None or self.among_others:
            return join
        if self._starts_neutral() and not self.begins:
            stores: list[Stmt] = [
                Store(x.buffer, x.indices, v) for x, v in zip(into, values, strict=True)
            ]
            return self._block("take", mine, seq(stores), first)
        return seq([self._set_start(mine), join])

    def _writers(self) -> list[Expr]:
        """Which threads write the result: the first, or all if each has a copy of its own."""
        return [
            eq(lp.var, 0)
            for lp in self.joined
            if all(shares(b.scope, lp) for b in self.form.buffers)
        ]

    def _starts_neutral(self) -> bool:
        """Whether the start value of the block is the neutral element of its operation."""
        init = self.block.init
        stores = init.stmts if isinstance(init, Seq) else (init,)
        wanted = self.form.combiner.identity
        return len(stores) == len(wanted) and all(
            isinstance(s, Store) and structural_equal(s.value, e)
            for s, e in zip(stores, wanted, strict=True)
        )

    # --------------------------------------------------------------- helpers

    def _spatial(self) -> list[IterVar]:
        return [it for it in self.block.iters if it.kind != "reduce"]

    def _elements(self) -> tuple[list[tuple[IterVar, Expr]], dict[Var, Expr], list[For]]:
        """Fresh iteration variables over the elements, what they replace, and fresh loops."""
        loops = [replace(lp, var=Var(lp.var.name)) for lp in self.inner]
        moved: dict[Var, Expr] = {
            old.var: new.var for old, new in zip(self.inner, loops, strict=True)
        }
        iters: list[tuple[IterVar, Expr]] = []
        values: dict[Var, Expr] = {}
        for it, binding in zip(self.block.iters, self.block.bindings, strict=True):
            if it.kind != "reduce":
                fresh = replace(it, var=Var(it.var.name))
                iters.append((fresh, substitute(binding, moved)))
                values[it.var] = fresh.var
        self.moved = moved
        return iters, values, loops

    def _rows(self) -> list[tuple[IterVar, Expr]]:
        return [(IterVar(Var("vt"), lp.extent, "spatial"), lp.var) for lp in self.apart]

    def _rank(self) -> Expr:
        """The number of a thread among those that join."""
        rank: Expr = const(0)
        for loop in self.joined:
            rank = loop.var if const_int(rank) == 0 else rank * loop.extent + loop.var
        return rank

    def _guard(self) -> list[Expr]:
        """The conditions of the block that do not change while it is reduced here."""
        kept = [c for c in conjuncts(self.block.predicate) if not uses_var(c, self.own)]
        return [substitute(c, self.moved) for c in kept]

    def _block(
        self,
        what: str,
        iters: Sequence[tuple[IterVar, Expr]],
        body: Stmt,
        where: Sequence[Expr],
    ) -> Block:
        fresh = {it.var: Var(it.var.name) for it, _ in iters}
        return make_block(
            BlockSymbol(self.names.fresh(f"{self.block.name}_{what}")),
            [replace(it, var=fresh[it.var]) for it, _ in iters],
            [binding for _, binding in iters],
            substitute(body, dict(fresh)),
            predicate=conjunction([*self._guard(), *where]),
        )

    def _nest(
        self, what: str, iters: Sequence[tuple[IterVar, Expr]], body: Stmt, loops: Sequence[For]
    ) -> Stmt:
        return self._around(self._block(what, iters, body, ()), loops)

    def _around(self, body: Stmt, loops: Sequence[For]) -> Stmt:
        for loop in reversed(loops):
            body = replace(loop, body=body)
        return body


def _first_round(block: Block, own: set[Var]) -> list[Expr]:
    """The conditions under which loops around `own` ones are in their first round."""
    zero: dict[Var, Expr] = {v: const(0, v.dtype) for v in own}
    found: list[Expr] = []
    for it, binding in zip(block.iters, block.bindings, strict=True):
        around = simplify(substitute(binding, zero))
        if it.kind == "reduce" and not is_const(around, 0):
            found.append(eq(around, 0))
    return found


def _bound(block: Block, kind: str) -> set[Var]:
    found: set[Var] = set()
    for it, binding in zip(block.iters, block.bindings, strict=True):
        if it.kind == kind:
            found.update(free_vars(binding))
    return found


def _count(loops: Sequence[For]) -> int:
    count = 1
    for loop in loops:
        size = const_int(loop.extent)
        if size is None:
            raise InternalError(f"the loop {loop.var.name} over threads has no constant extent")
        count *= size
    return count


def _form(block: Block) -> ReductionForm:
    """The reduction of a block, also where its start value is set by another one."""
    if block.init is not None:
        return reduction_form(block)
    stores = [n for n in walk(block.body) if isinstance(n, Store)]
    zero = seq([Store(s.buffer, s.indices, const(0, s.buffer.dtype)) for s in stores])
    return reduction_form(replace(block, init=zero))
