"""Names for parts of large formulas, so that text, passes and code stay as small as the formula is.

    C[i] = (e * e + e) * (e * e + e) + ...     ->     e_0: float32 = A[i] * A[i] + A[i]
                                                      e_1: float32 = e_0 * e_0 + e_0
                                                      C[i] = e_1 * e_1 + e_1

A formula is written in Python as a graph: an expression used twice is one object with two parents.
Written out as a tree it may be exponentially larger. Formulas of usual size are left as they are.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .expr import Const, Expr, Load, Logic, Select, Var, const
from .purity import is_pure
from .stmt import Evaluate, If, Let, Stmt, Store
from .traverse import children, map_children, post_order, substitute

_USUAL_SIZE = 400
"""A formula with fewer nodes, written out as a tree, is not touched."""
_USUAL_DEPTH = 64
"""A formula is cut where it is deeper: what works on it by recursion stays far from any limit."""
_SMALL = 8
"""What has so few nodes may be written twice."""

Guard = tuple[tuple[Expr, bool], ...]
"""The conditions, outermost first, under which a part of a formula is evaluated."""


def share(stmt: Stmt) -> Stmt:
    """The statement with names for repeated and for deep parts of its large formulas."""

    def visit(node: Any) -> Any:
        if isinstance(node, Store) and _is_large(node.value):
            parts = _Parts(node.value)
            return parts.around(Store(node.buffer, node.indices, parts.result, node.mask))
        if isinstance(node, Let) and _is_large(node.value):
            parts = _Parts(node.value)
            return parts.around(Let(node.var, parts.result, node.body))
        if isinstance(node, Evaluate) and _is_large(node.value):
            parts = _Parts(node.value)
            return parts.around(Evaluate(parts.result))
        if isinstance(node, If) and _is_large(node.cond):
            parts = _Parts(node.cond)
            return parts.around(If(parts.result, node.then, node.otherwise))
        return node

    return _over_statements(stmt, visit)


def expand_lets(stmt: Stmt) -> Stmt:
    """Statements under names for values, with the values in place of the names.

    Only where the order of evaluation does not matter: nothing may be stored in between.
    """
    values: dict[Var, Expr] = {}
    while isinstance(stmt, Let):
        values[stmt.var] = substitute(stmt.value, values)
        stmt = stmt.body
    return substitute(stmt, values)


def _over_statements(stmt: Stmt, visit: Any) -> Stmt:
    def down(node: Any) -> Any:
        return visit(map_children(node, down)) if isinstance(node, Stmt) else node

    return down(stmt)


def _is_large(e: Expr) -> bool:
    if isinstance(e, (Var, Const)):
        return False
    sizes: dict[int, tuple[int, int]] = {}
    for node in post_order(e):
        below = [sizes[id(child)] for child in children(node)]
        size = 1 + sum(s for s, _ in below)
        depth = 1 + max((d for _, d in below), default=0)
        sizes[id(node)] = (size, depth)
    size, depth = sizes[id(e)]
    return size > _USUAL_SIZE and (depth > _USUAL_DEPTH or size > 2 * len(sizes))


class _Parts:
    """The named parts of one formula, and what is left of it."""

    def __init__(self, root: Expr) -> None:
        self.lets: list[tuple[Var, Expr]] = []
        nodes = list(post_order(root))
        guards = _guards(root, nodes)
        uses = _uses(nodes)
        new: dict[int, Expr] = {}
        sizes: dict[int, tuple[int, int]] = {}
        for node in nodes:
            made = map_children(node, lambda child: new[id(child)])
            size, depth = self._measure(node, sizes)
            repeated = uses.get(id(node), 0) > 1 and size > _SMALL
            guard = guards[id(node)]
            if node is root or not (repeated or depth > _USUAL_DEPTH):
                pass
            elif all(id(c) in new and c.dtype.lanes == node.dtype.lanes == 1 for c, _ in guard):
                made, size, depth = self._name(made, guard, new), 1, 1
            new[id(node)] = made
            sizes[id(node)] = size, depth
        self.result = new[id(root)]

    def around(self, stmt: Stmt) -> Stmt:
        """The statement inside the names."""
        for var, value in reversed(self.lets):
            stmt = Let(var, value, stmt)
        return stmt

    def _measure(self, node: Expr, sizes: Mapping[int, tuple[int, int]]) -> tuple[int, int]:
        below = [sizes[id(child)] for child in children(node)]
        return 1 + sum(s for s, _ in below), 1 + max((d for _, d in below), default=0)

    def _name(self, value: Expr, guard: Guard, new: Mapping[int, Expr]) -> Expr:
        # Where the formula does not get to a part, its value must not be computed either, unless
        # it can do no harm: an index without its conditions is easier to bound.
        for cond, holds in () if is_pure(value) else reversed(guard):
            known, zero = new[id(cond)], const(0, value.dtype)
            value = Select(known, value, zero) if holds else Select(known, zero, value)
        var = Var(f"e_{len(self.lets)}", value.dtype)
        self.lets.append((var, value))
        return var


def _uses(nodes: list[Expr]) -> dict[int, int]:
    found: dict[int, int] = {}
    for node in nodes:
        for child in children(node):
            found[id(child)] = found.get(id(child), 0) + 1
    return found


def _guards(root: Expr, nodes: list[Expr]) -> dict[int, Guard]:
    """For each node the conditions that all ways to it have in common."""
    found: dict[int, Guard] = {id(root): ()}
    for node in reversed(nodes):
        own = found[id(node)]
        for child in children(node):
            guard = own
            if isinstance(node, Select) and _is_one_branch(node, child):
                guard = (*own, (node.cond, child is node.then))
            elif isinstance(node, Logic) and child is not node.a:
                guard = (*own, (node.a, node.op == "and"))
            elif isinstance(node, Load) and node.mask is not None and child is not node.mask:
                guard = (*own, (node.mask, True))
            known = found.get(id(child))
            found[id(child)] = guard if known is None else _common(known, guard)
    return found


def _is_one_branch(node: Select, child: object) -> bool:
    """Whether a child is evaluated only for one outcome of the condition."""
    return child is not node.cond and node.then is not node.otherwise


def _common(a: Guard, b: Guard) -> Guard:
    count = 0
    for (cond, holds), (other, also) in zip(a, b, strict=False):
        if cond is not other or holds != also:
            break
        count += 1
    return a[:count]
