"""How far apart the rows of buffers shall lie: noted on blocks, wanted when memory becomes flat.

with block("T", ..., storage_align=(("T", -2, 32, 16),))     ->     a note of the program

Rows name a buffer, an axis counted from the last one (so that a dimension put in front does not
matter), and that the distance of neighbors along it is `offset` modulo `factor`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import cast

from tvmlab.ir import (
    STRIDES,
    Attribute,
    Block,
    Buffer,
    Expr,
    Program,
    Var,
    const,
    const_int,
    walk,
)

ALIGN = "storage_align"


def gather_alignments(program: Program) -> Program:
    """Collect the notes of all blocks on the program, before the blocks go."""
    rows: dict[Attribute, None] = {}
    for node in walk(program.body):
        if isinstance(node, Block):
            notes = dict(node.annotations)
            rows.update(dict.fromkeys(cast("tuple[Attribute, ...]", notes.get(ALIGN, ()))))
    if not rows:
        return program
    return replace(program, annotations=(*program.annotations, (ALIGN, tuple(rows))))


@dataclass(frozen=True, slots=True)
class Alignments:
    """The distances that buffers shall have between rows, or have by the caller's choice."""

    wanted: dict[tuple[str, int], tuple[int, int]]
    given: dict[Buffer, tuple[Expr, ...]] = field(default_factory=dict[Buffer, tuple[Expr, ...]])

    @staticmethod
    def of(program: Program) -> Alignments:
        """What the notes of a program say."""
        rows = cast(
            "tuple[tuple[str, int, int, int], ...]", dict(program.annotations).get(ALIGN, ())
        )
        wanted = {(name, axis): (factor, offset) for name, axis, factor, offset in rows}
        return Alignments(wanted, _given_strides(program))

    def concern(self, buffer: Buffer) -> bool:
        """Whether something is wanted of a buffer."""
        return buffer in self.given or any(name == buffer.name for name, _ in self.wanted)

    def strides(self, buffer: Buffer) -> tuple[Expr, ...]:
        """Elements between neighbors along each axis; an unknown distance stays as it is."""
        if buffer in self.given:
            return self.given[buffer]
        steps = strides_of(buffer.shape)
        if not self.concern(buffer):
            return steps
        found: list[Expr] = []
        step: Expr = const(1)
        for from_end, size in enumerate(reversed(buffer.shape), start=1):
            wish = self.wanted.get((buffer.name, -from_end))
            known = const_int(step)
            if wish is not None and known is not None:
                factor, offset = wish
                step = const(known + (offset - known) % factor)
            found.append(step)
            step = size if const_int(step) == 1 else size * step
        return tuple(reversed(found))


def _given_strides(program: Program) -> dict[Buffer, tuple[Expr, ...]]:
    """The distances of parameters that the program says; names are those of its scalars."""
    rows = cast(
        "tuple[tuple[str, tuple[int | str, ...]], ...]",
        dict(program.annotations).get(STRIDES, ()),
    )
    scalars = {p.name: p for p in program.params if isinstance(p, Var)}
    buffers = {p.name: p for p in program.params if isinstance(p, Buffer)}
    return {
        buffers[name]: tuple(scalars[s] if isinstance(s, str) else const(s) for s in steps)
        for name, steps in rows
    }


def strides_of(shape: Sequence[Expr]) -> tuple[Expr, ...]:
    """Elements between neighbors along each axis of a compact buffer."""
    found: list[Expr] = []
    step: Expr = const(1)
    for size in reversed(shape):
        found.append(step)
        step = size if const_int(step) == 1 else size * step
    return tuple(reversed(found))
