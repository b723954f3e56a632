"""`simplify_stmt`: simplify every expression of a statement with what holds at its place.

Loop variables have their ranges, conditions hold in their branches, branches and loops that never
run are gone. Blocks keep their own scope: inside one only its iteration variables are known.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import islice
from typing import Any, cast

from tvmlab.ir import (
    Alloc,
    Barrier,
    Block,
    Broadcast,
    Const,
    Evaluate,
    Expr,
    For,
    If,
    Invoke,
    IterVar,
    Let,
    Load,
    Not,
    Region,
    Seq,
    Stmt,
    Store,
    Var,
    conjunction,
    conjuncts,
    const,
    const_int,
    is_noop,
    loads_of,
    map_children,
    seq,
    substitute,
    uses_var,
    walk,
)

from .bounds import Bounds, bound_of
from .simplify import simplify, simplify_indices

_NOTHING = Seq(())
_PLAIN_NODES = 16
"""A name for index arithmetic is kept if the arithmetic is longer than this."""


def simplify_stmt(
    stmt: Stmt,
    env: Bounds | None = None,
    *,
    drop_unit_loops: bool = False,
    simple_values: bool = False,
) -> Stmt:
    """Simplify a statement; the same object comes back if nothing changed.

    Parameters
    ----------
    stmt
        Any statement, at any stage of lowering.
    env
        What is known of symbols that are free in it.
    drop_unit_loops
        Replace a serial loop of one iteration by its body, with the variable 0.
    simple_values
        The statement was simplified before, and only integers have changed since: of products and
        sums of floating-point numbers only the indices are looked at.
    """
    simpler = simplify_indices if simple_values else simplify
    return _Walk(drop_unit_loops, simpler).visit(stmt, env or Bounds())


class _Walk:
    def __init__(self, drop_unit_loops: bool, simpler: Callable[[Expr, Bounds], Expr]) -> None:
        self._drop_unit_loops = drop_unit_loops
        self._simpler = simpler
        self._rules: dict[type, Callable[[Any, Bounds], Stmt]] = {
            Store: self._store,
            Evaluate: self._children,
            Let: self._let,
            Invoke: self._children,
            Barrier: self._children,
            Seq: self._seq,
            If: self._if,
            For: self._for,
            Alloc: self._alloc,
            Block: self._block,
        }

    def visit(self, stmt: Stmt, env: Bounds) -> Stmt:
        return self._rules[type(stmt)](stmt, env)

    def _children(self, stmt: Any, env: Bounds) -> Any:
        """The node with its expressions (and those of its regions) simplified."""

        def simpler(child: Any) -> Any:
            if isinstance(child, Expr):
                return self._simpler(child, env)
            return self._children(child, env)

        return map_children(stmt, simpler)

    def _store(self, stmt: Store, env: Bounds) -> Stmt:
        simpler = cast(Store, self._children(stmt, env))
        mask = None if simpler.mask is None else _literal(simpler.mask)
        if mask is None:
            return simpler
        return replace(simpler, mask=None) if mask else _NOTHING

    def _seq(self, stmt: Seq, env: Bounds) -> Stmt:
        members = [self.visit(member, env) for member in stmt.stmts]
        if all(new is old for new, old in zip(members, stmt.stmts, strict=True)):
            return stmt
        return seq([member for member in members if not is_noop(member)])

    def _let(self, stmt: Let, env: Bounds) -> Stmt:
        value = simplify(stmt.value, env)
        if _is_plain(value) or not uses_var(stmt.body, {stmt.var}):
            return self.visit(substitute(stmt.body, {stmt.var: value}), env)
        inside = env
        if value.dtype.is_int and value.dtype.lanes == 1:
            inside = env.bind(stmt.var, bound_of(value, env))
        body = self.visit(stmt.body, inside)
        if is_noop(body):
            return _NOTHING
        same = value is stmt.value and body is stmt.body
        return stmt if same else Let(stmt.var, value, body)

    def _if(self, stmt: If, env: Bounds) -> Stmt:
        cond = simplify(stmt.cond, env)
        taken = _literal(cond)
        if taken is not None:
            branch = stmt.then if taken else stmt.otherwise
            return _NOTHING if branch is None else self.visit(branch, env)
        then = self.visit(stmt.then, env.assume(_lasting(cond)))
        otherwise = stmt.otherwise
        if otherwise is not None:
            fails = env if loads_of(cond) else env.assume(cond, holds=False)
            otherwise = self.visit(otherwise, fails)
            otherwise = None if is_noop(otherwise) else otherwise
        if is_noop(then):
            if otherwise is None:
                return _NOTHING
            return If(simplify(Not(cond), env), otherwise)
        if cond is stmt.cond and then is stmt.then and otherwise is stmt.otherwise:
            return stmt
        return If(cond, then, otherwise)

    def _for(self, stmt: For, env: Bounds) -> Stmt:
        extent = simplify(stmt.extent, env)
        most = bound_of(extent, env).hi
        if most is not None and most <= 0:
            return _NOTHING
        if const_int(extent) == 1 and self._drop_unit_loops and stmt.kind == "serial":
            body = substitute(stmt.body, {stmt.var: const(0, stmt.var.dtype)})
            return self.visit(body, env)
        body = self.visit(stmt.body, env.bind_loop(stmt.var, extent, keep=True))
        if is_noop(body):
            return _NOTHING
        if extent is stmt.extent and body is stmt.body:
            return stmt
        return replace(stmt, extent=extent, body=body)

    def _alloc(self, stmt: Alloc, env: Bounds) -> Stmt:
        body = self.visit(stmt.body, env)
        if is_noop(body):
            return _NOTHING
        return stmt if body is stmt.body else replace(stmt, body=body)

    def _block(self, stmt: Block, env: Bounds) -> Stmt:
        predicate = simplify(stmt.predicate, env)
        if _literal(predicate) is False:
            return _NOTHING
        changes: dict[str, Any] = {"predicate": predicate}
        changes["bindings"] = tuple(simplify(binding, env) for binding in stmt.bindings)
        iters: list[IterVar] = []
        inside = env
        for it in stmt.iters:
            simpler = cast(IterVar, self._children(it, env))
            iters.append(simpler)
            inside = inside.bind_loop(simpler.var, simpler.extent, keep=True)
        changes["iters"] = tuple(iters)
        for name in ("reads", "writes"):
            regions = cast("tuple[Region, ...]", getattr(stmt, name))
            changes[name] = tuple(cast(Region, self._children(r, inside)) for r in regions)
        changes["init"] = None if stmt.init is None else self.visit(stmt.init, inside)
        changes["body"] = self.visit(stmt.body, inside)
        changed = {k: new for k, new in changes.items() if not _unchanged(new, getattr(stmt, k))}
        return replace(stmt, **changed) if changed else stmt


def _is_plain(value: Expr) -> bool:
    """Whether a value had better stand itself where its name does: index arithmetic does.

    There it meets other indices and conditions, and the same arithmetic is done once anyway.
    """
    if isinstance(value, (Const, Var)):
        return True
    if not value.dtype.is_int or value.dtype.lanes != 1:
        return False
    nodes = list(islice(walk(value), _PLAIN_NODES + 1))
    return len(nodes) <= _PLAIN_NODES and not any(isinstance(n, Load) for n in nodes)


def _unchanged(new: Any, old: Any) -> bool:
    if isinstance(new, tuple):
        pairs = zip(cast("tuple[Any, ...]", new), cast("tuple[Any, ...]", old), strict=True)
        return all(x is y for x, y in pairs)
    return new is old


def _literal(cond: Expr) -> bool | None:
    """The value of a condition that is the same in all lanes and known."""
    value = cond.value if isinstance(cond, Broadcast) else cond
    return bool(value.value) if isinstance(value, Const) else None


def _lasting(cond: Expr) -> Expr:
    """The part of a condition that still holds after the branch has stored something."""
    return conjunction([part for part in conjuncts(cond) if not loads_of(part)])
