"""Simplify all expressions and conditions, and drop what does nothing.

The rules are those of `arith.simplify_stmt`; added here is what a whole program allows: a loop of
one iteration needs no kind, an element is not stored where it came from, and a buffer that is never
read or written needs no storage.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from tvmlab.arith import simplify_stmt
from tvmlab.ir import (
    Alloc,
    For,
    Load,
    Program,
    Store,
    const_int,
    seq,
    structural_equal,
    transform_stmts,
    with_body,
)

from .accesses import touches
from .size_bounds import size_bounds


def simplify_program(program: Program) -> Program:
    """The program with shorter expressions; loops of one iteration and dead branches are gone."""
    body = transform_stmts(program.body, _serial_if_single)
    body = simplify_stmt(body, size_bounds(program), drop_unit_loops=True)
    return with_body(program, transform_stmts(body, _drop_idle))


_KEPT = ("serial", "thread")


def _serial_if_single(node: Any) -> Any:
    """A loop of one iteration needs no kind, but a kernel of one thread is still a kernel."""
    single = isinstance(node, For) and const_int(node.extent) == 1
    return replace(node, kind="serial") if single and node.kind not in _KEPT else node


def _drop_idle(node: Any) -> Any:
    """Without memory that nobody uses, and without stores that change nothing.

    `S[0] = S[0]` is left where what a sum adds has turned out to be 0; a loop of vectors would no
    longer know it for a part of the sum.
    """
    if isinstance(node, Alloc):
        return node if touches(node.body, node.buffer) else node.body
    return seq([]) if isinstance(node, Store) and _stores_itself(node) else node


def _stores_itself(store: Store) -> bool:
    value = store.value
    return (
        isinstance(value, Load)
        and value.buffer is store.buffer
        and store.mask is None
        and value.mask is None
        and structural_equal(store.indices, value.indices)
    )
