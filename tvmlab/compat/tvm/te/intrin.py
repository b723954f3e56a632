"""Tensor intrinsics as old programs declare them, and computes that call them on whole slices."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any
from weakref import WeakKeyDictionary

import tvmlab.te as _te
from tvmlab.compat.tvm.mixing import converted
from tvmlab.ir import Buffer, Expr, Load, Var, as_expr, substitute, transform
from tvmlab.ir.mixed import mixing
from tvmlab.support import INDEX, ShapeError, items_of
from tvmlab.te import Axis, ComputeOp, Reduce, Tensor

from .tensors import TensorSlice, adopted


@dataclass(frozen=True, slots=True, eq=False)
class OldIntrin:
    """A declared intrinsic, with the parts by their old names."""

    declared: Any
    op: ComputeOp
    inputs: tuple[Tensor, ...]
    buffers: tuple[Buffer, ...]
    scalar_params: tuple[Var, ...]

    @property
    def name(self) -> str:
        """The name that the schedule knows it by."""
        return self.declared.name

    @property
    def body(self) -> Any:
        """The code of the whole computation."""
        return self.declared.body

    @property
    def reduce_init(self) -> Any:
        """The code that sets start values of sums; None if there is none."""
        return self.declared.reset

    @property
    def reduce_update(self) -> Any:
        """The code that adds to sums; None if there is none."""
        return self.declared.update

    def __call__(self, *args: Any, reduce_axis: Any = None, **options: Any) -> IntrinCall:
        """The intrinsic on slices of tensors, as the whole formula of a compute."""
        del options
        several: Any = items_of(() if reduce_axis is None else reduce_axis)
        many: Any = (reduce_axis,) if several is None else several
        tensors = [a for a in args if isinstance(a, TensorSlice | Tensor)]
        scalars = [a for a in args if not isinstance(a, TensorSlice | Tensor)]
        if len(tensors) != len(self.inputs) or len(scalars) != len(self.scalar_params):
            raise ShapeError(
                f"{self.name} takes {len(self.inputs)} tensor(s) and {len(self.scalar_params)} "
                f"number(s), not {len(tensors)} and {len(scalars)}"
            )
        return IntrinCall(self, tuple(tensors), tuple(as_expr(s) for s in scalars), many)


@dataclass(frozen=True, slots=True, eq=False)
class IntrinCall:
    """An intrinsic applied to slices: each element has the formula that the intrinsic declares."""

    intrin: OldIntrin
    tensors: tuple[Any, ...]
    scalars: tuple[Expr, ...]
    reduce_axes: tuple[Axis, ...]

    def element(self, inner: Sequence[Any]) -> Expr:
        """The formula of the element at the intrinsic's own indices."""
        op = self.intrin.op
        fresh = {a: Axis(a.name, INDEX, a.extent, "reduce", a.min) for a in op.reduce_axis}
        values: dict[Var, Expr] = dict(zip(self.intrin.scalar_params, self.scalars, strict=True))
        values.update(zip(op.axis, inner, strict=True))
        values.update(fresh.items())
        sources = dict(zip(self.intrin.inputs, self.tensors, strict=True))

        def visit(e: Expr) -> Expr:
            if isinstance(e, Load) and e.buffer in sources:
                return _element_of(sources[e.buffer], e.indices)  # pyright: ignore
            return e

        def moved(e: Expr) -> Expr:
            return substitute(transform(e, visit), values)

        body = op.body[0]
        if not isinstance(body, Reduce):
            return moved(body)
        return replace(
            body,
            source=tuple(moved(e) for e in body.source),
            axes=(*self.reduce_axes, *fresh.values()),
            where=moved(body.where),
        )


def decl_tensor_intrin(
    op: Any,
    fcompute: Callable[..., Any],
    name: str = "tensor_intrin",
    binds: Mapping[Any, Buffer] | None = None,
    scalar_params: Sequence[Var] | None = None,
    default_buffer_params: Mapping[str, Any] | None = None,
) -> OldIntrin:
    """Declare the code of a computation; see `tvmlab.te.decl_tensor_intrin`."""
    seen: list[Buffer] = []
    scalars = tuple(scalar_params or ())

    def code(ins: Sequence[Buffer], outs: Sequence[Buffer]) -> Any:
        seen.extend([*ins, *outs])
        with mixing(converted):
            return fcompute(ins, outs, list(scalars)) if scalars else fcompute(ins, outs)

    made: Any = op.op if isinstance(op, Tensor) else op
    declared = _te.decl_tensor_intrin(
        made,
        code,
        name="" if name == "tensor_intrin" else name,
        binds=binds,
        scalar_params=scalars,
        default_buffer_params=default_buffer_params,
    )
    return OldIntrin(declared, made, tuple(made.input_tensors), tuple(seen), scalars)


def compute_of_slices(
    shape: tuple[Any, ...], fcompute: Callable[..., Any], count: int, name: str, tag: str
) -> Any:
    """A tensor whose last dimensions an intrinsic computes at once.

    `fcompute` takes the first `count` indices. The stage of the tensor is tensorized already.
    """
    calls: list[IntrinCall] = []

    def formula(*indices: Any) -> Any:
        call = fcompute(*indices[:count])
        if not isinstance(call, IntrinCall):
            raise ShapeError(
                f"compute {name} takes {count} of {len(shape)} indices, and calls no intrinsic",
                hint="take one index for each dimension, or return intrin(A[i, 0:16], ...)",
            )
        calls.append(call)
        return call.element(indices[count:])

    with mixing(converted):
        made = _te.compute(shape, formula, name, tag)
    _TENSORIZED[made.op] = (calls[0].intrin, count, len(calls[0].reduce_axes))
    return adopted(made)


_TENSORIZED: WeakKeyDictionary[Any, tuple[OldIntrin, int, int]] = WeakKeyDictionary()


def tensorize_calls(s: Any) -> None:
    """Tensorize the stages whose formula is a call of an intrinsic."""
    for stage in s.stages:
        if stage.op in _TENSORIZED:
            intrin, count, reduced = _TENSORIZED[stage.op]
            outer, inner = stage.op.axis[:count], stage.op.axis[count:]
            sums = stage.op.reduce_axis
            stage.reorder(*outer, *sums[:reduced], *inner, *sums[reduced:])
            stage.tensorize(inner[0], intrin)


def _element_of(source: Any, indices: Sequence[Expr]) -> Expr:
    """The element of a slice: ranges of it start where they say, whole dimensions at 0."""
    rest = list(indices)
    if isinstance(source, Tensor):
        return source[tuple(rest)]
    places: list[Any] = []
    for index in source.indices:
        start: Any = getattr(index, "start", None)
        places.append(rest.pop(0) + (start or 0) if isinstance(index, slice) else index)
    return source.tensor[(*places, *rest)]
