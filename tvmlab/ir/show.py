"""What `repr` and `print` show of a tree: its text, as far as that is readable."""

from __future__ import annotations

from tvmlab.support import describe_by

from .buffer import Region
from .expr import Buffer, Expr
from .printer import to_text
from .program import Program
from .stmt import BlockSymbol, Combiner, IterVar, Operand, Procedure, Stmt
from .traverse import children, post_order

_READABLE = 2000
"""A formula of more nodes, written out as a tree, is described and not shown."""


def describe(node: object) -> str:
    """The text of a node; of formulas that are too large, or have no text, a description."""
    if isinstance(node, Expr):
        return _formula(node)
    if isinstance(node, Buffer):
        return _buffer(node)
    if isinstance(node, BlockSymbol):
        return f"<block {node.name}>"
    if isinstance(node, Procedure):
        return to_text(Program("meaning", node.params, node.body))
    if isinstance(node, (Program, Stmt, Region, IterVar, Operand, Combiner)):
        return to_text(node)
    return object.__repr__(node)


def _formula(e: Expr) -> str:
    sizes: dict[int, int] = {}
    for node in post_order(e):
        sizes[id(node)] = 1 + sum(sizes[id(child)] for child in children(node))
    if sizes[id(e)] > _READABLE:
        return f"<a {e.dtype} formula of {len(sizes)} parts>"
    try:
        return to_text(e)
    except KeyError:  # a node of `te`, which stands for what a program has no text for
        return f"<{type(e).__name__} of {e.dtype}>"


def _buffer(buffer: Buffer) -> str:
    sizes = ", ".join(to_text(size) for size in buffer.shape) or "()"
    scope = "" if buffer.scope == "global" else f" in {buffer.scope}"
    return f"<{buffer.name}: {buffer.dtype}[{sizes}]{scope}>"


describe_by(describe)
