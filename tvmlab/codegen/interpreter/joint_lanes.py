"""Elements that lanes of a vector update together: no race, because lowering joins the lanes."""

from __future__ import annotations

from tvmlab.ir import (
    Binary,
    Block,
    Buffer,
    Expr,
    For,
    Load,
    Node,
    Select,
    Stmt,
    Store,
    children,
    structural_equal,
    walk,
)

_OPS = ("add", "mul", "min", "max")
_START = "start"


def joined_by_lanes(loop: For) -> frozenset[Buffer]:
    """The buffers that a vectorized loop only updates, each by one operation in any order.

    Start values that a block sets before do not count; nor do those that a dissolved block sets
    under a condition, for then lowering takes the lanes one after the other.
    """
    found: dict[Buffer, set[str]] = {}
    for node in _outside_init(loop.body):
        if isinstance(node, Store):
            found.setdefault(node.buffer, set()).add(_operation(node))
    updates = {buffer: ops - {_START} for buffer, ops in found.items()}
    alone = {buffer for buffer, ops in updates.items() if len(ops) == 1 and "" not in ops}
    return frozenset(alone - _read_elsewhere(loop, alone))


def _outside_init(root: Node) -> list[Node]:
    """All nodes but those of start values."""
    stack, found = [root], list[Node]()
    while stack:
        node = stack.pop()
        found.append(node)
        init = node.init if isinstance(node, Block) else None
        stack += [child for child in children(node) if child is not init]
    return found


def _operation(store: Store) -> str:
    """The operation by which a store updates its element; empty if it does something else.

    A value in which the buffer does not occur is a start value.
    """
    value = store.value
    if not any(isinstance(n, Load) and n.buffer is store.buffer for n in walk(value)):
        return _START
    if isinstance(value, Select) and _is_own(value.otherwise, store):
        value = value.then
    if not isinstance(value, Binary) or value.op not in _OPS:
        return ""
    return value.op if _is_own(value.a, store) or _is_own(value.b, store) else ""


def _is_own(e: Node, store: Store) -> bool:
    return (
        isinstance(e, Load)
        and e.buffer is store.buffer
        and all(structural_equal(a, b) for a, b in zip(e.indices, store.indices, strict=True))
    )


def _read_elsewhere(loop: For, buffers: set[Buffer]) -> set[Buffer]:
    """Those that are also read other than as the element that is being updated."""
    found: set[Buffer] = set()
    for node in _outside_init(loop.body):
        if isinstance(node, Store):
            own = sum(isinstance(n, Load) and _is_own(n, node) for n in walk(node.value))
            reads = [n.buffer for n in walk(node.value) if isinstance(n, Load)]
            allowed = 2 if isinstance(node.value, Select) else 1
            if node.buffer in buffers and (reads.count(node.buffer) != own or own > allowed):
                found.add(node.buffer)
            found |= {b for b in reads if b is not node.buffer}
        elif isinstance(node, Stmt) and not isinstance(node, Block):
            own_exprs = (child for child in children(node) if isinstance(child, Expr))
            found |= {n.buffer for e in own_exprs for n in walk(e) if isinstance(n, Load)}
    return found
