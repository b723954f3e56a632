"""A block in one line: what it writes, as a formula over its iteration variables; and what else
its body does, a line each.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal

from tvmlab.ir import (
    Barrier,
    Binary,
    Block,
    Evaluate,
    Expr,
    Invoke,
    Let,
    Load,
    Names,
    Stmt,
    Store,
    child_stmts,
    structural_equal,
    to_lines,
)

_UPDATES = {"add": "+=", "mul": "*="}


@dataclass(frozen=True, slots=True)
class Part:
    """A statement of a body that has a line of its own: a named value, a call, or a barrier."""

    kind: Literal["let", "call", "barrier"]
    name: str
    text: str


def block_formula(block: Block, names: Names) -> str:
    """Such as `C[vi, vj] += A[vi, vk] * B[vk, vj]`; inner loops are left out, with dots."""
    steps = list(_steps(block.body))
    stores = [step for step in steps if isinstance(step, Store)]
    if stores and all(isinstance(step, (Store, Let)) for step in steps):
        return "; ".join(_update(s, names) or to_lines(s, names)[0].text for s in stores)
    calls = [step for step in steps if isinstance(step, Invoke)]
    if len(calls) == len(steps) == 1:
        return f"by {_callee(calls[0])}"
    return f"{to_lines(block.body, names)[0].text} …"


def parts_of(body: Stmt, names: Names) -> Iterator[Part]:
    """The named values, calls and barriers of a body, in order; not those in inner loops."""
    for step in _steps(body):
        match step:
            case Let():
                yield Part("let", names[step.var], f" = {expr_text(step.value, names)}")
            case Invoke():
                line = to_lines(replace(step, meaning=None), names)[0].text
                yield Part("call", _callee(step), f"({line.partition(', ')[2].rstrip(')')})")
            case Barrier():
                yield Part("barrier", "barrier", f" of {step.scope} memory")
            case _:
                pass


def _steps(body: Stmt) -> Iterator[Stmt]:
    """The statements of a body, those below a named value after it."""
    for stmt in child_stmts(body):
        yield stmt
        if isinstance(stmt, Let):
            yield from _steps(stmt.body)


def _callee(call: Invoke) -> str:
    return call.callee.partition(":")[2] or call.callee


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
