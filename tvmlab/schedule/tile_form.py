"""A computation on one tile, in a form that can be compared: axes, a store, a start value.

C[vi * 8 + i, vj * 16 + j] += A[vi * 8 + i, vk * 4 + k] * B[vk * 4 + k, vj * 16 + j]
with axes i of 8, j of 16 (spatial) and k of 4 (reduce); vi, vj, vk stand still
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from tvmlab.ir import (
    Block,
    Expr,
    For,
    IterKind,
    Program,
    Seq,
    Stmt,
    Store,
    Var,
    const_int,
    substitute,
    to_text,
    uses_var,
)


@dataclass(frozen=True, slots=True)
class TileAxis:
    """A variable that runs over the tile."""

    var: Var
    extent: int
    kind: IterKind

    def __str__(self) -> str:
        reduced = " (reduced)" if self.kind == "reduce" else ""
        return f"{self.var.name} of {self.extent}{reduced}"


@dataclass(frozen=True, slots=True)
class TileForm:
    """What is computed for each point of a tile; `start` is the start value of its sums."""

    axes: tuple[TileAxis, ...]
    store: Store
    start: Expr | None

    def of_kind(self, kind: IterKind) -> list[TileAxis]:
        """The axes of one kind that have more than one value."""
        return [a for a in self.axes if a.kind == kind and a.extent > 1]

    def __str__(self) -> str:
        return to_text(self.store)


def form_of_description(program: Program) -> TileForm:
    """The form of an intrinsic's description: one nest with one block."""
    stmt: Stmt = program.body
    while isinstance(stmt, For):
        stmt = stmt.body
    assert isinstance(stmt, Block)
    assert isinstance(stmt.body, Store)
    names = {it.var: Var(it.var.name.removeprefix("v") or it.var.name) for it in stmt.iters}
    axes = tuple(TileAxis(names[it.var], const_int(it.extent) or 0, it.kind) for it in stmt.iters)
    return form_of_tile(stmt, axes, names)


def form_of_nest(body: Stmt, init: Stmt | None) -> TileForm | None:
    """The form of a block's body of loops around one store; None for any other body."""
    loops: list[For] = []
    while isinstance(body, For):
        loops.append(body)
        body = body.body
    extents = [const_int(lp.extent) for lp in loops]
    if not isinstance(body, Store) or None in extents:
        return None
    places = body.indices
    axes = tuple(
        TileAxis(
            lp.var,
            extent or 0,
            "spatial" if any(uses_var(p, {lp.var}) for p in places) else "reduce",
        )
        for lp, extent in zip(loops, extents, strict=True)
    )
    return TileForm(axes, body, _start_value(init))


def form_of_tile(block: Block, axes: tuple[TileAxis, ...], values: Mapping[Var, Expr]) -> TileForm:
    """The form of a block with its variables given in terms of a tile's axes."""
    assert isinstance(block.body, Store)
    return TileForm(axes, substitute(block.body, values), _start_value(block.init))


def _start_value(init: Stmt | None) -> Expr | None:
    while isinstance(init, For):
        init = init.body
    assert not isinstance(init, Seq)
    return init.value if isinstance(init, Store) else None
