"""A block in one line: what it writes, as a formula over its iteration variables."""

from __future__ import annotations

from tvmlab.ir import (
    Binary,
    Block,
    Evaluate,
    Expr,
    Load,
    Names,
    Store,
    structural_equal,
    to_lines,
)

_UPDATES = {"add": "+=", "mul": "*="}


def block_formula(block: Block, names: Names) -> str:
    """Such as `C[vi, vj] += A[vi, vk] * B[vk, vj]`; a body of several statements ends in dots."""
    lines = to_lines(block.body, names)
    if not isinstance(block.body, Store):
        return f"{lines[0].text} …"
    return _update(block.body, names) or lines[0].text


def _update(store: Store, names: Names) -> str | None:
    """The short form of `x = x + y`."""
    value = store.value
    if not isinstance(value, Binary) or value.op not in _UPDATES or not _is_own(value.a, store):
        return None
    target = to_lines(store, names)[0].text.partition(" = ")[0]
    return f"{target} {_UPDATES[value.op]} {expr_text(value.b, names)}"


def expr_text(expr: Expr, names: Names) -> str:
    """An expression with the names of the program around it."""
    return to_lines(Evaluate(expr), names)[0].text


def _is_own(value: Expr, store: Store) -> bool:
    return (
        isinstance(value, Load)
        and value.buffer is store.buffer
        and all(structural_equal(a, b) for a, b in zip(value.indices, store.indices, strict=True))
    )
