"""Blocks that a tensor intrinsic computes, as the loops and the store that it stands for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tvmlab.ir import (
    Buffer,
    Expr,
    For,
    Invoke,
    LoopKind,
    Operand,
    Region,
    Seq,
    Stmt,
    Store,
    Var,
    free_vars,
    substitute,
    transform,
)
from tvmlab.ir import Load as Read


@dataclass(frozen=True, slots=True)
class Meant:
    """What a call to an intrinsic does, in terms of the buffers that it is handed.

    Attributes
    ----------
    loops
        Loops inside the intrinsic, sums first: each runs in one go, the last as a vector.
    sums
        Those that the written place does not depend on.
    """

    loops: tuple[For, ...]
    sums: frozenset[Var]
    store: Store


def meant_by(call: Invoke) -> Meant | None:
    """The last store of what a call means, with its loops; None if its meaning is not known."""
    if call.meaning is None:
        return None
    stmt, loops = call.meaning.body, list[For]()
    while not isinstance(stmt, Store):
        if isinstance(stmt, Seq):
            stmt = stmt.stmts[-1]
        elif isinstance(stmt, For):
            loops.append(stmt)
            stmt = stmt.body
        else:
            return None
    store = _in_place(stmt, call)
    moving = {v for index in store.indices for v in free_vars(index)}
    sums = [loop for loop in loops if loop.var not in moving]
    spaces = [loop for loop in loops if loop.var in moving]
    marked = [For(loop.var, loop.extent, store, "serial") for loop in sums]
    for loop in spaces:
        kind: LoopKind = "vectorized" if loop is spaces[-1] else "unrolled"
        marked.append(For(loop.var, loop.extent, store, kind))
    return Meant(tuple(marked), frozenset(loop.var for loop in sums), store)


def _in_place(store: Store, call: Invoke) -> Store:
    """The store on the program's own buffers instead of the parts that the call is handed."""
    assert call.meaning is not None
    parts: dict[Buffer, Region] = {}
    scalars: dict[Var, Expr] = {}
    for param, arg in zip(call.meaning.params, call.args, strict=True):
        if isinstance(param, Buffer) and isinstance(arg, Operand):
            parts[param] = arg.region
        elif isinstance(param, Var) and isinstance(arg, Expr):
            scalars[param] = arg

    # Equal places stay one and the same, so that a sum is seen to be read and written there.
    places: dict[tuple[Buffer, tuple[int, ...]], tuple[Expr, ...]] = {}

    def moved(node: Any) -> Any:
        if not isinstance(node, (Read, Store)) or node.buffer not in parts:
            return node
        region = parts[node.buffer]
        key = (node.buffer, tuple(map(id, node.indices)))
        if key not in places:
            pairs = zip(region.mins, node.indices, strict=True)
            places[key] = tuple(start + index for start, index in pairs)
        if isinstance(node, Read):
            return Read(region.buffer, places[key])
        return Store(region.buffer, places[key], node.value)

    placed: Stmt = transform(substitute(store, scalars), moved)
    assert isinstance(placed, Store)
    return placed
