"""How far apart the rows of buffers shall lie: noted on blocks, wanted when memory becomes flat.

with block("T", ..., storage_align=(("T", -2, 32, 16),))     ->     a note of the program

Rows name a buffer, an axis counted from the last one (so that a dimension put in front does not
matter), and that the distance of neighbours along it is `offset` modulo `factor`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import cast

from tvmlab.ir import Attribute, Block, Buffer, Expr, Program, const, const_int, walk

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
    """The distances that buffers shall have between rows."""

    wanted: dict[tuple[str, int], tuple[int, int]]

    @staticmethod
    def of(program: Program) -> Alignments:
        """What the notes of a program say."""
        rows = cast(
            "tuple[tuple[str, int, int, int], ...]", dict(program.annotations).get(ALIGN, ())
        )
        return Alignments({(name, axis): (factor, offset) for name, axis, factor, offset in rows})

    def concern(self, buffer: Buffer) -> bool:
        """Whether something is wanted of a buffer."""
        return any(name == buffer.name for name, _ in self.wanted)

    def strides(self, buffer: Buffer) -> tuple[Expr, ...]:
        """Elements between neighbours along each axis; an unknown distance stays as it is."""
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


def strides_of(shape: Sequence[Expr]) -> tuple[Expr, ...]:
    """Elements between neighbours along each axis of a compact buffer."""
    found: list[Expr] = []
    step: Expr = const(1)
    for size in reversed(shape):
        found.append(step)
        step = size if const_int(step) == 1 else size * step
    return tuple(reversed(found))
