"""Walking over programs and putting values in."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from tvmlab.arith import Bounds, simplify
from tvmlab.compat.tvm.ir.module import PrimFunc
from tvmlab.compat.tvm.missing import missing
from tvmlab.ir import Expr, as_expr, walk
from tvmlab.ir import substitute as put_in
from tvmlab.te import Reduce

__all__ = ["post_order_visit", "substitute"]

__getattr__ = missing(
    "tvm.tir.stmt_functor", ir_transform="change programs with tvmlab.ir.transform"
)


def post_order_visit(node: Any, fvisit: Callable[[Any], Any]) -> None:
    """Call a function on every node, inner ones first."""
    root = node.program.body if isinstance(node, PrimFunc) else node
    parts = [*root.parts, root] if isinstance(root, Reduce) else [root]
    for part in parts:
        nodes = [part] if isinstance(part, Reduce) else list(walk(part))
        for current in reversed(nodes):
            fvisit(current)


def substitute(node: Any, vmap: Mapping[Any, Any]) -> Any:
    """The node with values in the place of variables, simplified if it is an expression."""
    values = {
        var: as_expr(value).astype(var.dtype) if isinstance(var, Expr) else value
        for var, value in vmap.items()
    }
    made = put_in(node, values)
    return simplify(made, Bounds.of({})) if isinstance(made, Expr) else made
