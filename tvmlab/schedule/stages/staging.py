"""Steps of a classical schedule that add operations: cache_read, cache_write, rfactor."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from tvmlab.arith import Bounds, simplify
from tvmlab.ir import Expr, Load, Select, Var, conjunction, const, const_int, is_const
from tvmlab.support import INDEX, ScheduleError, user_span
from tvmlab.te import Axis, ComputeOp, Tensor

from .axes import Reorder, Split, root_values
from .operations import like, made_compute, map_formulas, with_values
from .stage import Stage


def copy_of(tensor: Tensor, scope: str, name: str) -> ComputeOp:
    """An operation that copies a tensor, for `cache_read`."""
    axes = tuple(Axis(f"ax{n}", INDEX, size) for n, size in enumerate(tensor.shape))
    shell = ComputeOp(f"{name}_{scope.replace('.', '_')}", axes, (const(0),))
    return made_compute(shell.name, axes, [Load(tensor, axes)], shell)


def split_for_cache(stage: Stage, scope: str) -> tuple[ComputeOp, ComputeOp]:
    """What computes into the cache, and what copies the cache to the real tensors.

    The cache's axes are the leaf axes of the stage, so that splits and reorderings that were made
    before decide how the cache is laid out.
    """
    op = stage.op
    if not isinstance(op, ComputeOp):
        raise ScheduleError(f"cannot cache_write {op.name}: it is no compute", span=user_span())
    leaves = [axis for axis in stage.leaf_iter_vars if axis.kind != "reduce"]
    values, guards = root_values(op.axis, [r for r in stage.relations if _spatial(r)])
    inner = {
        leaf: Axis(f"{leaf.name}_c", INDEX, leaf.extent, "spatial", leaf.min) for leaf in leaves
    }
    moved: dict[Var, Expr] = {
        axis: simplify(with_values(value, _plain(inner)), _env(inner.values()))
        for axis, value in values.items()
    }
    inside = conjunction([with_values(g, _plain(inner)) for g in guards])
    bodies = map_formulas(op, lambda e: with_values(e, moved))
    first = op.reduction
    if not is_const(inside, True):
        bodies = _guarded(bodies, inside, reduces=first is not None)
    name = f"{op.name}_{scope.replace('.', '_')}"
    cache = made_compute(name, list(inner.values()), bodies, op)
    places = [leaf - leaf.min if const_int(leaf.min) != 0 else leaf for leaf in leaves]
    indices = (
        places if not stage.relations and not _reordered(stage) else _leaf_places(stage, leaves)
    )
    reads = tuple(Load(t, tuple(indices)) for t in cache.outputs)
    written = replace(op, body=reads)
    like(op, written)
    return cache, written


def _reordered(stage: Stage) -> bool:
    return any(isinstance(change, Reorder) for change, _ in stage.changes)


def _leaf_places(stage: Stage, leaves: Sequence[Axis]) -> list[Expr]:
    """The values of the leaf axes in terms of the operation's own axes."""
    values: dict[Axis, Expr] = {axis: axis for axis in stage.iter_vars}
    for relation in stage.relations:
        if isinstance(relation, Split):
            whole = values[relation.parent]
            values[relation.outer] = whole // relation.inner.extent
            values[relation.inner] = whole % relation.inner.extent
        elif hasattr(relation, "axes"):
            fused: Expr = const(0)
            for axis in relation.axes:  # pyright: ignore[reportAttributeAccessIssue]
                fused = fused * axis.extent + values[axis]
            values[relation.fused] = fused  # pyright: ignore[reportAttributeAccessIssue]
    env = _env(stage.iter_vars)
    return [simplify(values.get(leaf, const(0)), env) for leaf in leaves]


def _spatial(relation: object) -> bool:
    parents = getattr(relation, "axes", None) or (getattr(relation, "parent", None),)
    return all(axis is None or axis.kind != "reduce" for axis in parents)


def _guarded(bodies: tuple[Expr, ...], inside: Expr, *, reduces: bool) -> tuple[Expr, ...]:
    if reduces:
        return tuple(
            replace(body, where=conjunction([body.where, inside]))  # pyright: ignore
            for body in bodies
        )
    return tuple(Select(inside, body, const(0, body.dtype)) for body in bodies)


