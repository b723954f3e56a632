"""Replacing, removing and inserting statements in a program's tree of loops and blocks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any, TypeAlias

from tvmlab.arith import Bounds, prove, simplify
from tvmlab.ir import (
    Alloc,
    Binary,
    Block,
    BlockSymbol,
    Buffer,
    Expr,
    For,
    Let,
    Load,
    Program,
    Seq,
    Stmt,
    Var,
    child_stmts,
    conjunction,
    conjuncts,
    const_int,
    is_noop,
    logic,
    make_block,
    maximum,
    remade,
    replace_buffers,
    seq,
    substitute,
    transform,
    uses_var,
    walk,
)

Output: TypeAlias = Var | BlockSymbol


def replace_stmts(program: Program, new: Mapping[Stmt, Stmt]) -> Program:
    """The program with some statements replaced; an empty replacement removes, with empty loops."""

    def visit(stmt: Stmt) -> Stmt:
        if stmt in new:
            return new[stmt]
        if isinstance(stmt, For):
            body = visit(stmt.body)
            if body is stmt.body:
                return stmt
            return body if is_noop(body) else remade(stmt, body=body)
        if isinstance(stmt, Seq):
            children = [visit(s) for s in stmt.stmts]
            if all(a is b for a, b in zip(children, stmt.stmts, strict=True)):
                return stmt
            return seq(children)
        return stmt

    return replace(program, body=visit(program.body))


def remove_stmt(program: Program, stmt: Stmt) -> Program:
    """The program without a statement and without the loops that it leaves empty."""
    return replace_stmts(program, {stmt: Seq(())})


def insert_at(program: Program, scope: For | None, position: int, stmt: Stmt) -> Program:
    """The program with a statement inserted into a loop's body, or at the root, at a position."""
    body = program.body if scope is None else scope.body
    children = list(child_stmts(body))
    children.insert(position, stmt)
    new_body = seq(children)
    if scope is None:
        return replace(program, body=new_body)
    return replace_stmts(program, {scope: replace(scope, body=new_body)})


def map_blocks(stmt: Stmt, fn: Callable[[Block, Bounds], Block], env: Bounds) -> Stmt:
    """Rewrite every block below a statement; `fn` also gets the ranges of the loops around it."""
    if isinstance(stmt, Block):
        return fn(stmt, env)
    if isinstance(stmt, For):
        inner = env.bind_loop(stmt.var, stmt.extent)
        return replace(stmt, body=map_blocks(stmt.body, fn, inner))
    if isinstance(stmt, Seq):
        return seq([map_blocks(s, fn, env) for s in stmt.stmts])
    return stmt


def rebind(body: Stmt, values: Mapping[Var, Expr], env: Bounds, guard: Expr | None = None) -> Stmt:
    """Put expressions of new loops in the place of old loop variables, in all that is below.

    `env` holds the ranges of the loops around `body`, the new ones included. `guard` is a condition
    that the blocks' iterations must meet from now on.
    """
    # Variables of which more is known than when bindings were simplified last, or may be.
    changed = {v for v, run in env.intervals.items() if isinstance(v, Var) and run.is_point}

    def bound_to(binding: Expr, around: Bounds) -> Expr:
        new = substitute(binding, values)
        settled = new is binding and not (changed and uses_var(binding, changed))
        return binding if settled else simplify(new, around)

    def visit_block(block: Block, around: Bounds) -> Block:
        predicate = substitute(block.predicate, values)
        if guard is not None:
            parts = (guard, predicate) if _needs_meaning(predicate) else (predicate, guard)
            predicate = logic("and", *parts)
        return replace(
            block,
            bindings=tuple(bound_to(b, around) for b in block.bindings),
            predicate=simplify_predicate(predicate, around),
        )

    def visit(stmt: Stmt, around: Bounds) -> Stmt:
        if isinstance(stmt, For):
            extent = substitute(stmt.extent, values)
            if extent is not stmt.extent:
                extent = _not_negative(simplify(extent, around), around)
            if extent is not stmt.extent or const_int(extent) == 1:
                changed.add(stmt.var)
            inside = visit(stmt.body, around.bind_loop(stmt.var, extent))
            return remade(stmt, extent=extent, body=inside)
        if isinstance(stmt, Seq):
            return seq([visit(s, around) for s in stmt.stmts])
        return visit_block(stmt, around) if isinstance(stmt, Block) else stmt

    return visit(body, env)


def _needs_meaning(condition: Expr) -> bool:
    """Whether a condition cannot be asked of iterations that do not exist: it reads or divides."""
    return any(
        isinstance(n, Load)
        or (isinstance(n, Binary) and n.op in _DIVISIONS and const_int(n.b) is None)
        for n in walk(condition)
    )


_DIVISIONS = ("floordiv", "floormod", "truncdiv", "truncmod")


def _not_negative(extent: Expr, env: Bounds) -> Expr:
    """An extent that is zero where the loops around run past what there was before."""
    return extent if prove(extent >= 0, env) else simplify(maximum(extent, 0), env)


def simplify_predicate(predicate: Expr, env: Bounds) -> Expr:
    """A conjunction with each part simplified and parts that always hold left out."""
    return conjunction([simplify(part, env) for part in conjuncts(predicate)])


def remake_block(block: Block, *, body: Stmt, init: Stmt | None) -> Block:
    """The block with another body and init, and the regions that follow from them."""
    return make_block(
        block.symbol,
        block.iters,
        block.bindings,
        body,
        init=init,
        predicate=block.predicate,
        annotations=block.annotations,
        combiner=block.combiner,
    )


def fresh_copy(stmt: Stmt) -> Stmt:
    """A copy with loops, names for values and inner buffers of its own, to stand beside it."""
    values: dict[Var, Expr] = {}
    buffers: dict[Buffer, Buffer] = {}
    for n in walk(stmt):
        if isinstance(n, (For, Let)):
            values[n.var] = replace(n.var)
        elif isinstance(n, Alloc):
            buffers[n.buffer] = replace(n.buffer)

    def rename(current: Any) -> Any:
        if isinstance(current, (For, Let)):
            return replace(current, var=values[current.var])
        if isinstance(current, Alloc):
            return replace(current, buffer=buffers[current.buffer])
        return current

    return replace_buffers(transform(substitute(stmt, values), rename), buffers)


def wrap_loops(loops: Iterable[For], body: Stmt) -> Stmt:
    """Put loops (outermost first) around a body."""
    for loop in reversed(list(loops)):
        body = replace(loop, body=body)
    return body


def with_alloc(program: Program, buffer: Buffer) -> Program:
    """The program with one more intermediate buffer."""
    return replace(program, allocs=(*program.allocs, buffer))


def without_alloc(program: Program, buffer: Buffer) -> Program:
    """The program without an intermediate buffer."""
    return replace(program, allocs=tuple(b for b in program.allocs if b is not buffer))
