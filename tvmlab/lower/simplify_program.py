"""Simplify all expressions and conditions, and drop what does nothing.

The rules are those of `arith.simplify_stmt`; added here is what a whole program allows: a loop of
one iteration needs no kind, and a buffer that is never read or written needs no storage.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from tvmlab.arith import simplify_stmt
from tvmlab.ir import Alloc, For, Program, const_int, transform_stmts, with_body

from .accesses import touches
from .size_bounds import size_bounds


def simplify_program(program: Program) -> Program:
    """The program with shorter expressions; loops of one iteration and dead branches are gone."""
    body = transform_stmts(program.body, _serial_if_single)
    body = simplify_stmt(body, size_bounds(program), drop_unit_loops=True)
    return with_body(program, transform_stmts(body, _drop_unused))


_KEPT = ("serial", "thread")


def _serial_if_single(node: Any) -> Any:
    """A loop of one iteration needs no kind, but a kernel of one thread is still a kernel."""
    single = isinstance(node, For) and const_int(node.extent) == 1
    return replace(node, kind="serial") if single and node.kind not in _KEPT else node


def _drop_unused(node: Any) -> Any:
    unused = isinstance(node, Alloc) and not touches(node.body, node.buffer)
    return node.body if unused else node
