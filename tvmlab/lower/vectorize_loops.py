"""Turn vectorized loops into explicit vector statements of the machine's width.

    for j in vectorized(40):
        C[i, j] = A[i, j] * B[i]
    ->  (16 lanes)
    C[i, ramp(0, 1, 16)] = A[i, ramp(0, 1, 16)] * broadcast(B[i], 16)
    C[i, ramp(16, 1, 16)] = A[i, ramp(16, 1, 16)] * broadcast(B[i], 16)
    C[i, ramp(32, 1, 8)] = A[i, ramp(32, 1, 8)] * broadcast(B[i], 8)

Loops inside go around the vectors, conditions on the lane become masks. What is left over at the
end is done by a shorter vector or a masked one. Lanes that update one element are joined first:

    for k in vectorized(16): S[i] = S[i] + A[k]  ->  S[i] = S[i] + lanes_add(A[ramp(0, 1, 16)])

A loop that cannot be vectorized runs in its plain
order, and says why in an annotation `scalar`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from tvmlab.ir import (
    Alloc,
    Binary,
    Broadcast,
    Cast,
    Expr,
    For,
    If,
    Invoke,
    Let,
    Load,
    Not,
    Program,
    Select,
    Seq,
    Stmt,
    Store,
    Var,
    conjunction,
    conjuncts,
    const,
    const_int,
    loads_of,
    logic,
    may_divide_by_zero,
    seq,
    substitute,
    transform_stmts,
    uses_var,
    walk,
    with_body,
    written_buffers,
)

from .lane_plan import any_lane_condition, cut_extent, plan_lanes
from .lane_update import LaneUpdate, lane_update
from .options import VectorUnit
from .widen import Lanes, NotVectorizable, Widener

_MAX_OUTER = 16
"""A vectorized loop around another one is written out if it has at most so many iterations."""


def vectorize_loops(program: Program, unit: VectorUnit, max_chunks: int) -> Program:
    """Replace vectorized loops by vector statements; afterwards no loop is vectorized.

    Of two nested vectorized loops the inner one becomes vectors and the outer one is unrolled.

    Parameters
    ----------
    unit
        The width of vectors.
    max_chunks
        How many vectors one loop is written out as; a longer one becomes a loop over vectors.
    """

    def visit(node: Stmt) -> Stmt:
        if not isinstance(node, For) or node.kind != "vectorized":
            return node
        if any(_is_vector(n) for n in walk(node.body)):
            extent = const_int(node.extent)
            short = extent is not None and extent <= _MAX_OUTER
            return replace(node, kind="unrolled" if short else "serial")
        try:
            return _vectorize(node, unit, max_chunks)
        except NotVectorizable as reason:
            note = ("scalar", str(reason))
            return replace(node, kind="serial", annotations=(*node.annotations, note))

    return with_body(program, transform_stmts(program.body, visit))


def _is_vector(node: object) -> bool:
    return isinstance(node, Store) and any(i.dtype.lanes > 1 for i in node.indices)


def _vectorize(loop: For, unit: VectorUnit, max_chunks: int) -> Stmt:
    extent = const_int(loop.extent)
    if extent is None:
        raise NotVectorizable("its extent is known only at run time")
    body, extent = cut_extent(loop.var, loop.body, extent)
    widest, narrowest = _element_bits(body, loop.var)
    width = unit.lanes(widest)
    whole, rest = plan_lanes(loop.var, extent, width, unit.can_mask(narrowest))
    if len(whole) <= max_chunks:
        return _Vectors(loop.var, extent, [*whole, *rest]).stmt(body, ())
    chunk = Var(f"{loop.var.name}_vector")
    run = Lanes(loop.var, chunk * width, width, width)
    main = _Vectors(loop.var, extent, [run]).stmt(body, ())
    parts: list[Stmt] = [For(chunk, const(len(whole)), main, annotations=loop.annotations)]
    if rest:
        parts.append(_Vectors(loop.var, extent, rest).stmt(body, ()))
    return seq(parts)


def _element_bits(body: Stmt, var: Var) -> tuple[int, int]:
    """The widest and the narrowest element that is moved lane by lane.

    The widest decides how many lanes there are, the narrowest whether masks are cheap.
    """
    sizes = [
        n.buffer.dtype.itemsize * 8
        for n in walk(body)
        if isinstance(n, (Load, Store)) and any(uses_var(i, {var}) for i in n.indices)
    ]
    return (max(sizes), min(sizes)) if sizes else (32, 32)


class _Vectors:
    """Rewrites the body of one loop for given runs of lanes.

    Each store is done for all lanes before the next statement: the iterations of a vectorized loop
    do not depend on each other, so this order is as good as any. `names` are the names for values
    that differ from lane to lane; inside one there is only one run.
    """

    def __init__(
        self, var: Var, extent: int, runs: Sequence[Lanes], names: Mapping[Var, Var] | None = None
    ) -> None:
        self._var = var
        self._extent = extent
        self._runs = runs
        self._names = names or {}
        self._varying = frozenset((var, *self._names))

    def stmt(self, stmt: Stmt, conditions: tuple[Expr, ...]) -> Stmt:
        """The statement for all lanes where the conditions (on the lane) hold."""
        match stmt:
            case Store() if not any(uses_var(i, self._varying) for i in stmt.indices):
                return self._joined(stmt, conditions)
            case Store():
                return seq([self._store(stmt, run, conditions) for run in self._runs])
            case Seq():
                return seq([self.stmt(s, conditions) for s in stmt.stmts])
            case For():
                if uses_var(stmt.extent, self._varying):
                    raise NotVectorizable(
                        f"the extent of {stmt.var.name} differs from lane to lane"
                    )
                return replace(stmt, body=self.stmt(stmt.body, conditions))
            case If():
                return self._if(stmt, conditions)
            case Let():
                return self._let(stmt, conditions)
            case Alloc():
                raise NotVectorizable(f"{stmt.buffer.name} is allocated inside it")
            case Invoke():
                raise NotVectorizable(f"{stmt.callee} is called inside it")
            case _:
                raise NotVectorizable("a call inside it is made for its effect")

    def _let(self, stmt: Let, conditions: tuple[Expr, ...]) -> Stmt:
        guarded = self._may_be_empty(conditions) and bool(loads_of(stmt.value))
        if not guarded and not uses_var(stmt.value, self._varying):
            return replace(stmt, body=self.stmt(stmt.body, conditions))
        return seq([self._let_run(stmt, run, conditions) for run in self._runs])

    def _let_run(self, stmt: Let, run: Lanes, conditions: tuple[Expr, ...]) -> Stmt:
        """A name for the values of one run of lanes; what follows is done for this run."""
        if run.count == 1:
            return self._single(stmt, run, conditions)
        mask = self._mask(run, conditions)
        value = self._value(stmt.value, self._widener(run, conditions), run, mask)
        wide = Var(stmt.var.name, value.dtype)
        inner = _Vectors(self._var, self._extent, [run], {**self._names, stmt.var: wide})
        return Let(wide, value, inner.stmt(stmt.body, conditions))

    def _if(self, stmt: If, conditions: tuple[Expr, ...]) -> Stmt:
        self._refuse_changing_condition(stmt)
        if not uses_var(stmt.cond, self._varying):
            otherwise = stmt.otherwise
            if otherwise is not None:
                otherwise = self.stmt(otherwise, conditions)
            return If(stmt.cond, self.stmt(stmt.then, conditions), otherwise)
        if stmt.otherwise is not None:
            then = self.stmt(stmt.then, (*conditions, stmt.cond))
            return seq([then, self.stmt(stmt.otherwise, (*conditions, Not(stmt.cond)))])
        parts = conjuncts(stmt.cond)
        shared = [c for c in parts if not uses_var(c, self._varying)]
        own = [c for c in parts if uses_var(c, self._varying)]
        inner = self.stmt(stmt.then, (*conditions, *own))
        if len(own) == 1 and not conditions:
            some = self._some_lane(own[0])
            shared += [] if some is None else [some]
        return If(conjunction(shared), inner) if shared else inner

    def _refuse_changing_condition(self, stmt: If) -> None:
        """A mask is made anew for each statement, so none of them may change it."""
        read = {load.buffer for load in loads_of(stmt.cond)}
        if read & set(written_buffers(stmt)):
            raise NotVectorizable("a condition reads what is written under it")

    def _store(self, stmt: Store, run: Lanes, conditions: tuple[Expr, ...]) -> Stmt:
        if stmt.mask is not None:
            conditions = (*conditions, stmt.mask)
        if run.count == 1:
            return self._single(replace(stmt, mask=None), run, conditions)
        # One for both, so that an element that is updated has one index.
        widener, mask = self._widener(run, conditions), self._mask(run, conditions)
        value = self._value(stmt.value, widener, run, mask)
        return Store(stmt.buffer, widener.indices(stmt.indices), value, mask)

    def _joined(self, stmt: Store, conditions: tuple[Expr, ...]) -> Stmt:
        """A reduction into one element: vectors are joined to one, then its lanes."""
        update = lane_update(stmt)
        if update is None:
            raise NotVectorizable(f"all lanes write the same element of {stmt.buffer.name}")
        if stmt.mask is not None:
            conditions = (*conditions, stmt.mask)
        if self._may_be_empty(conditions):
            # The element itself must then not be touched: its place may lie outside the buffer.
            raise NotVectorizable(f"it may be that no lane updates {stmt.buffer.name}")
        whole: dict[int, list[Expr]] = {}
        for run in self._runs:
            whole.setdefault(run.count, []).append(self._lanes_of(update, run, conditions))
        value: Expr = Load(stmt.buffer, stmt.indices)
        for vectors in whole.values():
            value = Binary(update.op, value, update.joined(vectors))
        return Store(stmt.buffer, stmt.indices, value)

    def _lanes_of(self, update: LaneUpdate, run: Lanes, conditions: tuple[Expr, ...]) -> Expr:
        """The values of one run of lanes; those that take no part are neutral."""
        if run.count == 1:
            scalar = substitute(update.value, {self._var: run.start})
            cond = substitute(conjunction(conditions), {self._var: run.start})
            return Select(cond, scalar, update.neutral(1)) if conditions else scalar
        widener, mask = self._widener(run, conditions), self._mask(run, conditions)
        value = self._value(update.value, widener, run, mask)
        return value if mask is None else Select(mask, value, update.neutral(run.count))

    def _single(self, stmt: Stmt, run: Lanes, conditions: tuple[Expr, ...]) -> Stmt:
        """A statement for a run of one lane: nothing becomes wide."""
        scalar = substitute(stmt, {self._var: run.start})
        cond = substitute(conjunction(conditions), {self._var: run.start})
        return If(cond, scalar) if conditions else scalar

    def _value(self, value: Expr, widener: Widener, run: Lanes, mask: Expr | None) -> Expr:
        wide = widener.vector(value)
        if mask is None or not _may_trap(value):
            return wide
        return Select(mask, wide, Broadcast(const(0, value.dtype), run.count))

    def _widener(self, run: Lanes, conditions: tuple[Expr, ...]) -> Widener:
        mask = self._mask(run, conditions)
        return Widener(run, mask, self._may_be_empty(conditions), self._names)

    def _mask(self, run: Lanes, conditions: tuple[Expr, ...]) -> Expr | None:
        mask = run.mask()
        for condition in conditions:
            wide = Widener(run, mask, names=self._names).vector(condition)
            mask = wide if mask is None else logic("and", mask, wide)
        return mask

    def _may_be_empty(self, conditions: tuple[Expr, ...]) -> bool:
        """Whether the conditions may hold in no lane of the loop (one is asked for before)."""
        if len(conditions) == 1:
            return self._some_lane(conditions[0]) is None
        return bool(conditions)

    def _some_lane(self, condition: Expr) -> Expr | None:
        """A scalar condition for any lane fulfilling this one, if that is simple to say."""
        if uses_var(condition, set(self._names)):
            return None
        return any_lane_condition(condition, self._var, self._extent)


def _may_trap(value: Expr) -> bool:
    """Whether lanes that take no part could fail: divide by zero, or convert what does not fit."""
    return any(
        may_divide_by_zero(n) or (isinstance(n, Cast) and n.value.dtype.is_float and n.dtype.is_int)
        for n in walk(value)
    )
