"""Making one block of a loop nest, with the loops inside its body."""

from __future__ import annotations

from tvmlab.ir import Program, Var
from tvmlab.schedule.division import divide
from tvmlab.schedule.index import index_of
from tvmlab.schedule.registry import Applied, ParamSpec, primitive
from tvmlab.schedule.rewrite import replace_stmts


@primitive(
    "blockize", "make a block", "",
    ParamSpec("loop", "loop", "the outermost of the loops that go into the block"),
    moves_blocks=True,
)  # fmt: skip
def blockize(program: Program, loop: Var) -> Applied:
    """Make one block of a loop and all inside it; the block works on tiles, not on elements.

    The loops in it are no longer changed by primitives; those around are, tile by tile. A
    reduction whose loops stay outside keeps its start value apart. Returns the block.

    Before::

        for io in range(4):
            for ii in range(8):
                with block("C", vi=spatial(32, io * 8 + ii)):
                    C[vi] = A[vi] * 2

    After `blockize(ii)`::

        for io in range(4):
            with block("C", vi=spatial(4, io)):
                for ii in range(8):
                    C[vi * 8 + ii] = A[vi * 8 + ii] * 2
    """
    index = index_of(program)
    target = index.loops[loop]
    made = divide(index, target, "blockize").block()
    return Applied(replace_stmts(program, {target: made}), (made.symbol,))
