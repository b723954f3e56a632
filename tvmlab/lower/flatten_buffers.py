"""Give each buffer one dimension, in row-major order: what memory has.

    A: float32[8, 16]                      A: float32[128]
    A[i, j * 4 + ramp(0, 1, 4)]     ->     A[i * 16 + j * 4 + ramp(0, 1, 4)]

Done late, so that earlier passes can reason about one dimension at a time.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from tvmlab.arith import Bounds, linear_form, simplify
from tvmlab.ir import (
    Alloc,
    Binary,
    Broadcast,
    Buffer,
    Expr,
    Load,
    Operand,
    Program,
    Ramp,
    Region,
    Store,
    Stride,
    Var,
    binary,
    const,
    const_int,
    structural_key,
    substitute,
    transform,
    uses_var,
    walk,
)

from .alignments import Alignments


def flatten_buffers(program: Program) -> Program:
    """Replace buffers by flat ones, parameters included; a 0-d buffer gets one element.

    An index with one vector part that is a ramp stays a ramp. Offsets are 64-bit. Where the
    schedule has aligned rows of an intermediate, they lie apart.
    """
    found = [p for p in program.params if isinstance(p, Buffer)]
    found += [n.buffer for n in walk(program.body) if isinstance(n, Alloc)]
    wanted = Alignments.of(program)
    buffers = [*found, *program.allocs]
    flat = {b: _flat_buffer(b, wanted) for b in buffers if len(b.shape) != 1 or b in wanted.given}
    if not flat and not any(isinstance(n, Stride) for n in walk(program.body)):
        return program

    # An element that is updated keeps one index. The old ones are kept too, for their `id`s.
    known: dict[tuple[int, ...], tuple[tuple[Expr, ...], Expr]] = {}

    def index_of(buffer: Buffer, indices: tuple[Expr, ...]) -> Expr:
        key = (id(buffer), *map(id, indices))
        if key not in known:
            known[key] = indices, _flat_index(indices, buffer, wanted)
        return known[key][1]

    def visit(node: Any) -> Any:
        if isinstance(node, (Load, Store)) and node.buffer in flat:
            index = index_of(node.buffer, node.indices)
            return replace(node, buffer=flat[node.buffer], indices=(index,))
        if isinstance(node, Stride):
            return wanted.strides(node.buffer)[node.axis]
        if isinstance(node, Operand) and node.region.buffer in flat:
            return _flat_operand(node, flat[node.region.buffer], wanted)
        if isinstance(node, Alloc) and node.buffer in flat:
            return Alloc(flat[node.buffer], node.body)
        return node

    return replace(
        program,
        params=tuple(flat.get(p, p) if isinstance(p, Buffer) else p for p in program.params),
        body=transform(program.body, visit),
        allocs=tuple(flat.get(b, b) for b in program.allocs),
    )


def _flat_buffer(buffer: Buffer, wanted: Alignments) -> Buffer:
    size: Expr = const(1)
    if buffer in wanted.given:
        for extent, step in zip(buffer.shape, wanted.given[buffer], strict=True):
            size = size + (extent - 1) * step
    elif wanted.concern(buffer):
        size = wanted.strides(buffer)[0] * buffer.shape[0]
    else:
        for dim in buffer.shape:
            size = dim if const_int(size) == 1 else size * dim
    return replace(buffer, shape=(size,))


def _flat_index(indices: tuple[Expr, ...], buffer: Buffer, wanted: Alignments) -> Expr:
    """The row-major offset: `(i * d1 + j) * d2 + k`, or `i * s0 + j * s1 + k` if rows lie apart."""
    offset: Expr = const(0)
    if wanted.concern(buffer):
        for index, stride in zip(indices, wanted.strides(buffer), strict=True):
            part = index if const_int(stride) == 1 else _combine("mul", index, stride)
            offset = part if const_int(offset) == 0 else _combine("add", offset, part)
        return offset
    for index, size in zip(indices, buffer.shape, strict=True):
        if const_int(offset) == 0:
            offset = index
        else:
            offset = _combine("add", _combine("mul", offset, size), index)
    return offset if offset.dtype.lanes == 1 else _rejoined(offset)


def _rejoined(offset: Expr) -> Expr:
    """The digits of one ramp put together again: `r // 7 * 7 + r % 7` is the ramp r.

    Lanes are looked at as one number, of which the simplifier knows how its digits add up.
    """
    if isinstance(offset, Ramp):
        return offset
    ramps = {structural_key(n): n for n in walk(offset) if isinstance(n, Ramp)}
    if len(ramps) != 1:
        return offset
    (ramp,) = ramps.values()
    lane = Var("lane", ramp.base.dtype)
    number = _as_number(offset, lane)
    if number is None:
        return offset
    env = Bounds()
    form = linear_form(simplify(number, env), env)
    step = form.terms.get(lane, 0)
    if not step or any(term is not lane and uses_var(term, {lane}) for term in form.terms):
        return offset
    base = simplify(substitute(simplify(number, env), {lane: ramp.base}), env)
    return Ramp(base, ramp.stride * step, ramp.dtype.lanes)


def _as_number(e: Expr, lane: Var) -> Expr | None:
    """What a lane of a vector is, its place in the ramp being `lane`; None if that is not plain."""
    if isinstance(e, Ramp):
        return lane
    if isinstance(e, Broadcast):
        return e.value
    if not isinstance(e, Binary):
        return None
    a, b = _as_number(e.a, lane), _as_number(e.b, lane)
    return None if a is None or b is None else binary(e.op, a, b)


def _flat_operand(operand: Operand, flat: Buffer, wanted: Alignments) -> Operand:
    """The part as a run of elements, with the sizes and strides that it had as a box."""
    region = operand.region
    strides = wanted.strides(region.buffer)
    span: Expr = const(1)
    for extent, stride in zip(region.extents, strides, strict=True):
        span = span + (extent - 1) * stride
    first = _flat_index(region.mins, region.buffer, wanted)
    # One element of no dimensions is told from a run of one by its stride.
    steps = strides if region.extents else (const(1),)
    return Operand(Region(flat, (first,), (span,)), operand.access, region.extents, steps)


def _combine(op: Any, a: Expr, b: Expr) -> Expr:
    """A sum or product where either side may be a vector; ramps stay ramps."""
    lanes = max(a.dtype.lanes, b.dtype.lanes)
    if lanes == 1:
        return a + b if op == "add" else a * b
    for x, y in ((a, b), (b, a)):
        if isinstance(x, Ramp) and y.dtype.lanes == 1:
            stride = x.stride if op == "add" else x.stride * y
            return Ramp(_combine(op, x.base, y), stride, lanes)
    return Binary(op, _wide(a, lanes), _wide(b, lanes))


def _wide(e: Expr, lanes: int) -> Expr:
    return e if e.dtype.lanes == lanes else Broadcast(e, lanes)
