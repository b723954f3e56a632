"""Putting an intrinsic's code over the tiles of a program, and saying what its calls mean."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import prod
from typing import Literal, TypeAlias

from tvmlab.arith import simplify
from tvmlab.ir import (
    Block,
    Broadcast,
    Buffer,
    Expr,
    For,
    Invoke,
    IterVar,
    Load,
    Node,
    Operand,
    Procedure,
    Ramp,
    Region,
    Stmt,
    Store,
    Stride,
    Var,
    const,
    const_int,
    seq,
    substitute,
    transform,
    walk,
)
from tvmlab.te import TensorIntrin

from .matching import Match, Placement
from .rewrite import fresh_copy
from .verdict import refuse

Part: TypeAlias = Literal["body", "reset", "update"]


def placed_code(intrin: TensorIntrin, part: Part, match: Match) -> Stmt:
    """The code of one part of an intrinsic over the buffers of the program."""
    code: Stmt | None = getattr(intrin, part)
    assert code is not None
    if isinstance(code, Invoke) and code.meaning is None:
        code = replace(code, meaning=_meaning(intrin, part, code))

    def visit(node: Node) -> Node:
        if isinstance(node, (Load, Store)) and node.buffer in match.placements:
            place = match.placements[node.buffer]
            return replace(node, buffer=place.buffer, indices=_moved(place, node.indices))
        if isinstance(node, Region) and node.buffer in match.placements:
            return _moved_region(match.placements[node.buffer], node)
        if isinstance(node, Stride) and node.buffer in match.placements:
            return _moved_stride(match.placements[node.buffer], node)
        return node

    placed = transform(substitute(fresh_copy(code), match.scalars), visit)
    if isinstance(placed, Invoke) and placed.meaning is not None:
        placed = replace(placed, meaning=_with_unit_axes(placed, placed.meaning, code, match))
    return placed


def require_layout(intrin: TensorIntrin, match: Match, block: str, subject: object) -> None:
    """Refuse if an operand lies in memory in another way than the intrinsic's code needs."""
    for buffer, needed in zip(intrin.buffers, intrin.strides, strict=True):
        place = match.placements.get(buffer)
        if place is None:
            continue
        if buffer.scope != "global" and place.buffer.scope != buffer.scope:
            raise refuse(
                "tensorize.scope",
                f"cannot tensorize {block} by {intrin.name}: {buffer.name} must lie in "
                f"{buffer.scope} memory, but {place.buffer.name} lies in {place.buffer.scope}; "
                f"stage it with cache_read or cache_write",
                subject=subject,
            )
        if not _has_pointer(intrin, buffer):
            continue
        wanted = needed or _compact(buffer)
        for axis, stride in enumerate(wanted):
            have = _stride_of(place, axis)
            if stride is not None and have != stride and const_int(buffer.shape[axis]) != 1:
                raise refuse(
                    "tensorize.stride",
                    f"cannot tensorize {block} by {intrin.name}: neighbors along axis {axis} of "
                    f"{buffer.name} must be {stride} element(s) apart, but in {place.buffer.name} "
                    f"they are {'a size apart known at run time' if have is None else have}; "
                    f"declare a stride that may be any with te.decl_buffer(..., strides=[...])",
                    subject=subject,
                )


def _has_pointer(intrin: TensorIntrin, buffer: Buffer) -> bool:
    codes = [c for c in (intrin.body, intrin.reset, intrin.update) if c is not None]
    return any(
        isinstance(n, Operand) and n.region.buffer is buffer for code in codes for n in walk(code)
    )


def _compact(buffer: Buffer) -> list[int | None]:
    shape = [const_int(s) or 0 for s in buffer.shape]
    return [prod(shape[axis + 1 :]) for axis in range(len(shape))]


def _stride_of(place: Placement, axis: int) -> int | None:
    """Elements between neighbors of a row-major buffer; None if not known now."""
    where = place.axes[axis]
    if where is None:
        return None
    sizes = [const_int(s) for s in place.buffer.shape[where + 1 :]]
    return None if None in sizes else prod(s or 0 for s in sizes)


def _moved(place: Placement, indices: tuple[Expr, ...]) -> tuple[Expr, ...]:
    """An operand's indices as those of the buffer that it lies in."""
    found = list(place.mins)
    for axis, index in zip(place.axes, indices, strict=True):
        if axis is not None:
            found[axis] = _shifted(index, place.mins[axis])
    return tuple(found)


