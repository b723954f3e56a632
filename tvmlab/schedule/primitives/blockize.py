"""Making one block of a loop nest, with the loops inside its body."""

from __future__ import annotations

from tvmlab.ir import For, Program, Var
from tvmlab.schedule.division import divide
from tvmlab.schedule.index import ProgramIndex, index_of
from tvmlab.schedule.legality import binding_vars
from tvmlab.schedule.registry import Applied, ParamSpec, primitive
from tvmlab.schedule.rewrite import replace_stmts
from tvmlab.schedule.verdict import refuse


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
    _require_no_joined_lanes(index, target)
    return Applied(replace_stmts(program, {target: made}), (made.symbol,))


def _require_no_joined_lanes(index: ProgramIndex, target: For) -> None:
    """Refuse a sum over the lanes of a vector: they are joined around a block, not inside one."""
    (block,) = index.blocks_under(target)
    reducing = binding_vars(block, "reduce")
    around = index.loops_around(block)
    for loop in around[around.index(target) :]:
        if loop.kind == "vectorized" and loop.var in reducing:
            raise refuse(
                "blockize.joined-lanes",
                f"cannot make a block of {target.var.name}: {loop.var.name} is vectorized, and "
                f"lanes that add to one sum are joined outside of a block; make it serial first",
                subject=loop.var,
            )
