"""What is known of a program's scalar parameters: a size of an array is not negative."""

from __future__ import annotations

from tvmlab.arith import NATURAL, Bounds
from tvmlab.ir import Buffer, Program, Var


def size_bounds(program: Program) -> Bounds:
    """The environment at the root of a program: its size parameters are at least 0."""
    env = Bounds()
    for param in program.params:
        if isinstance(param, Buffer):
            for size in param.shape:
                if isinstance(size, Var):
                    env = env.bind(size, NATURAL)
    return env