def _shifted(index: Expr, by: Expr) -> Expr:
    if index.dtype.lanes == 1:
        return simplify(by + index)
    if isinstance(index, Ramp):
        return Ramp(simplify(by + index.base), index.stride, index.lanes)
    return Broadcast(by, index.dtype.lanes) + index


def _moved_region(place: Placement, region: Region) -> Region:
    extents: list[Expr] = [const(1)] * len(place.mins)
    for axis, extent in zip(place.axes, region.extents, strict=True):
        if axis is not None:
            extents[axis] = extent
    return Region(place.buffer, _moved(place, region.mins), tuple(extents))


def _moved_stride(place: Placement, stride: Stride) -> Expr:
    axis = place.axes[stride.axis]
    return const(1) if axis is None else Stride(place.buffer, axis)


def _meaning(intrin: TensorIntrin, part: Part, call: Invoke) -> Procedure | None:
    """What a call computes, from the description; None if the call is not handed all of it."""
    params: list[Buffer | Var] = []
    places: dict[Buffer, Buffer] = {}
    for argument in call.args:
        if isinstance(argument, Operand):
            buffer = argument.region.buffer
            whole = all(const_int(m) == 0 for m in argument.region.mins)
            if buffer in places or not whole:
                return None
            places[buffer] = Buffer(buffer.name, buffer.shape, buffer.dtype)
            params.append(places[buffer])
        else:
            params.append(Var("scalar", argument.dtype))
    body = _described(intrin, part, places)
    return None if body is None else Procedure(tuple(params), body)


def _described(intrin: TensorIntrin, part: Part, places: Mapping[Buffer, Buffer]) -> Stmt | None:
    """One part of the description as plain loops over other buffers."""
    stmt: Stmt = intrin.description.body
    while isinstance(stmt, For):
        stmt = stmt.body
    assert isinstance(stmt, Block)
    nests: list[Stmt] = []
    if stmt.init is not None and part in ("body", "reset"):
        nests.append(_loops_over([it for it in stmt.iters if it.kind == "spatial"], stmt.init))
    if part in ("body", "update"):
        nests.append(_loops_over(stmt.iters, stmt.body))
    body = seq(nests)
    used = {n.buffer for n in walk(body) if isinstance(n, (Load, Store))}
    if not used <= set(places):
        return None

    def visit(node: Node) -> Node:
        if isinstance(node, (Load, Store)):
            return replace(node, buffer=places[node.buffer])
        return node

    return transform(body, visit)


def _loops_over(iters: Sequence[IterVar], body: Stmt) -> Stmt:
    """A body in loops over iteration variables, named as loops are."""
    fresh = {it.var: Var(it.var.name.removeprefix("v") or it.var.name) for it in iters}
    nest = substitute(body, fresh)
    for it in reversed(iters):
        nest = For(fresh[it.var], it.extent, nest)
    return nest


def _with_unit_axes(call: Invoke, meaning: Procedure, code: Stmt, match: Match) -> Procedure:
    """The meaning over parts of the rank that the call hands over now."""
    assert isinstance(code, Invoke)
    params = list(meaning.params)
    places: dict[Buffer, Placement] = {}
    for number, (now, before) in enumerate(zip(call.args, code.args, strict=True)):
        param = params[number]
        if not isinstance(now, Operand) or not isinstance(before, Operand):
            continue
        assert isinstance(param, Buffer)
        place = match.placements.get(before.region.buffer)
        if place is None:
            continue
        wide = Buffer(param.name, now.region.extents, param.dtype)
        zeros = tuple(const(0) for _ in place.mins)
        places[param] = Placement(wide, zeros, place.axes)
        params[number] = wide

    def visit(node: Node) -> Node:
        if isinstance(node, (Load, Store)) and node.buffer in places:
            place = places[node.buffer]
            return replace(node, buffer=place.buffer, indices=_plain(place, node.indices))
        return node

    return Procedure(tuple(params), transform(meaning.body, visit))


def _plain(place: Placement, indices: tuple[Expr, ...]) -> tuple[Expr, ...]:
    found = list(place.mins)
    for axis, index in zip(place.axes, indices, strict=True):
        if axis is not None:
            found[axis] = index
    return tuple(found)