def _plain(axes: dict[Axis, Axis]) -> dict[Var, Expr]:
    return dict(axes)


def _env(axes: object) -> Bounds:
    return Bounds.of({axis: axis.extent for axis in axes})  # pyright: ignore


def factored(stage: Stage, axis: Axis, factor_axis: int) -> tuple[ComputeOp, ComputeOp]:
    """Partial results along a leaf of the reduction, and their reduction, for `rfactor`.

    Returns
    -------
    partial, whole
        The operation with one more axis, and the one that reduces over it.
    """
    op = stage.op
    first = op.reduction if isinstance(op, ComputeOp) else None
    if not isinstance(op, ComputeOp) or first is None:
        raise _refusal(stage, axis, f"{op.name} is no reduction")
    if axis.kind != "reduce" or axis not in stage.leaf_iter_vars:
        raise _refusal(stage, axis, "it is no leaf axis of the reduction")
    if not first.combiner.lawful:
        raise _refusal(
            stage,
            axis,
            "partial results can be joined only if the operation is associative and "
            "commutative, which was not found of this one",
        )
    relations = [r for r in stage.relations if not _spatial(r)]
    values, guards = root_values(op.reduce_axis, relations)
    leaves = _reduce_leaves(stage, op)
    places = sum(1 for _ in op.axis) + 1
    where_to = factor_axis if factor_axis >= 0 else places + factor_axis
    if not 0 <= where_to < places:
        raise _refusal(stage, axis, f"factor_axis must be from 0 to {places - 1}")
    part = Axis(axis.name, INDEX, axis.extent, "spatial", axis.min)
    axes = [Axis(a.name, INDEX, a.extent, "spatial", a.min) for a in op.axis]
    moved: dict[Var, Expr] = dict(zip(op.axis, axes, strict=True))
    for root, value in values.items():
        moved[root] = with_values(with_values(value, {axis: part}), moved)
    moved[axis] = part
    bodies = map_formulas(replace(op, body=_without_init(op)), lambda e: with_values(e, moved))
    inside = [with_values(with_values(g, {axis: part}), moved) for g in guards]
    rest = tuple(leaf for leaf in leaves if leaf is not axis)
    partial_axes = [*axes[:where_to], part, *axes[where_to:]]
    if rest:
        bodies = tuple(
            replace(body, axes=rest, where=conjunction([body.where, *inside]))  # pyright: ignore
            for body in bodies
        )
    else:
        identity = first.reducer.identity(tuple(b.dtype for b in bodies))
        inside_all = conjunction([bodies[0].where, *inside])  # pyright: ignore
        bodies = tuple(
            b.source[n] if is_const(inside_all, True) else Select(inside_all, b.source[n], e)  # pyright: ignore
            for n, (b, e) in enumerate(zip(bodies, identity, strict=True))
        )
    partial = made_compute(f"{op.name}_rf", partial_axes, bodies, op)
    joint = Axis(f"{axis.name}_v", INDEX, axis.extent, "reduce", axis.min)
    at: tuple[Expr, ...] = (*op.axis[:where_to], joint, *op.axis[where_to:])
    source = tuple(Load(t, at) for t in partial.outputs)
    body = tuple(
        replace(first, source=source, axes=(joint,), where=const(True), value_index=n)
        for n in range(len(op.body))
    )
    whole = replace(op, body=body)
    like(op, whole)
    return partial, whole


def _without_init(op: ComputeOp) -> tuple[Expr, ...]:
    """A start value of the user's counts once, in the reduction of the partial results."""
    return tuple(replace(body, init=()) for body in op.body)  # pyright: ignore


def _reduce_leaves(stage: Stage, op: ComputeOp) -> list[Axis]:
    """Untouched reduction axes first, in the order of the operation, then the parts of others."""
    leaves = [leaf for leaf in stage.leaf_iter_vars if leaf.kind == "reduce"]
    whole = [axis for axis in op.reduce_axis if axis in leaves]
    return [*whole, *(leaf for leaf in leaves if leaf not in whole)]


def _refusal(stage: Stage, axis: Axis, why: str) -> ScheduleError:
    return ScheduleError(
        f"cannot rfactor {axis.name} of stage {stage.name}: {why}", span=user_span()
    )
