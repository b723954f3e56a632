"""Rules of calls of outside code and of combiners that their constructors leave open."""

from __future__ import annotations

from collections.abc import Iterator

from .expr import Buffer, Expr, Var, const_int
from .stmt import Combiner, Invoke, Operand, Procedure
from .verify_region import region_problem


def invoke_problems(call: Invoke) -> Iterator[str]:
    """What is wrong with a call; the expressions in it are not looked into."""
    for arg in call.args:
        if isinstance(arg, Operand):
            yield from _operand(arg)
            if arg.access == "address" and call.callee.startswith("packed:"):
                yield f"{call.callee} is given an address, not something to read or write"
        elif arg.dtype.lanes != 1:
            yield f"{call.callee} is given a {arg.dtype}, not a scalar"
    if call.meaning is not None:
        yield from _meaning(call, call.meaning)


def _operand(operand: Operand) -> Iterator[str]:
    problem = region_problem(operand.region)
    if problem is not None:
        yield problem
    if len(operand.strides) != len(operand.shape) and (operand.shape or len(operand.strides) > 1):
        yield f"a part of {operand.region.buffer.name} has other sizes than strides"
    if not all(e.dtype.is_int and e.dtype.lanes == 1 for e in (*operand.shape, *operand.strides)):
        yield f"a part of {operand.region.buffer.name} has a size or stride that is no whole number"


def _meaning(call: Invoke, meaning: Procedure) -> Iterator[str]:
    if len(call.args) != len(meaning.params):
        yield (
            f"{call.callee} has {len(call.args)} argument(s), "
            f"its meaning {len(meaning.params)} parameter(s)"
        )
        return
    for arg, param in zip(call.args, meaning.params, strict=True):
        yield from _pair(arg, param)


def _pair(arg: Expr | Operand, param: Buffer | Var) -> Iterator[str]:
    if isinstance(arg, Operand) != isinstance(param, Buffer):
        yield f"the parameter {param.name} and its argument are not both buffers or both numbers"
        return
    dtype = arg.region.buffer.dtype if isinstance(arg, Operand) else arg.dtype
    if dtype != param.dtype:
        yield f"the parameter {param.name} is {param.dtype}, its argument {dtype}"
    if isinstance(arg, Operand) and isinstance(param, Buffer):
        sizes = [const_int(e) for e in arg.sizes]
        wanted = [const_int(e) for e in param.shape]
        same = len(sizes) == len(wanted) and all(
            a is None or b is None or a == b for a, b in zip(sizes, wanted, strict=True)
        )
        if not same:
            yield f"the parameter {param.name} has another shape than its argument"


def combiner_problems(combiner: Combiner) -> Iterator[str]:
    """What is wrong with how partial results are joined."""
    parts = (combiner.left, combiner.right, combiner.results, combiner.identity)
    if len({len(part) for part in parts}) != 1 or not combiner.results:
        yield "a combiner has not one variable on each side and one identity for each result"
        return
    for left, right, result, identity in zip(*parts, strict=True):
        if not left.dtype == right.dtype == result.dtype == identity.dtype:
            yield f"a combiner joins {left.dtype} and {right.dtype} to {result.dtype}"
