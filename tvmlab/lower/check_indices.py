"""Nothing is read or written outside a buffer, whatever sizes, scalars and data a call brings.

An access that can be proven to stay inside, from the ranges of its variables and the conditions
around it, is left alone. For the others:

- an index that depends on sizes and scalars only, at its extreme over the loops, is checked once
  per call: `if n - 1 + k < m: ... else: outside(...)`;
- any other index, such as one read from data, is checked where it is used:
  `select(0 <= i and i < n, A[i], outside(...))`.

`outside` makes the call fail with a message; its texts stand in the program's annotations.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any, cast

from tvmlab.arith import Bounds, bound_of, linear_form, prove
from tvmlab.ir import (
    TRUE,
    Block,
    Buffer,
    Call,
    Cast,
    Evaluate,
    Expr,
    For,
    If,
    Invoke,
    Let,
    Load,
    Logic,
    Names,
    Not,
    Operand,
    Program,
    Select,
    Stmt,
    Store,
    Var,
    compare,
    conjunction,
    const,
    const_int,
    free_vars,
    is_const,
    loads_of,
    logic,
    map_children,
    substitute,
    to_lines,
    walk,
    with_body,
)
from tvmlab.support import INDEX

from .conditions import lasting
from .place import Place
from .size_bounds import size_bounds

_MAX_FACTOR = 1 << 14
"""Times the longest loop, this does not wrap around in 64 bits."""

OUTSIDE = "outside"
"""The annotation of a program with the texts that `outside` calls number."""


def check_indices(program: Program, *, data: bool = True) -> Program:
    """The program with a check for each index that may leave its buffer.

    Parameters
    ----------
    data
        Whether to check indices inside loops too; without, the user vouches for them.
    """
    checker = _Checker(program, data)
    body = checker.stmt(program.body, size_bounds(program), Place())
    if len(checker.texts) == len(texts_of(program)):
        return program
    for check in reversed(checker.before):
        body = If(check.holds, body, Evaluate(check.failure))
    result = with_body(program, body)
    others = tuple(pair for pair in result.annotations if pair[0] != OUTSIDE)
    return replace(result, annotations=(*others, (OUTSIDE, tuple(checker.texts))))


def texts_of(program: Program) -> tuple[str, ...]:
    """The texts that `outside` calls of a program number so far."""
    texts = dict(program.annotations).get(OUTSIDE, ())
    return tuple(str(text) for text in texts) if isinstance(texts, tuple) else ()


@dataclass(frozen=True, slots=True)
class _Check:
    """A condition that a call must fulfil, and what happens if not."""

    holds: Expr
    failure: Expr


class _Checker:
    """The walk over one program; collects texts, and the checks to be made before anything runs."""

    def __init__(self, program: Program, data: bool) -> None:
        self.texts = list(texts_of(program))
        self.before: list[_Check] = []
        self._data = data
        self._scalars = {p for p in program.params if isinstance(p, Var)}
        self._seen: set[tuple[Buffer, int, Expr]] = set()
        self._names = Names(program)

    def stmt(self, stmt: Stmt, env: Bounds, place: Place) -> Stmt:
        """The statement with checks."""
        match stmt:
            case For() if _runs_never(stmt):
                return stmt
            case For():
                inner = place.inside(stmt.var, stmt.extent)
                body = self.stmt(stmt.body, env.bind_loop(stmt.var, stmt.extent), inner)
                return stmt if body is stmt.body else replace(stmt, body=body)
            case Block():
                return self._block(stmt, env, place)
            case If():
                return self._if(stmt, env, place)
            case Store():
                return self._store(stmt, env, place)
            case Let():
                return self._let(stmt, env, place)
            case Invoke():
                return self._invoke(stmt, env, place)
            case _:
                return self._children(stmt, env, place)

    def _children(self, node: Any, env: Bounds, place: Place) -> Any:
        def visit(child: Any) -> Any:
            if isinstance(child, Expr):
                return self.expr(child, env, place)
            return self.stmt(child, env, place) if isinstance(child, Stmt) else child

        return map_children(node, visit)

    def _let(self, stmt: Let, env: Bounds, place: Place) -> Stmt:
        value = self.expr(stmt.value, env, place)
        inside = env.bind(stmt.var, bound_of(value, env)) if value.dtype.is_int else env
        body = self.stmt(stmt.body, inside, place)
        return stmt if value is stmt.value and body is stmt.body else Let(stmt.var, value, body)

    def _invoke(self, stmt: Invoke, env: Bounds, place: Place) -> Stmt:
        """A call of outside code must be handed regions that exist."""
        result = cast(Stmt, self._children(stmt, env, place))
        for operand in (a for a in stmt.args if isinstance(a, Operand) and a.access != "address"):
            region = operand.region
            doing = "written" if operand.access == "write" else "read"
            ends = [m + (n - 1) for m, n in zip(region.mins, region.extents, strict=True)]
            for corner in (region.mins, tuple(ends)):
                for check in reversed(self._open(region.buffer, corner, corner, env, place, doing)):
                    result = If(check.holds, result, Evaluate(check.failure))
        return result

    def _block(self, block: Block, env: Bounds, place: Place) -> Stmt:
        """Inside, only the iteration variables count: whatever the loops are, each value runs."""
        known = env.assume(block.predicate)
        inner = place.in_block(block, known)
        inside = env
        for it in block.iters:
            inside = inside.bind_loop(it.var, it.extent)
            inner = inner.inside(it.var, it.extent)
        body = self.stmt(block.body, inside, inner)
        init = None if block.init is None else self.stmt(block.init, inside, inner)
        same = body is block.body and init is block.init
        result: Stmt = block if same else replace(block, body=body, init=init)
        for it, binding in zip(block.iters, block.bindings, strict=True):
            if self._data and not _inside(binding, it.extent, known):
                text = f"block {self._names[block.symbol]} leaves its domain: {it.var.name}"
                failure = Evaluate(self._outside(binding, it.extent, text))
                # Where the block does not run, its variables may be anything.
                told = failure if is_const(block.predicate, True) else If(block.predicate, failure)
                result = If(_in_range(binding, it.extent), result, told)
        return result

    def _if(self, stmt: If, env: Bounds, place: Place) -> Stmt:
        cond = self.expr(stmt.cond, env, place)
        holds = lasting(stmt.cond)
        then = self.stmt(stmt.then, env.assume(holds), place.where(holds, True))
        otherwise = stmt.otherwise
        if otherwise is not None:
            fails = TRUE if loads_of(stmt.cond) else Not(stmt.cond)
            otherwise = self.stmt(otherwise, env.assume(fails), place.where(fails, True))
        if cond is stmt.cond and then is stmt.then and otherwise is stmt.otherwise:
            return stmt
        return If(cond, then, otherwise)

    def _store(self, stmt: Store, env: Bounds, place: Place) -> Stmt:
        value = self.expr(stmt.value, env, place)
        indices = tuple(self.expr(i, env, place) for i in stmt.indices)
        same = value is stmt.value and all(
            new is old for new, old in zip(indices, stmt.indices, strict=True)
        )
        result = stmt if same else replace(stmt, value=value, indices=indices)
        checks = self._open(stmt.buffer, stmt.indices, indices, env, place, "written")
        guarded: Stmt = result
        for check in reversed(checks):
            guarded = If(check.holds, guarded, Evaluate(check.failure))
        return guarded

    def expr(self, e: Expr, env: Bounds, place: Place) -> Expr:
        """The expression with checks around its loads."""
        if isinstance(e, Select):
            cond = self.expr(e.cond, env, place)
            under, other = place.where(e.cond, True), place.where(e.cond, False)
            then = self._side(e.then, Not(e.cond), env, env.assume(e.cond), under)
            otherwise = self._side(e.otherwise, e.cond, env, env.assume(e.cond, holds=False), other)
            if cond is e.cond and then is e.then and otherwise is e.otherwise:
                return e
            return Select(cond, then, otherwise)
        if isinstance(e, Logic):
            a = self.expr(e.a, env, place)
            holds = e.op == "and"
            asked = e.a if holds else Not(e.a)
            b = self._side(e.b, Not(asked), env, env.assume(asked), place.where(e.a, holds))
            return e if a is e.a and b is e.b else Logic(e.op, a, b)
        if isinstance(e, Load):
            return self._load(e, env, place)
        return map_children(e, lambda child: self.expr(cast(Expr, child), env, place))

    def _side(self, e: Expr, never: Expr, around: Bounds, env: Bounds, place: Place) -> Expr:
        """One side of a choice; it is left alone if the other is always taken."""
        known = len(self.texts)
        checked = self.expr(e, env, place)
        if checked is e or not prove(never, around):
            return checked
        del self.texts[known:]
        return e

    def _load(self, e: Load, env: Bounds, place: Place) -> Expr:
        indices = tuple(self.expr(i, env, place) for i in e.indices)
        same = all(new is old for new, old in zip(indices, e.indices, strict=True))
        result: Expr = e if same else replace(e, indices=indices)
        for check in reversed(self._open(e.buffer, e.indices, indices, env, place, "read")):
            failure = cast(Call, check.failure)
            result = Select(check.holds, result, replace(failure, dtype=e.dtype))
        return result

    def _open(
        self,
        buffer: Buffer,
        plain: Sequence[Expr],
        indices: Sequence[Expr],
        env: Bounds,
        place: Place,
        doing: str,
    ) -> list[_Check]:
        """The checks to be made at an access, after those that could be made before all loops.

        `plain` are the indices as the program has them, `indices` the same with checks inside.
        """
        found: list[_Check] = []
        for axis, (index, size) in enumerate(zip(plain, buffer.shape, strict=True)):
            if index.dtype.lanes > 1 or _inside(index, size, env):
                continue
            if place.bindings and _inside(place.bound(index), place.bound(size), place.around()):
                continue
            text = self._text(buffer, plain, axis, doing)
            ends = None if place.conditional else self._extremes(index, size, place)
            if ends is not None:
                self._once(buffer, axis, index, ends, size, text, place)
            elif self._data:
                checked = _as_index(indices[axis])
                found.append(_Check(_in_range(checked, size), self._outside(checked, size, text)))
        return found

    def _extremes(self, index: Expr, size: Expr, place: Place) -> tuple[Expr, Expr] | None:
        """Smallest and largest value of an index over all loops, in scalars; None if not told."""
        if index.dtype != INDEX or loads_of(index) or not self._scalar(size):
            return None
        if not all(self._scalar(extent) for extent in place.extents.values()):
            return None  # whether a loop runs at all is known only where it stands
        low: dict[Var, Expr] = {}
        high: dict[Var, Expr] = {}
        form = linear_form(index)
        for atom, factor in form.terms.items():
            if isinstance(atom, Var) and atom in place.extents:
                extent = place.extents[atom]
                if not self._scalar(extent) or abs(factor) > _MAX_FACTOR:
                    return None
                ends = (const(0), extent - 1)
                low[atom], high[atom] = ends if factor > 0 else ends[::-1]
            elif not self._scalar(atom):
                return None
        return substitute(index, low), substitute(index, high)

    def _scalar(self, e: Expr) -> bool:
        """Whether an expression is made of scalar parameters only."""
        return not loads_of(e) and all(var in self._scalars for var in free_vars(e))

    def _once(
        self,
        buffer: Buffer,
        axis: int,
        index: Expr,
        ends: tuple[Expr, Expr],
        size: Expr,
        text: str,
        place: Place,
    ) -> None:
        if (buffer, axis, index) in self._seen:
            return
        self._seen.add((buffer, axis, index))
        low, high = ends
        # Both ends are asked for both limits, since index arithmetic may wrap on the way.
        fine = logic("and", _in_range(low, size), _in_range(high, size))
        # A loop over nothing reads nothing.
        empty = [
            compare("le", extent, 0)
            for extent in dict.fromkeys(place.extents.values())
            if const_int(extent) is None
        ]
        holds = reduce(lambda a, b: logic("or", a, b), [*empty, fine])
        worst = Select(_in_range(high, size), low, high)
        self.before.append(_Check(holds, self._outside(worst, size, text)))

    def _outside(self, index: Expr, size: Expr, text: str) -> Expr:
        if text not in self.texts:
            self.texts.append(text)
        number = const(self.texts.index(text))
        return Call("outside", (_as_index(index), _as_index(size), number), INDEX)

    def _text(self, buffer: Buffer, indices: Sequence[Expr], axis: int, doing: str) -> str:
        access = Evaluate(Load(buffer, tuple(indices)))
        element = to_lines(access, self._names)[0].text
        return f"{element} is {doing} outside its shape: the index of dimension {axis}"


def _runs_never(loop: For) -> bool:
    """Whether a loop has no iterations, nor start values of sums over nothing inside."""
    count = const_int(loop.extent)
    return (
        count is not None
        and count <= 0
        and not any(isinstance(n, Block) and n.init is not None for n in walk(loop.body))
    )


def _inside(index: Expr, size: Expr, env: Bounds) -> bool:
    interval = bound_of(index, env)
    limit = const_int(size)
    above = interval.lo is not None and interval.lo >= 0
    below = limit is not None and interval.hi is not None and interval.hi < limit
    if index.dtype != size.dtype:
        index, size = _as_index(index), _as_index(size)
    return (above or prove(compare("ge", index, 0), env)) and (
        below or prove(compare("lt", index, size), env)
    )


def _in_range(index: Expr, size: Expr) -> Expr:
    index = _as_index(index)
    return conjunction([compare("ge", index, 0), compare("lt", index, _as_index(size))])


def _as_index(e: Expr) -> Expr:
    return e if e.dtype == INDEX else Cast(e, INDEX)
