"""How much arithmetic a program asks for, whatever its schedule."""

from __future__ import annotations

from math import prod

from tvmlab.ir import Binary, Block, Call, Expr, Program, Select, const_int, walk

_COUNTED = {"add", "sub", "mul", "div", "min", "max"}


def count_flops(program: Program) -> int | None:
    """Floating-point operations that the program's blocks need, each iteration counted once.

    An addition, subtraction, multiplication, division, minimum, maximum or function call is one
    operation; copies are none. A block that a schedule computes more than once still counts once,
    so the number is the same for every schedule. None if a size is known only at run time.
    """
    total = 0
    for block in (n for n in walk(program.body) if isinstance(n, Block)):
        sizes = [const_int(it.extent) for it in block.iters]
        per_iteration = sum(_is_flop(n) for n in walk(block.body) if isinstance(n, Expr))
        if per_iteration and any(s is None for s in sizes):
            return None
        total += per_iteration * prod(s for s in sizes if s is not None)
    return total


def _is_flop(e: Expr) -> bool:
    if isinstance(e, Select) or not e.dtype.is_float:
        return False
    return isinstance(e, Call) or (isinstance(e, Binary) and e.op in _COUNTED)
