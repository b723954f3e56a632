"""Steps of a classical schedule that add operations: cache_read, cache_write, rfactor."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from tvmlab.arith import Bounds, law_of, simplify
from tvmlab.ir import TRUE, Expr, Load, Select, Var, conjunction, const, is_const
from tvmlab.support import INDEX, ScheduleError, user_span
from tvmlab.te import Axis, ComputeOp, Reduce, Tensor

from .axes import Fuse, Relation, Singleton, Split, root_values
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
    values, guards = root_values(op.axis, [r for r in stage.relations if _is_spatial(r)])
    inner = {leaf: Axis(f"{leaf.name}_c", INDEX, leaf.extent) for leaf in leaves}
    renamed: dict[Var, Expr] = {leaf: axis for leaf, axis in inner.items()}
    env = Bounds.of({axis: axis.extent for axis in inner.values()})
    moved: dict[Var, Expr] = {
        axis: simplify(with_values(value, renamed), env) for axis, value in values.items()
    }
    inside = conjunction([with_values(g, renamed) for g in guards])
    bodies = map_formulas(op, lambda e: with_values(e, moved))
    if not is_const(inside, True):
        bodies = tuple(_guarded(body, inside) for body in bodies)
    cache = made_compute(f"{op.name}_{scope.replace('.', '_')}", list(inner.values()), bodies, op)
    places = tuple(_leaf_places(stage, leaves))
    written = replace(op, body=tuple(Load(t, places) for t in cache.outputs))
    like(op, written)
    return cache, written


def _leaf_places(stage: Stage, leaves: Sequence[Axis]) -> list[Expr]:
    """The values of the leaf axes in terms of the operation's own axes."""
    values: dict[Axis, Expr] = {axis: axis for axis in stage.iter_vars}
    for relation in stage.relations:
        if isinstance(relation, Split):
            whole = values[relation.parent]
            values[relation.outer] = whole // relation.inner.extent
            values[relation.inner] = whole % relation.inner.extent
        elif isinstance(relation, Fuse):
            fused: Expr = const(0)
            for axis in relation.axes:
                fused = fused * axis.extent + values[axis]
            values[relation.fused] = fused
    env = Bounds.of({axis: axis.extent for axis in stage.iter_vars})
    return [simplify(values.get(leaf, const(0)), env) for leaf in leaves]


def _is_spatial(relation: Relation) -> bool:
    if isinstance(relation, Split):
        return relation.parent.kind == "spatial"
    return isinstance(relation, Singleton) or relation.fused.kind == "spatial"


def _guarded(body: Expr, inside: Expr) -> Expr:
    """A formula for the points inside; others, which nothing reads, hold anything."""
    if isinstance(body, Reduce):
        return replace(body, where=conjunction([body.where, inside]))
    return Select(inside, body, const(0, body.dtype))


def factored(stage: Stage, axis: Axis, factor_axis: int) -> tuple[ComputeOp, ComputeOp]:
    """Partial results along a leaf of the reduction, and their reduction, for `rfactor`.

    Returns
    -------
    partial, whole
        The operation with one more axis, and the one that reduces over it.
    """
    op, first = _reduction_of(stage, axis)
    places = len(op.axis) + 1
    place = factor_axis if factor_axis >= 0 else places + factor_axis
    if not 0 <= place < places:
        raise _refusal(stage, axis, f"factor_axis must be from 0 to {places - 1}")
    part = Axis(axis.name, INDEX, axis.extent)
    outer = [Axis(a.name, INDEX, a.extent) for a in op.axis]
    moved, inside = _moved(stage, op, axis, part, outer)
    bodies = [
        replace(body, init=())  # a start value counts once, when the parts are joined
        for body in map_formulas(op, lambda e: with_values(e, moved))
        if isinstance(body, Reduce)
    ]
    rest = tuple(leaf for leaf in _reduce_leaves(stage, op) if leaf is not axis)
    made = _partial_bodies(bodies, rest, inside)
    partial = made_compute(f"{op.name}_rf", [*outer[:place], part, *outer[place:]], made, op)
    joint = Axis(f"{axis.name}_v", INDEX, axis.extent, "reduce")
    at: tuple[Expr, ...] = (*op.axis[:place], joint, *op.axis[place:])
    source = tuple(Load(t, at) for t in partial.outputs)
    whole = replace(
        op,
        body=tuple(
            replace(first, source=source, axes=(joint,), where=TRUE, value_index=n)
            for n in range(len(op.body))
        ),
    )
    like(op, whole)
    return partial, whole


def _reduction_of(stage: Stage, axis: Axis) -> tuple[ComputeOp, Reduce]:
    op = stage.op
    first = op.reduction if isinstance(op, ComputeOp) else None
    if not isinstance(op, ComputeOp) or first is None:
        raise _refusal(stage, axis, f"{op.name} is no reduction")
    if axis.kind != "reduce" or axis not in stage.leaf_iter_vars:
        raise _refusal(stage, axis, "it is no leaf axis of the reduction")
    combiner = first.combiner
    if not combiner.lawful:
        why = law_of(combiner).counterexample or "it was not found to be"
        raise _refusal(
            stage,
            axis,
            f"partial results can be joined only if the operation is associative and commutative, "
            f"but {why}",
        )
    return op, first


def _moved(
    stage: Stage, op: ComputeOp, axis: Axis, part: Axis, outer: Sequence[Axis]
) -> tuple[dict[Var, Expr], list[Expr]]:
    """The values of the old axes in terms of the new ones, and the guards of tails."""
    values, guards = root_values(op.reduce_axis, [r for r in stage.relations if not _is_spatial(r)])
    here: dict[Var, Expr] = {axis: part if is_const(axis.min, 0) else part + axis.min}
    moved: dict[Var, Expr] = dict(zip(op.axis, outer, strict=True))
    moved.update((root, with_values(value, here)) for root, value in values.items())
    return moved, [with_values(g, here) for g in guards]


def _partial_bodies(
    bodies: Sequence[Reduce], rest: tuple[Axis, ...], inside: Sequence[Expr]
) -> list[Expr]:
    """Reductions over the axes that are left; single values where none is."""
    where = conjunction([bodies[0].where, *inside])
    if rest:
        return [replace(body, axes=rest, where=where) for body in bodies]
    values = [body.value for body in bodies]
    if is_const(where, True):
        return values
    identity = bodies[0].reducer.identity(tuple(v.dtype for v in values))
    return [Select(where, v, e) for v, e in zip(values, identity, strict=True)]


def _reduce_leaves(stage: Stage, op: ComputeOp) -> list[Axis]:
    """Untouched reduction axes first, in the order of the operation, then the parts of others."""
    leaves = [leaf for leaf in stage.leaf_iter_vars if leaf.kind == "reduce"]
    whole = [axis for axis in op.reduce_axis if axis in leaves]
    return [*whole, *(leaf for leaf in leaves if leaf not in whole)]


def _refusal(stage: Stage, axis: Axis, why: str) -> ScheduleError:
    return ScheduleError(
        f"cannot rfactor {axis.name} of stage {stage.name}: {why}", span=user_span()
    )
