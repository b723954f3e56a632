"""Reads that certainly leave their tensor are refused when a program is made, with an example."""

from __future__ import annotations

from collections.abc import Mapping

from tvmlab.arith import linear_form
from tvmlab.ir import Expr, Load, Logic, Node, Select, Var, children, const_int
from tvmlab.support import ShapeError, Span

Ranges = Mapping[Var, tuple[Expr, Expr]]
"""For each axis its first value and how many values it takes."""


def refuse_reads_outside(formula: Expr, ranges: Ranges, name: str, span: Span | None) -> None:
    """Check the reads of a compute's formula that are made for every point of its axes.

    An index that is a linear function of the axes takes its extreme values at corners of their
    ranges, so it can be told exactly whether it leaves the tensor. A read in a branch of
    `if_then_else` is made only for some points and is left to the checks of the interpreter.

    Raises
    ------
    ShapeError
        If a read leaves its tensor; the message gives the point and the index.
    """
    for read in _unconditional_reads(formula):
        for position, (index, size) in enumerate(zip(read.indices, read.buffer.shape, strict=True)):
            limit = const_int(size)
            point = None if limit is None else _outside(index, limit, ranges)
            if point is not None:
                value, corner = point
                place = ", ".join(f"{axis.name}={at}" for axis, at in corner.items())
                raise ShapeError(
                    f"compute {name} reads {read.buffer.name} outside its shape: at {place} the "
                    f"index of dimension {position} is {value}, but its size is {limit}",
                    hint="guard the read with te.if_then_else(condition, read, otherwise), or make "
                    "the output smaller",
                    span=span,
                )


def _unconditional_reads(formula: Node) -> list[Load]:
    found: list[Load] = []
    seen: set[int] = set()
    stack = [formula]
    while stack:
        current = stack.pop()
        if id(current) in seen:
            continue
        seen.add(id(current))
        if isinstance(current, Load):
            found.append(current)
        if isinstance(current, Select):
            stack.append(current.cond)
        elif isinstance(current, Logic):
            stack.append(current.a)
        else:
            stack.extend(reversed(list(children(current))))
    return found


def _outside(index: Expr, limit: int, ranges: Ranges) -> tuple[int, dict[Var, int]] | None:
    """A corner of the axes at which a linear index is not in `range(limit)`, if there is one."""
    form = linear_form(index)
    ends: dict[Var, tuple[int, int]] = {}
    for axis, (low, count) in ranges.items():
        first, extent = const_int(low), const_int(count)
        if first is not None and extent is not None:
            ends[axis] = (first, first + extent - 1)
    if any(not isinstance(atom, Var) or atom not in ends for atom in form.terms):
        return None
    for want_high in (False, True):
        corner = {
            atom: ends[atom][(factor > 0) == want_high]
            for atom, factor in form.terms.items()
            if isinstance(atom, Var)
        }
        value = form.const + sum(form.terms[axis] * at for axis, at in corner.items())
        if not 0 <= value < limit:
            return value, corner
    return None
