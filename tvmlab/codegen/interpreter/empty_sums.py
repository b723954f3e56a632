"""Reductions over nothing: what is below a loop without iterations keeps its start values.

The init of a block runs where its reduction variables are 0. If a loop of the reduction has no
iterations, none is: then the inits below it are carried out, once for each element.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol, TypeAlias

from tvmlab.ir import (
    Block,
    Expr,
    For,
    Seq,
    Stmt,
    Var,
    conjunction,
    conjuncts,
    const_int,
    is_const,
    uses_var,
    walk,
)

from .expressions import ExprCompiler

Action: TypeAlias = Callable[[], None]


class Host(Protocol):
    """What compiles the statements around."""

    exprs: ExprCompiler

    def stmt(self, s: Stmt) -> Action:
        """The closure of a statement."""
        ...


def inits_below(host: Host, loop: For) -> Action | None:
    """The inits of blocks that a loop reduces over, as it has no iterations; None if it cannot."""
    size = const_int(loop.extent)
    if size is not None and size > 0:
        return None
    return _once(host, loop, loop.body, frozenset({loop.var}))


def _inits(host: Host, stmt: Stmt, zero: frozenset[Var]) -> Action | None:
    if isinstance(stmt, Block):
        return _init(host, stmt, zero)
    if isinstance(stmt, Seq):
        found = [a for s in stmt.stmts if (a := _inits(host, s, zero)) is not None]
        return _in_order(found) if found else None
    if not isinstance(stmt, For) or stmt.kind == "thread":
        return None
    if any(stmt.var in _vars_of(b, "reduce") for b in walk(stmt) if isinstance(b, Block)):
        return _once(host, stmt, stmt.body, zero | {stmt.var})
    body = _inits(host, stmt.body, zero)
    if body is None:
        return None
    extent, frame, place = (
        host.exprs.expr(stmt.extent),
        host.exprs.frame,
        host.exprs.place(stmt.var),
    )

    def run() -> None:
        for i in range(extent()):
            frame[place] = i
            body()

    return run


def _in_order(actions: Sequence[Action]) -> Action:
    def run() -> None:
        for action in actions:
            action()

    return run


def _once(host: Host, loop: For, body: Stmt, zero: frozenset[Var]) -> Action | None:
    """What is below a loop of the reduction, at its start."""
    frame, place = host.exprs.frame, host.exprs.place(loop.var)
    inner = _inits(host, body, zero)
    if inner is None:
        return None

    def run() -> None:
        frame[place] = 0
        inner()

    return run


def _init(host: Host, block: Block, zero: frozenset[Var]) -> Action | None:
    if (
        block.init is None
        or zero & _vars_of(block, "spatial")
        or not zero & _vars_of(block, "reduce")
    ):
        return None
    exprs, frame = host.exprs, host.exprs.frame
    places = [
        (exprs.place(it.var), exprs.expr(binding), exprs.expr(it.extent), it.kind == "reduce")
        for it, binding in zip(block.iters, block.bindings, strict=True)
    ]
    guard = _own_condition(block, zero)
    holds: Callable[[], Any] = (lambda: True) if is_const(guard, True) else exprs.expr(guard)
    init = host.stmt(block.init)

    def run() -> None:
        started = True
        for place, binding, extent, reduces in places:
            value = frame[place] = binding()
            # Beyond the elements, where the tail of a loop is, there is no sum.
            there = value == 0 if reduces else 0 <= value < extent()
            started = started and there
        if started and holds():
            init()

    return run


def _own_condition(block: Block, zero: frozenset[Var]) -> Expr:
    """The part of a block's condition that is not about which rounds of the sum there are."""
    spatial = _vars_of(block, "spatial")
    rest = [c for c in conjuncts(block.predicate) if not uses_var(c, zero) or uses_var(c, spatial)]
    return conjunction(rest)


def _vars_of(block: Block, kind: str) -> set[Var]:
    """The loops that reduction variables of a block, or all others, depend on."""
    found: set[Var] = set()
    for it, binding in zip(block.iters, block.bindings, strict=True):
        if (it.kind == "reduce") == (kind == "reduce"):
            found |= {n for n in walk(binding) if isinstance(n, Var)}
    return found
