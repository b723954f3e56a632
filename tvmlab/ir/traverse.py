"""The only recursion over trees: children, rebuilding, walking, transforming, substituting.

A transform that changes nothing returns the very same object, so "unchanged" is an identity test.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields, replace
from functools import lru_cache
from operator import is_
from typing import Any, TypeAlias, TypeVar, Union, cast

from .buffer import Region
from .expr import (
    Binary,
    Broadcast,
    Buffer,
    Call,
    Cast,
    Compare,
    Const,
    Expr,
    Load,
    Logic,
    Not,
    Ramp,
    Select,
    Stride,
    Var,
    binary,
    compare,
)
from .program import Program
from .stmt import (
    Alloc,
    Barrier,
    Block,
    Combiner,
    Evaluate,
    For,
    If,
    Invoke,
    IterVar,
    Let,
    Operand,
    Seq,
    Stmt,
    Store,
    seq,
)

Node: TypeAlias = Union[Expr, Stmt, Region, IterVar, Operand, Combiner]
N = TypeVar("N", bound=Node)
Rewrite: TypeAlias = Callable[[Any], Any]

# Fields that hold child nodes, by node type; a field may be a node, a tuple of nodes or None.
_CHILD_FIELDS: dict[type, tuple[str, ...]] = {
    Const: (),
    Var: (),
    Binary: ("a", "b"),
    Compare: ("a", "b"),
    Logic: ("a", "b"),
    Not: ("a",),
    Select: ("cond", "then", "otherwise"),
    Cast: ("value",),
    Load: ("indices", "mask"),
    Stride: (),
    Call: ("args",),
    Ramp: ("base", "stride"),
    Broadcast: ("value",),
    Region: ("mins", "extents"),
    IterVar: ("extent",),
    Store: ("indices", "value", "mask"),
    Evaluate: ("value",),
    Let: ("value", "body"),
    Operand: ("region", "shape", "strides"),
    Invoke: ("args",),
    Barrier: (),
    Combiner: ("results", "identity"),
    Seq: ("stmts",),
    If: ("cond", "then", "otherwise"),
    For: ("extent", "body"),
    Alloc: ("body",),
    Block: ("iters", "bindings", "predicate", "reads", "writes", "init", "body", "combiner"),
}


# What a formula may hold more than once as one object; to look at leaves again costs nothing.
_COMPOUND = frozenset({Binary, Compare, Logic, Not, Select, Cast, Load, Call, Ramp, Broadcast})


_FIELDS_FROM_LAST = {kind: names[::-1] for kind, names in _CHILD_FIELDS.items()}


def child_fields(node: Node) -> tuple[str, ...]:
    """The names of the fields that hold children (`ExprNode` subclasses elsewhere have none)."""
    return _CHILD_FIELDS.get(type(node), ())


def children(node: Node) -> Iterator[Node]:
    """The direct children, in order of evaluation."""
    if type(node) is Binary:
        return iter((node.a, node.b))
    found: list[Node] = []
    for name in _CHILD_FIELDS.get(type(node), ()):
        value = getattr(node, name)
        if isinstance(value, tuple):
            found += cast("tuple[Node, ...]", value)
        elif value is not None:
            found.append(value)
    return iter(found)


def walk(node: Node) -> Iterator[Node]:
    """The node and everything below it, parents first, in order.

    A part of a formula that has several parents comes once, with the first of them: written out
    as a tree, a formula may be exponentially larger than it is.
    """
    # The innermost loop of the compiler: written out, since generators within cost as much again.
    stack: list[Node] = [node]
    seen: set[int] = set()
    fields_of = _FIELDS_FROM_LAST.get
    while stack:
        current = stack.pop()
        kind = type(current)
        if kind is Const or kind is Var:
            yield current
            continue
        if kind in _COMPOUND:
            if id(current) in seen:
                continue
            seen.add(id(current))
        yield current
        if type(current) is Binary:
            stack += (current.b, current.a)
            continue
        for name in fields_of(kind, ()):
            value = getattr(current, name)
            if isinstance(value, tuple):
                stack.extend(cast("tuple[Node, ...]", value)[::-1])
            elif value is not None:
                stack.append(value)


def block_names(tree: Node) -> list[str]:
    """Names of the blocks of a tree, in order."""
    return [node.symbol.name for node in walk(tree) if isinstance(node, Block)]


def post_order(e: Expr) -> Iterator[Expr]:
    """Each node of a formula once, children first, in order."""
    done: set[int] = set()
    stack: list[tuple[Expr, bool]] = [(e, False)]
    while stack:
        current, ready = stack.pop()
        if id(current) in done:
            continue
        if ready:
            done.add(id(current))
            yield current
            continue
        stack.append((current, True))
        below = cast("list[Expr]", list(children(current)))
        stack.extend((child, False) for child in reversed(below))


def map_children(node: N, fn: Rewrite) -> N:
    """Apply `fn` to each direct child; the same object comes back if none changed."""
    if type(node) is Binary:  # The most frequent kind by far, beside those without children.
        a, b = fn(node.a), fn(node.b)
        same = a is node.a and b is node.b
        return node if same else cast(N, Binary(node.op, cast(Expr, a), cast(Expr, b)))
    if type(node) is Load and node.mask is None and len(node.indices) == 1:
        (index,) = node.indices
        new = fn(index)
        return node if new is index else cast(N, Load(node.buffer, (cast(Expr, new),)))
    changed: dict[str, Any] = {}
    new: Any
    for name in child_fields(node):
        old = getattr(node, name)
        if isinstance(old, tuple):
            before = cast("tuple[Node, ...]", old)
            new = tuple([fn(child) for child in before])
            if all(map(is_, before, new)):
                continue
        elif old is None:
            continue
        else:
            new = fn(old)
            if new is old:
                continue
        changed[name] = new
    return _rebuild(node, changed) if changed else node


def _rebuild(node: N, changed: dict[str, Any]) -> N:
    if isinstance(node, Seq):
        return cast(N, seq(changed["stmts"]))
    return remade(node, **changed)


def remade(node: N, **changed: Any) -> N:
    """The node with some fields changed: `dataclasses.replace`, which asks what fields there are
    anew each time.
    """
    names = _init_names(type(node))
    return type(node)(*[changed[n] if n in changed else getattr(node, n) for n in names])


@lru_cache(maxsize=256)
def _init_names(kind: type[Any]) -> tuple[str, ...]:
    """The fields that a node is made of, in order."""
    return tuple(f.name for f in fields(kind) if f.init)


def transform(node: N, fn: Callable[[Any], Any]) -> N:
    """Rewrite bottom-up: `fn` sees each node after its children, and returns it to keep it.

    A part of a formula that has several parents is rewritten once.
    """
    done: dict[int, Any] = {}

    def visit(current: Any) -> Any:
        if isinstance(current, (Const, Var)):
            return fn(current)
        if type(current) not in _COMPOUND:
            return fn(map_children(current, visit))
        known = done.get(id(current))
        if known is None:
            known = done[id(current)] = fn(map_children(current, visit))
        return known

    return cast(N, visit(node))


_LEAVES = frozenset({Store, Evaluate, Invoke, Barrier})


def transform_stmts(stmt: Stmt, fn: Callable[[Any], Any]) -> Stmt:
    """Rewrite statements bottom-up, without looking at their formulas."""

    def visit(current: Any) -> Any:
        if type(current) in _LEAVES:
            return fn(current)
        return fn(map_children(current, visit)) if isinstance(current, Stmt) else current

    return cast(Stmt, visit(stmt))


def substitute(node: N, values: Mapping[Var, Expr]) -> N:
    """Replace variables by expressions, folding constants that meet."""
    if not values:
        return node
    done: dict[int, Any] = {}

    def visit(current: Any) -> Any:
        if isinstance(current, Var):
            return values.get(current, current)
        known = done.get(id(current))
        if known is None:
            known = done[id(current)] = _folded(current, map_children(current, visit))
        return known

    return cast(N, visit(node))


class Copies:
    """Copies of a statement with numbers in place of one variable.

    What the variable does not occur in is found once, and is the same object in all copies.
    """

    def __init__(self, stmt: Stmt, var: Var) -> None:
        self._stmt = stmt
        self._var = var
        self._fixed: dict[int, bool] = {}
        self._keeps(stmt)

    def _keeps(self, node: Any) -> bool:
        """Whether a node stays as it is; notes it for all below."""
        if isinstance(node, (Const, Var)):
            return node is not self._var
        known = self._fixed.get(id(node))
        if known is None:
            below = [self._keeps(child) for child in children(node)]
            known = self._fixed[id(node)] = all(below)
        return known

    def at(self, value: Expr) -> Stmt:
        """The copy for one value; constants that meet are folded."""
        fixed, var = self._fixed, self._var
        done: dict[int, Any] = {}

        def visit(current: Any) -> Any:
            if current is var:
                return value
            if type(current) is Const or type(current) is Var or fixed[id(current)]:
                return current
            known = done.get(id(current))
            if known is None:
                known = done[id(current)] = _folded(current, map_children(current, visit))
            return known

        return cast(Stmt, visit(self._stmt))


def _folded(old: Any, new: Any) -> Any:
    """A node whose children were replaced, worked out if they have become numbers."""
    if new is old:
        return old
    if type(new) is Binary and type(new.a) is Const and type(new.b) is Const:
        return binary(new.op, new.a, new.b)
    if type(new) is Compare and type(new.a) is Const and type(new.b) is Const:
        return compare(new.op, new.a, new.b)
    return new


def replace_buffers(node: N, buffers: Mapping[Buffer, Buffer]) -> N:
    """Replace buffers by others of the same rank wherever a node below names one."""

    def visit(current: Any) -> Any:
        if type(current) in (Load, Store, Region, Alloc, Stride) and current.buffer in buffers:
            return replace(current, buffer=buffers[current.buffer])
        return current

    return transform(node, visit)


def free_vars(node: Node) -> list[Var]:
    """Variables that occur but are bound by no loop or block inside, in order of occurrence."""
    bound: set[Var] = set()
    seen: dict[Var, None] = {}
    for current in walk(node):
        if isinstance(current, (For, Let)):
            bound.add(current.var)
        elif isinstance(current, Block):
            bound.update(it.var for it in current.iters)
        elif isinstance(current, Combiner):
            bound.update((*current.left, *current.right))
        elif isinstance(current, Var):
            seen.setdefault(current)
    return [v for v in seen if v not in bound]


def uses_var(node: Node, variables: set[Var] | frozenset[Var]) -> bool:
    """Whether any of the variables occurs."""
    # As `walk`, without a generator: asked of every index in every pass.
    if type(node) is Var:
        return node in variables
    stack: list[Node] = [node]
    seen: set[int] = set()
    fields_of = _FIELDS_FROM_LAST.get
    while stack:
        current = stack.pop()
        kind = type(current)
        if kind is Var:
            if current in variables:
                return True
        elif kind is not Const:
            if kind in _COMPOUND:
                if id(current) in seen:
                    continue
                seen.add(id(current))
            for name in fields_of(kind, ()):
                value = getattr(current, name)
                if isinstance(value, tuple):
                    stack.extend(cast("tuple[Node, ...]", value))
                elif value is not None:
                    stack.append(value)
    return False


def loads_of(node: Node) -> list[Load]:
    """All loads below a node, in order."""
    return [n for n in walk(node) if isinstance(n, Load)]


def with_body(program: Program, body: Stmt) -> Program:
    """The program with another body; the same object if it is the same body."""
    return program if body is program.body else replace(program, body=body)
