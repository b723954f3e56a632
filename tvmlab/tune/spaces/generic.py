"""A design space for any tensor computation, made from its program alone: no template to write.

The block with the most work is tiled: spatial loops in three levels (threads, caches, registers),
sums in two, nested in one of a few orders; element-wise blocks around it are inlined or fused into
a tile, operands copied or packed where they are used, the innermost loops become vectors or are
unrolled, and long sums may be added up in parts. A reduction without reuse is split into partial
sums; a product of bytes or of bfloat16 is tiled for the processor's dot instructions.

>>> space = generic_space(C)
>>> print(space)
"""

from __future__ import annotations

import numpy as np

from tvmlab.schedule import Schedule
from tvmlab.support import OptionError
from tvmlab.target import Target, TargetLike

from .dots import DotTiles, dot_product
from .partial_sums import PartialSums
from .plan import plan_of
from .space import Outputs, Space, program_of
from .tiles import SMALL, Tiles

_LITTLE_REUSE = 4


def generic_space(outputs: Outputs, target: TargetLike = "cpu") -> Space:
    """The generic space of a computation.

    Parameters
    ----------
    outputs
        Output tensors, or an unscheduled program.

    Raises
    ------
    UnsupportedOp
        If a size is known only at run time, or there is nothing to schedule.
    """
    program = program_of(outputs)
    machine = Target.of(target)
    plan = plan_of(program, machine)
    product = dot_product(program, machine)
    if product is not None:
        return Space(outputs, DotTiles(plan, product), machine)
    tiles, partial_sums = Tiles(plan), PartialSums(plan)
    longest = max((size for _, kind, size in plan.axes if kind == "reduce"), default=0)
    if longest > SMALL and plan.along_sum and plan.reuse < _LITTLE_REUSE:
        return Space(outputs, partial_sums, machine)
    try:
        return Space(outputs, tiles, machine, limits=tiles.limits)
    except OptionError:
        # A sum inside a loop whose steps need one another cannot be tiled with that loop.
        if not plan.has_sum:
            raise
        return Space(outputs, partial_sums, machine)


def random_schedule(
    outputs: Outputs, rng: np.random.Generator, target: TargetLike = "cpu"
) -> Schedule:
    """A random legal schedule; the same for the same state of the generator."""
    return generic_space(outputs, target).random_schedule(rng)
